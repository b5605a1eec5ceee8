"""Reads C that clang-format has laid out: comments, literals, functions and prototypes, without a compiler."""
import functools
import os
import re

# Where rooms are that are not below src: the modelled cluster, test code.
ELSEWHERE = {room: "test/model/" + room for room in ("objects", "claims", "checks", "cluster", "sim")}

_PIECE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
_NO_NEWLINE = re.compile(r"[^\n]")
_ATTRIBUTE = re.compile(r"\b(PRINTF|__attribute__)\s*\([^()]*(\([^()]*\))?[^()]*\)")
_PROTOTYPE = re.compile(r"^(?!static\b|typedef\b|return\b)[A-Za-z_][\w \t*]*?[ *](\w+)\(", re.M)
# A word that names something: not what a tag or a member is called, and no part of a number.
_USE = re.compile(r"\b(?:struct|union|enum) \w+|(?<![\w.>])([A-Za-z_]\w*)")


def folder_of(room):
    """Where a room has its .c files and private headers."""
    return ELSEWHERE.get(room, "src/" + room)


def room_of(path):
    """The room of a file: the name of its folder below src, include or test/unit, or of whichever is elsewhere."""
    folder = os.path.dirname(path)
    for room, place in ELSEWHERE.items():
        if (folder + "/").startswith(place + "/"):
            return room
    return re.sub(r"^(src|include|test/unit)/", "", folder)


def is_of_a_room(path):
    """Is it a file of a room, and no test of one?"""
    return path.startswith(("src/", "include/", *(place + "/" for place in ELSEWHERE.values())))


class Source:
    """One file. `code` is its text, character for character, with comments and the insides of literals blanked;
    `comments` are (line, text); `literals` is what stands in quotes."""

    def __init__(self, text):
        pieces, comments, literals, end, line = [], [], [], 0, 1
        for match in _PIECE.finditer(text):
            piece = match.group(0)
            pieces.append(text[end:match.start()])
            line += text.count("\n", end, match.start())
            if piece[0] in "\"'":
                literals.append(piece)
                pieces.append(piece[0] + " " * (len(piece) - 2) + piece[-1])
            else:
                comments.append((line, piece))
                pieces.append(_NO_NEWLINE.sub(" ", piece))
                line += piece.count("\n")
            end = match.end()
        pieces.append(text[end:])
        self.code = "".join(pieces)
        self.comments = comments
        self.literals = " ".join(literals)
        self._functions = None

    def functions(self):
        """Its definitions, from the first to the last."""
        if self._functions is None:
            self._functions = list(_functions(self.code))
        return self._functions

    def prototypes(self):
        """The names of the functions that are declared in it, and not for itself alone."""
        return _PROTOTYPE.findall(self.code)

    def uses(self):
        """Every name in it that may be a function's, as often as it stands there."""
        return [name for name in _USE.findall(self.code) if name]


@functools.lru_cache(maxsize=4096)
def source(text):
    """The Source of a text: who asks for it again, or for it in another tree, has the same."""
    return Source(text)


class Function:
    """A definition: `first` and `brace` are line numbers from 0, `body` the lines between its braces."""

    def __init__(self, first, brace, signature, body):
        self.first, self.brace, self.signature, self.body = first, brace, signature, body
        self.length = brace - first + len(body) + 2
        head, self.parameters = _take_apart(signature)
        self.name = re.search(r"(\w*)\s*$", head).group(1)
        self.static = bool(re.search(r"\bstatic\b", head))


def _functions(code):
    """clang-format has put the braces of functions, and of nothing else, alone at the start of a line."""
    lines = code.split("\n")
    start = None
    for number, line in enumerate(lines):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            first = start
            while first > 0 and lines[first - 1].strip() and not re.search(r"[;}]\s*$|^#", lines[first - 1]):
                first -= 1
            yield Function(first, start, " ".join(lines[first:start]), lines[start + 1:number])
            start = None


def _take_apart(signature):
    """What stands before the last pair of parentheses that opens at depth zero, and how many parameters are in it."""
    signature = _ATTRIBUTE.sub("", signature)
    head, best, depth, commas, any_text = signature, 0, 0, 0, False
    for at, ch in enumerate(signature):
        if ch == "(":
            depth += 1
            if depth == 1:
                head, commas, any_text = signature[:at], 0, False
        elif ch == ")":
            depth -= 1
            if depth == 0:
                best = commas + 1 if any_text else 0
        elif depth == 1 and ch == ",":
            commas += 1
        elif depth == 1 and ch == ".":
            return head, commas  # "...", the last of them, is none
        elif depth == 1 and not ch.isspace():
            any_text = True
    return head, best
