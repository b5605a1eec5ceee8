"""hack/tidy notices: each test breaks one rule in a copy of the tree and reads what is said about it.

The last tests build a unit test of room `place` that calls into `io`: it has to fail at the link, for
the same reason for which tidy refuses the include.
"""
import contextlib
import functools
import importlib.machinery
import importlib.util
import io
import os
import shutil
import stat
import subprocess
import sys

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIDY = os.path.join(TREE, "hack", "tidy")
COPIED = ("src", "include", "test", "hack", ".ci", "meson.build", "meson_options.txt", ".clang-format",
          ".gitignore", "crds", "manifests")


def copy_tree(target):
    skip = shutil.ignore_patterns("__pycache__", "*.pyc", "corpus")
    for name in COPIED:
        source = os.path.join(TREE, name)
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(target, name), ignore=skip, symlinks=True)
        elif os.path.exists(source):
            shutil.copy2(source, os.path.join(target, name))
    return target


@functools.cache
def tidy():
    """hack/tidy, whose name has no .py."""
    loader = importlib.machinery.SourceFileLoader("tidy", TIDY)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
    loader.exec_module(module)
    return module


class Copy:
    """A copy of the tree in which one file at a time is broken and mended."""

    def __init__(self, root):
        self.root = root
        self.undo = []
        self.known = {}

    def path(self, name):
        return os.path.join(self.root, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def write(self, name, content):
        path = self.path(name)
        before = None
        if os.path.exists(path):
            with open(path, "rb") as f:
                before = (f.read(), os.stat(path).st_mode)
        self.undo.append((path, before))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode("utf-8"))

    def chmod(self, name, mode):
        path = self.path(name)
        with open(path, "rb") as f:
            self.undo.append((path, (f.read(), os.stat(path).st_mode)))
        os.chmod(path, mode)

    def mend(self):
        while self.undo:
            path, before = self.undo.pop()
            if before is None:
                os.remove(path)
            else:
                with open(path, "wb") as f:
                    f.write(before[0])
                os.chmod(path, stat.S_IMODE(before[1]))

    def baseline(self, only):
        """What a check says of the copy while nothing is broken."""
        assert not self.undo
        if only not in self.known:
            self.known[only] = self.tidy(only)[1]
        return self.known[only]

    def tidy(self, only):
        """In this process: what it knows of a file it need not find out for each test."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = tidy().main(["--root", self.root, "--only", only])
        return status, [l for l in said.getvalue().splitlines() if not l.startswith(("info: ", "tidy: "))]


@pytest.fixture(scope="session")
def shared_copy(tmp_path_factory):
    return Copy(copy_tree(str(tmp_path_factory.mktemp("tree"))))


@pytest.fixture
def copy(shared_copy):  # pylint: disable=redefined-outer-name
    yield shared_copy
    shared_copy.mend()


def refuses(copy, only, where, message):
    """The breach is reported with this and only this; what the tree had before does not count."""
    status, said = copy.tidy(only)
    copy.mend()
    before = copy.baseline(only)
    news = [line for line in said if line not in before]
    assert status == 1
    assert news and all(line.startswith(where) for line in news), news
    assert any(message in line for line in news), news


def accepts(copy, only, path):
    assert [line for line in copy.tidy(only)[1] if line.startswith(path)] == []


HELLO = "/* A file of a test. */\n"


@pytest.mark.parametrize("file,include,message", [
    ("src/place/wrong.c", '"io/loop.h"', "place may not include io/loop.h: its row is base, model"),
    ("src/world/wrong.c", '"kube/reflector.h"', "world may not include kube/reflector.h"),
    ("src/base/wrong.c", '"model/pod.h"', "base may not include model/pod.h: its row is empty"),
    ("src/engine/wrong.c", '"app/config.h"', "engine may not include app/config.h"),
    ("include/size/wrong.h", '"pods/pod_decode.h"', "size may not include pods/pod_decode.h"),
    ("test/unit/world/wrong_test.c", '"io/loop.h"', "world may not include io/loop.h"),
    ("src/kube/wrong.c", "<curl/curl.h>", "kube may not include curl/curl.h: curl is not in its row"),
    ("src/hook/wrong.c", "<ev.h>", "hook may not include ev.h"),
    ("src/app2/wrong.c", "<stdio.h>", "'app2' is not a room"),
    ("src/act/wrong.c", "<openssl/ssl.h>", "act may not include openssl/ssl.h"),
    ("src/model/wrong.c", "<jansson.h>", "model may not include jansson.h"),
    ("src/codec/wrong.c", "<yaml.h>", "codec may not include yaml.h"),
    ("src/io/wrong.c", "<dlfcn.h>", "io may not include dlfcn.h"),
    ("test/model/sim/wrong.c", '"hook/hook.h"', "sim may not include hook/hook.h"),
    ("src/engine/wrong.c", '"sim/sim.h"', "engine may not include sim/sim.h"),
    ("test/unit/sim/wrong_test.c", '"act_parts.h"', "act_parts.h is not a private header of sim"),
    ("src/place/wrong.c", '"private.h"', "private.h is not a private header of place"),
    ("src/place/wrong.c", "<curl/curl.h>", "place may not include curl/curl.h"),
])
def test_wrong_include_is_refused(copy, file, include, message):
    copy.write(file, "%s#include %s\n" % (HELLO, include))
    refuses(copy, "layers", file + ":%d:" % (1 if "app2" in file else 2), message)


def test_right_includes_are_accepted(copy):
    copy.write("src/io/right.c", HELLO + '#include <ev.h>\n#include <curl/curl.h>\n#include "base/str.h"\n')
    copy.write("src/gpu/right.c", HELLO + '#include <dlfcn.h>\n#include "model/gpu.h"\n')
    copy.write("src/place/own.h", HELLO)
    copy.write("src/place/right.c", HELLO + '#include "own.h"\n#include "place/place.h"\n')
    copy.write("src/app/right.c", HELLO + '#include "engine/engine.h"\n#include <curl/curl.h>\n')
    copy.write("test/model/sim/right.c", HELLO + '#include "people.h"\n#include "objects/sim_parts.h"\n#include "act/act.h"\n')
    copy.write("test/unit/sim/right_test.c", HELLO + '#include "people.h"\n#include "sim/sim.h"\n')
    for path in ("src/io/right.c", "src/gpu/right.c", "src/place/right.c", "src/place/own.h", "src/app/right.c",
                 "test/model/sim/right.c", "test/unit/sim/right_test.c"):
        accepts(copy, "layers", path)


def test_the_table_of_the_build_is_what_counts(copy):
    """A row that gains a room allows the include, without a change of tidy."""
    copy.write("src/place/wrong.c", HELLO + '#include "world/world.h"\n')
    assert any("src/place/wrong.c:2" in line for line in copy.tidy("layers")[1])
    meson = copy.read("src/meson.build")
    start = meson.index("['place',")
    end = meson.index("\n", start)
    copy.write("src/meson.build", meson[:start] + "['place', ['base', 'model', 'world'], []]," + meson[end:])
    accepts(copy, "layers", "src/place/wrong.c")


LIST = "docs/design/assertions.md"


def test_an_assertion_that_nobody_gives_a_reason_for_is_refused(copy):
    with open(os.path.join(TREE, LIST), encoding="utf-8") as f:
        listed = f.read()
    copy.write(LIST, listed)
    assert copy.tidy("asserts") == (0, [])
    copy.write("src/world/wrong.c", HELLO + "\tENSURE(n ==\n\t\tf(1));\n")
    assert "src/world/wrong.c:2: nobody says" in copy.tidy("asserts")[1][0]
    row = "| `src/world/wrong.c` | `n == f(1)` | %d | it was counted |\n"
    copy.write(LIST, listed + row % 1)
    assert copy.tidy("asserts") == (0, [])
    # One that went, or one that came beside it.
    copy.write(LIST, listed + row % 2)
    assert "has no such assertion, or not so often" in copy.tidy("asserts")[1][0]
    copy.write("src/world/wrong.c", HELLO + 3 * "\tENSURE(n == f(1));\n")
    assert "src/world/wrong.c:2: nobody says" in copy.tidy("asserts")[1][0]
    # A reason is not left out, comments assert nothing, and `base` holds its callers to their promises.
    copy.write("src/world/wrong.c", "/* BUG(1) */\n")
    copy.write("src/base/right.c", HELLO + "\tENSURE(n == f(2));\n")
    copy.write(LIST, listed)
    assert copy.tidy("asserts") == (0, [])


def function(name, parameters="void", body=""):
    return "int %s(%s)\n{\n%s\treturn 0;\n}\n" % (name, parameters, body)


NEST = "".join("\t" * (i + 1) + "if (1) {\n" for i in range(5)) + "".join("\t" * (5 - i) + "}\n" for i in range(5))


@pytest.mark.parametrize("only,file,content,line,message", [
    ("sizes", "src/base/wrong.c", HELLO + "\n" * 600, 601, "601 lines; at most 600"),
    ("sizes", "include/base/wrong.h", HELLO + "\n" * 250, 251, "251 lines; at most 250"),
    ("sizes", "src/base/wrong.c", HELLO + function("long_one", body="\t;\n" * 60), 2, "long_one is 61 lines"),
    ("sizes", "src/base/wrong.c", HELLO + function("wide", "int a, int b, int (*c)(int, int), int d, int e, int f"),
     2, "wide takes 6 parameters"),
    ("sizes", "src/base/wrong.c", HELLO + function("deep", body=NEST), 8, "deep nests deeper than 4"),
    ("sizes", "hack/lib/wrong.py", "pass\n" * 601, 601, "601 lines; at most 600"),
    ("banned", "src/base/wrong.c", HELLO + function("f", body="\tstrcpy(a, b);\n"), 4, "strcpy is banned"),
    ("banned", "test/unit/base/wrong.c", HELLO + function("f", body="\treturn atoi(a);\n"), 4, "atoi is banned"),
    ("globals", "src/world/wrong.c", HELLO + "static int counter;\n", 2, "a mutable variable"),
    ("globals", "src/world/wrong.c", HELLO + "static struct {\n\tint n;\n} state;\n", 2, "a mutable variable"),
    ("globals", "src/world/wrong.c", HELLO + "struct x *const_free = NULL;\n", 2, "a mutable variable"),
    ("headers", "include/base/wrong.h", HELLO + "#ifndef WRONG_H\n#define WRONG_H\n#endif\n", 1, "BASE_WRONG_H"),
    ("headers", "src/base/wrong.h", HELLO, 1, "wants the guard BASE_WRONG_H"),
    ("opening", "src/base/wrong.c", "#include <stdio.h>\n", 1, "wants an opening comment"),
    ("blanks", "docs/wrong.md", "line \n", 1, "blanks at the end of the line"),
    ("blanks", "docs/wrong.md", "line", 1, "no newline at the end"),
    ("blanks", "docs/wrong.md", "line\r\n", 1, "a carriage return"),
    ("blanks", "src/base/wrong.c", HELLO + "  \tint x;\n", 2, "a mix of tabs and blanks"),
    ("marks", "docs/wrong.md", "\nTO" "DO: later\n", 2, "an unfinished mark"),
    ("marks", "src/base/wrong.c", HELLO + "/* FIX" "ME */\n", 2, "an unfinished mark"),
    ("marks", "docs/wrong.md", "see /ro" "ot/x\n", 1, "a path of one machine"),
    ("weight", "docs/wrong.md", "x\n" * (1024 * 1024 + 1), 1, "at most 2097152"),
    ("weight", "docs/wrong.bin", b"a\0b", 1, "a binary file"),
    ("weight", "docs/wrong.md", b"\xff\xfe\n", 1, "not UTF-8"),
    ("modes", "hack/wrong", "#!/usr/bin/env bash\n", 1, "is a command but not executable"),
    ("data", "manifests/wrong.json", '{"a":\n}\n', 2, "not JSON"),
    ("data", "manifests/wrong.yaml", "a: b\n c: d\n", 2, "not YAML"),
    ("links", "docs/wrong.md", "a\n[b](missing.md)\n", 2, "a link to missing.md, which is not in the tree"),
    ("links", "docs/wrong.md", "[b](/etc/passwd)\n", 1, "which is not in the tree"),
    ("links", "docs/wrong.md", "# One\n[b](#two)\n", 2, "a link to #two, a heading that is not there"),
    ("names", "src/base/wrong.c", HELLO + "/* Who asks:\n * gone_file.c. */\n", 3, "names gone_file.c, which is not in"),
    ("names", "src/base/wrong.c", "/* By world.h. */\n", 1, "names world.h"),
    ("names", "include/base/wrong.h", "/* See docs/design/gone.md. */\n", 1, "names docs/design/gone.md"),
    ("names", "test/unit/base/wrong.c", "/* In world_{pods,gone}.h. */\n", 1, "names world_{pods,gone}.h"),
    ("names", "src/base/wrong.c", "/* As GONE_*_table.c */\n", 1, "names GONE_*_table.c"),
    ("names", "src/base/wrong.c", "/* For goneverb(). */\n", 1, "names goneverb()"),
    ("names", "src/base/wrong.c", "/* What gone_verb does. */\n", 1, "names gone_verb"),
    ("names", "src/base/wrong.c", "/* Until GONE_CONSTANT. */\n", 1, "names GONE_CONSTANT"),
    ("names", "src/base/wrong.c", "struct gonetag;\n/* A `struct gonetag *`. */\n", 2, "names struct gonetag"),
    ("names", "docs/design/wrong.md", "a\n`gone_verb(a)`\n", 2, "names gone_verb"),
    ("names", "docs/wrong.md", "a `hack/gone`\n", 1, "names hack/gone"),
    ("names", "test/e2e/wrong.py", "x = 1  # as test_gone.py\n", 1, "names test_gone.py"),
    ("names", "test/e2e/wrong.py", "def f():\n    \"\"\"As test/e2e/\n    test_gone.py.\"\"\"\n", 3, "names test_gone.py"),
    ("names", "hack/lib/wrong.sh", "x=1 # hack/lib/gone.sh\n", 1, "names hack/lib/gone.sh"),
    ("scripts", "hack/lib/wrong.py", "x = 1\ndef f(:\n", 2, "not Python"),
    ("scripts", "hack/lib/wrong.sh", "if true; then\n", 2, "not bash"),
    ("format", "src/base/wrong.c", HELLO + "int  x( void );\n", 2, "not formatted"),
], ids=lambda value: value if isinstance(value, str) and len(value) < 40 and value.isprintable() else "")
def test_breach_is_refused(copy, only, file, content, line, message):
    copy.write(file, content)
    refuses(copy, only, "%s:%d:" % (file, line), message)


@pytest.mark.parametrize("only,content", [
    ("sizes", function("just", "int a, int b, int c, int d, int e", "\t;\n" * 59)
     + function("logs", "int a, int b, int c, int d, const char *format, ...")),
    ("banned", "/* strcpy(a, b) */\nconst char *s = \"strcpy(\";\nint x = object->strcpy(a);\n"),
    ("globals", "struct later;\nstatic const int limit = 4;\nextern int shared;\nstatic int f(int a);\nenum { A, B };\n"),
    ("marks", "/* mktemp aXXXXXX */\nconst char *s = \"${X}/ro" "ot/\";\n"),
], ids=["sizes", "banned", "globals", "marks"])
def test_what_is_allowed_is_accepted(copy, only, content):
    copy.write("src/base/right.c", HELLO + content)
    accepts(copy, only, "src/base/right.c")


def test_right_links_are_accepted(copy):
    copy.write("docs/other.md", "# One, `two`\n")
    copy.write("docs/right.md", "[a](other.md#one-two) [b](https://example.com/) [c](../src) `[d](none)`\n"
               "```\n[e](none)\n```\n")
    accepts(copy, "links", "docs/right.md")


@pytest.mark.parametrize("file,content", [
    ("src/base/right.c", "/* As NAME_test.c, map.{c,h}, src/ROOM/map.c, base/map.h, stdlib.h: read and/or write; e.g. map_init().\n"
     " * `struct str`, `struct timespec *`, NOT_OPENED_BY_ANYBODY: a map_ or https://example.org/none.c. */\n"
     "const char *s = \"gone_file.c\";\nint NEVER_NOT_OPENED_BY_ANYBODY;\n"),
    ("docs/design/right.md", "docs/design/right.md, `apply -f pod.yaml`, `vllm/config.py`, python's gone_word\n```\nnone.c gone_verb()\n```\n"),
    ("test/e2e/right.py", "x = 'src/base/none.c'\n\"\"\"Told in none.yaml.\"\"\"\ny = \"\"\"\\\n# none.c\n\"\"\"\n"),
], ids=["c", "md", "py"])
def test_names_that_are_there_or_are_none(copy, file, content):
    copy.write(file, content)
    accepts(copy, "names", file)


def test_a_command_loses_its_mode(copy):
    copy.chmod("hack/tidy", 0o644)
    refuses(copy, "modes", "hack/tidy:1:", "is a command but not executable")


def test_commit_subjects(tmp_path):
    root = str(tmp_path)
    os.makedirs(os.path.join(root, "src"))
    shutil.copy(os.path.join(TREE, "src", "meson.build"), os.path.join(root, "src", "meson.build"))
    copy = Copy(root)

    def git(*argv):
        subprocess.run(["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@example.org", *argv],
                       check=True, capture_output=True, timeout=30)
    git("init", "-q")
    for subject in ("base: lay the ground", "base, model: two rooms", ".ci: run"):
        git("commit", "-q", "--allow-empty", "-m", subject)
    status, said = copy.tidy("commits")
    assert (status, len(said)) == (1, 1) and ".ci: run" in said[0]
    git("commit", "-q", "--allow-empty", "-m", "Did things")
    git("commit", "-q", "--allow-empty", "-m", "base: " + "a" * 70)
    status, said = copy.tidy("commits")
    assert status == 1 and len(said) == 3
    assert any("subject of 76 characters" in line for line in said)
    assert any("subject is not" in line and "Did things" in line for line in said)


# --- a wrong edge does not link -------------------------------------------------------------------

LINK_TEST = """/* Tries to use what room place may not use. */
#include <criterion/criterion.h>

%s

Test(edge, call)
{
	%s;
}
"""


@pytest.fixture(scope="module")
def place_build(tmp_path_factory):
    """A copy whose room place has two unit tests in place of its own, one with a wrong edge, and its build folder."""
    root = str(tmp_path_factory.mktemp("edge"))
    copy = Copy(copy_tree(root))
    copy.write("src/io/edge.c", HELLO + "int io_edge(void);\nint io_edge(void)\n{\n\treturn 1;\n}\n")
    sources = copy.read("src/io/meson.build").rstrip()
    assert sources.endswith(")")
    copy.write("src/io/meson.build", sources[:-1].rstrip().rstrip(",").replace("files(", "files('edge.c', ") + "\n)\n")
    copy.write("test/unit/place/wrong_edge_test.c", LINK_TEST % ("int io_edge(void);", "cr_assert(io_edge() == 1)"))
    copy.write("test/unit/place/right_edge_test.c",
               LINK_TEST % ('#include "base/str.h"', 'cr_assert(text_equals("a", "a"))'))
    copy.write("test/unit/place/meson.build", "place_tests = ['right_edge']\n")
    subprocess.run(["meson", "setup", "build", "-Dsanitize=false"], cwd=root, check=True, capture_output=True,
                   timeout=120, stdin=subprocess.DEVNULL)
    return copy


def link_with(copy, test):
    copy.write("test/unit/place/meson.build", "place_tests = ['%s']\n" % test)
    return subprocess.run(["ninja", "-C", "build", "test/unit/test-place"], cwd=copy.root, capture_output=True, text=True,
                          timeout=200, check=False, stdin=subprocess.DEVNULL)


def test_an_allowed_edge_links(place_build):
    done = link_with(place_build, "right_edge")
    assert done.returncode == 0, done.stdout


def test_a_wrong_edge_does_not_link(place_build):
    done = link_with(place_build, "wrong_edge")
    assert done.returncode != 0
    assert "undefined reference to `io_edge'" in done.stdout
