"""Finds what comments and documents name and the tree does not have: files, functions, structs, constants.

A reader follows a name; one that leads nowhere costs more than none. What counts as a name is narrow, so that prose
is never taken for one:

- in comments of every language and in Markdown: a path that ends in .c or .h; one in .py or .md if it stands alone or
  begins at a folder of ours; one in .sh, .yaml, .json or .txt if it begins at one; and what begins at one of the
  folders in TOP. A part in capitals (`NAME_test.c`) stands for any, as * does. In the comments of a room a file without
  a folder is one of that room.
- in comments of C and in Markdown: `name()`; and in comments of C, in or out of backticks, and in what stands in
  backticks in docs/design: a word with an underscore, and `struct name`.

What belongs to somebody else (a metric of vLLM, a constant of CUDA) is excused in hack/tidy.
"""
import collections
import fnmatch
import functools
import itertools
import os
import re

import csource

TOP = ("src", "include", "test", "hack", "docs", "manifests", "crds")
ENDS = (".py", ".md", ".sh", ".yaml", ".json", ".txt")
ITSELF = ("hack/tidy", "test/tidy/test_tidy.py")  # they name what is excused, and what is not there

_RUN = re.compile(r"(?<![\w./{},*$~:@%<>&=\\-])[\w*][\w{},*-]*[./][\w{*][\w./{},*-]*(?![\w/<>=(])")
_FENCE = re.compile(r"^( *)```.*?^\1```", re.M | re.S)
_HASH = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.M)
# A comment, a docstring; else a literal, so that what is in it is none.
_LONG = r'"""(?:\\.|[^\\])*?"""'
_PYTHON = re.compile(r"""(\#[^\n]*)|((?m:^)[ \t]*%s)|%s|%s|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""" %
                     (_LONG, _LONG, _LONG.replace('"', "'")), re.S)
_CALL = re.compile(r"(?<![\w.>/])([a-z]\w*)\(\)")
_WORD = re.compile(r"(?<![\w./{$-])[A-Za-z]\w*_\w*[A-Za-z0-9](?![\w/])")
_TAG = re.compile(r"`(?:struct|union|enum) (\w+)[ *]*`")
_SPAN = re.compile(r"`[^`\n]+`")


# What follows from a text alone is found once, however many trees it stands in.
@functools.lru_cache(maxsize=8192)
def _words(text):
    return frozenset(re.findall(r"\w+", text))


@functools.lru_cache(maxsize=8192)
def _tags(code):
    return frozenset(re.findall(r"\b(?:struct|union|enum) (\w+)\b(?!;)", code))


@functools.lru_cache(maxsize=8192)
def _called(code):
    return frozenset(re.findall(r"\b(\w+) ?\(", code))


class Index:
    """What there is: the ends of all paths, and the words of everything that is not prose."""

    def __init__(self, listed, texts, source):
        self.tails, self.folders, words = set(), set(), set()
        self.rooms = collections.defaultdict(set)
        tags, called = set(), set()
        for path in listed:
            parts = path.split("/")
            self.tails.update("/".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1))
            self.folders.update(parts[:-1])
            self.rooms[csource.room_of(path)].add(parts[-1])
        for path, text in texts.items():
            if path.endswith(".md") or path.startswith(ITSELF):
                continue
            code = text
            if path.endswith((".c", ".h")):
                code = source(path).code
                words.update(_words(source(path).literals))
                tags.update(_tags(code))
                headers = [os.path.basename(h) for h in re.findall(r"# *include +<([^>]+)>", code)]
                self.tails.update(headers)
                self.rooms[csource.room_of(path)].update(headers)
            words.update(_words(code))
            called.update(_called(code))
        self.words, self.tags, self.called = words, tags, called
        self.stems = {os.path.splitext(tail)[0] for tail in self.tails if "/" not in tail}
        # PLAN_DROP may be called DROP where plans are spoken of.
        self.ends = {"_".join(word.split("_")[i:]) for word in words if word.isupper() and "_" in word
                     for i in range(1, word.count("_"))}

    def has_path(self, path, among):
        """Is it, or each that it stands for, one of these?"""
        for one in _braces(path):
            pattern = re.sub(r"(?<![a-z])[A-Z]{2,}(?![a-z])", "*", one) if one not in among else one
            if pattern not in among and not ("*" in pattern and fnmatch.filter(among, pattern)):
                return False
        return True

    def has_word(self, word):
        return word in self.words or word in self.stems or word in self.ends


def _braces(path):
    """Each path that a choice in braces stands for."""
    pieces = re.split(r"\{([^{}]*)\}", path)
    choices = [piece.split(",") if i % 2 else [piece] for i, piece in enumerate(pieces)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def paths(text, index):
    """(offset, path) of what names a file or folder of ours."""
    for match in _RUN.finditer(text):
        path = match.group(0).rstrip(".,/*-")
        first = path.split("/")[0]
        if path.count("{") != path.count("}") or "//" in path or "." in first and "/" in path:
            continue
        end = os.path.splitext(path)[1]
        ours = "/" in path and (first in index.folders or first in TOP)
        if end in (".c", ".h") or end in (".py", ".md") and "/" not in path or ours and end in ENDS or \
                first in TOP and "/" in path:
            yield match.start(), path


@functools.lru_cache(maxsize=1024)
def remarks(text):
    """(line, text) of the comments and docstrings of Python."""
    found, line, end = [], 1, 0
    for match in _PYTHON.finditer(text):
        line, end = line + text.count("\n", end, match.start()), match.start()
        if match.group(1) or match.group(2):
            found.append((line, match.group(0)))
    return found


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def _prose(texts, source, python, shell):
    """(path, line, text, what kind of text) of everything that is written for a reader."""
    for path, text in texts.items():
        if path.endswith((".c", ".h")):
            for line, comment in source(path).comments:
                yield path, line, comment, "c"
        elif path.endswith(".md"):
            yield path, 1, _FENCE.sub(_blank, text), "design" if path.startswith("docs/design/") else "md"
        elif path in python:
            yield from ((path, line, remark, "other") for line, remark in remarks(text))
        elif path in shell or path.endswith((".yaml", "meson.build")):
            for match in _HASH.finditer(text):
                yield path, text.count("\n", 0, match.start()) + 1, match.group(0), "other"


def _symbols(text, kind, index):
    """(offset, name) of each symbol that is named and not there."""
    if kind != "other":
        for match in _CALL.finditer(text):
            if match.group(1) not in index.called:
                yield match.start(), match.group(0)
    spans = [(0, text)] if kind == "c" else [(m.start(), m.group(0)) for m in _SPAN.finditer(text)] if kind == "design" else []
    for start, span in spans:
        for match in _WORD.finditer(span):
            if not index.has_word(match.group(0)):
                yield start + match.start(), match.group(0)
        for match in _TAG.finditer(span):
            if match.group(1) not in index.tags:
                yield start + match.start(), match.group(0).strip("`")


def stale(listed, texts, source, scripts):
    """(path, line, name) of what is named and not there. `listed` are all files, `texts` those that are read,
    `source(path)` is the csource.Source of a C file, `scripts(names...)` the files of a language."""
    index = Index(listed, texts, source)
    python, shell = set(scripts("python")), set(scripts("bash", "sh"))
    for path, line, text, kind in _prose(texts, source, python, shell):
        for at, name in paths(text, index):
            within = kind == "c" and "/" not in name and csource.is_of_a_room(path)
            if not index.has_path(name, index.rooms[csource.room_of(path)] if within else index.tails):
                yield path, line + text.count("\n", 0, at), name
        for at, name in _symbols(text, kind, index):
            yield path, line + text.count("\n", 0, at), name
