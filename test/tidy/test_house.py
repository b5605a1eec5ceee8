"""hack/house counts what it says, and a house that gets worse is refused."""
import json
import os
import shutil
import subprocess
import sys

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOUSE = os.path.join(TREE, "hack", "house")
CEILINGS = "hack/lib/house.txt"


def house(root, *argv, status=0):
    done = subprocess.run([sys.executable, HOUSE, "--root", str(root), *argv], capture_output=True, text=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout


def count(root, figure):
    return json.loads(house(root, "--json"))["figures"][figure]


def write(root, path, text):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def calls(name, *others):
    """A file with a function, and a static one that calls those of others."""
    return "/* As %s_verb(). */\nint %s_verb(void)\n{\n\treturn 0;\n}\n\nstatic int own_%s(void)\n{\n\treturn 0%s;\n}\n" % (
        name, name, name, "".join(" + %s_verb()" % other for other in others))


@pytest.fixture
def tree(tmp_path):
    """A room of four files of which each calls the next: one leads back only to itself."""
    for name, others in {"a": ("b",), "b": ("c",), "c": ("d",), "d": ()}.items():
        write(tmp_path, "src/base/%s.c" % name, calls(name, *others))
        write(tmp_path, "include/base/%s.h" % name, "int %s_verb(void);\n" % name)
    return tmp_path


def test_what_leads_back_is_a_cycle(tree):
    assert count(tree, "cycle-base")["count"] == 1
    write(tree, "src/base/c.c", calls("c", "d", "b"))
    assert count(tree, "cycle-base")["count"] == 2
    write(tree, "src/base/d.c", calls("d", "a"))
    assert count(tree, "cycle-base") == {"title": "files of base in one cycle of calls", "measure": 4, "count": 4, "of": 4,
                                         "aim": 3, "ceiling": None}
    assert "src/base/d.c:1: uses a_verb of a.c\n" in house(tree, "--list", "cycle-base")


@pytest.mark.parametrize("text", [
    "/* a_verb(); */\n",
    "const char *s = \"a_verb()\";\n",
    "int own(struct a_verb *p)\n{\n\treturn p->a_verb() + p->x.a_verb;\n}\n",
    "static int a_verb(void)\n{\n\treturn 0;\n}\n\nint own(void)\n{\n\treturn a_verb();\n}\n",
    "int a_verb_more(void);\n",
], ids=["comment", "literal", "member", "own static", "longer"])
def test_what_is_no_call_closes_no_cycle(tree, text):
    write(tree, "src/base/c.c", calls("c", "d", "b"))
    write(tree, "src/base/d.c", text)
    assert count(tree, "cycle-base")["count"] == 2


def test_a_table_of_functions_calls_them(tree):
    write(tree, "src/base/d.c", "static int (*const table[])(void) = {a_verb};\n" + calls("d"))
    assert count(tree, "cycle-base")["count"] == 4


def test_other_rooms_close_no_cycle(tree):
    write(tree, "src/world/e.c", calls("e", "a"))
    write(tree, "src/base/d.c", calls("d", "e"))
    assert count(tree, "cycle-base")["count"] == 1


def test_the_other_figures(tree):
    write(tree, "src/brain/a.c", "static int own_a(const struct engine *e)\n{\n\treturn 0;\n}\n\n"
          "PRINTF(1, 2) void far(struct engine *e,\n\tint (*f)(int, int))\n{\n}\n")
    write(tree, "test/model/sim/sim.c", "int simulate(struct engine *e)\n{\n\treturn 0;\n}\n")
    write(tree, "src/brain/engine.h", "void far(struct engine *e,\n\tint (*f)(int, int));\n")
    figures = json.loads(house(tree, "--json"))["figures"]
    assert {key: (row["count"], row["of"]) for key, row in figures.items() if not key.startswith("cycle-")} == {
        "engine": (2, 10), "foreign": (1, 5), "shared": (2, 11), "lines": (4 * 11 + 9 + 2, None), "rooms": (0, 3),
        "names": (1, 5)}
    assert house(tree, "--list", "foreign") == "src/brain/a.c:6: far is declared in src/brain/engine.h\n"
    assert "src/brain/a.c:1: own_a is defined in 2 files\n" in house(tree, "--list", "shared")
    for number in range(17):
        write(tree, "src/base/more%d.c" % number, "/* Nothing. */\n")
    assert count(tree, "rooms")["count"] == 1


def test_worse_than_a_ceiling_is_refused(tree):
    write(tree, CEILINGS, "# Why.\nnames 0\nlines 92000\n")
    assert house(tree, "--check") == ""
    write(tree, "src/brain/a.c", calls("other"))
    assert house(tree, "--check", status=1) == (
        CEILINGS + ":2: names of more than one .c file: 1 of 4, at most 0; hack/house --list names shows them\n")
    write(tree, CEILINGS, "names 1\n")
    assert house(tree, "--check") == ""
    # What has no ceiling keeps to its aim.
    write(tree, "src/base/d.c", calls("d", "a"))
    assert house(tree, "--check", status=1).startswith(CEILINGS + ":1: files of base in one cycle of calls: 4 of 4, at most 3")


def test_ceilings_are_lowered_and_never_raised(tree):
    write(tree, CEILINGS, "# Why.\ncycle-base 9\ncycle-gone 4\nengine 720\nforeign 0\nnames 3\n")
    write(tree, "src/base/d.c", calls("d", "a"))
    write(tree, "src/brain/a.c", calls("other"))
    write(tree, "src/base/far.h", "int other_verb(void);\n")
    house(tree, "--lower")
    assert (tree / CEILINGS).read_text(encoding="utf-8") == "# Why.\ncycle-base 4\nengine 10\nforeign 0\nnames 1\n"


def test_the_table_has_each_figure_with_its_aim(tree):
    said = house(tree)
    for words in ("today", "ceiling", "aim", "<= 92,000", "(3 of 8)", "4 / 4 / 4 / 4"):
        assert words in said
    assert "--list FIGURE" in house(tree, "--help")


def test_the_tree_holds_its_ceilings_and_tidy_sees_to_it(tmp_path):
    """Four new files of one room that call each other in a circle."""
    for name in ("src", "include", "hack", "test/model"):
        shutil.copytree(os.path.join(TREE, name), tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    tidy = [sys.executable, os.path.join(TREE, "hack", "tidy"), "--root", str(tmp_path), "--only", "house"]
    assert subprocess.run(tidy, capture_output=True, timeout=60, check=False).returncode == 0
    names = ["planted_" + word for word in ("one", "two", "three", "four")]
    for number, name in enumerate(names):
        write(tmp_path, "src/owner/%s.c" % name, calls(name, names[number - 1]))
    done = subprocess.run(tidy, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith(CEILINGS + ":1: files of owner in one cycle of calls: 4 of ")
