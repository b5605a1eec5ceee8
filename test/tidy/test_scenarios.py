"""docs/design/scenarios.md names a test, or a reason, for each acceptance scenario, and all of them exist."""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GROUPS = {"R": 17, "P": 6, "O": 11, "H": 13, "U": 18, "G": 5, "K": 3, "S": 4}
ROW = re.compile(r"^\| ([A-Z]\d+) \| [^|]+ \| ([^|]+) \|$", re.M)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def rows():
    return ROW.findall(read("docs/design/scenarios.md"))


def named(cell):
    """The tests of one row, each with its file."""
    path = None
    for word in re.findall(r"`([^`]+)`", cell):
        if word.endswith((".c", ".py")):
            path = word
        else:
            yield path, word


def exists(path, name):
    pattern = r"^def %s\(" if path.endswith(".py") else r"^Test\(\w+, %s\b"
    return os.path.exists(os.path.join(ROOT, path)) and re.search(pattern % re.escape(name), read(path), re.M)


def test_every_scenario_has_one_row():
    wanted = ["%s%d" % (group, i) for group, most in GROUPS.items() for i in range(1, most + 1)]
    assert len(wanted) == 77
    assert [number for number, _ in rows()] == wanted


def test_every_row_names_a_test_or_a_reason():
    assert [number for number, cell in rows() if not list(named(cell)) and "*left out" not in cell] == []


def test_every_test_that_is_named_exists():
    assert [name for _, cell in rows() for name in named(cell) if not exists(*name)] == []


def test_every_scenario_that_is_played_has_its_row():
    """What is added to test/scenario is named in the table."""
    folder = os.path.join(ROOT, "test/scenario")
    table = dict(rows())
    for name in sorted(name for name in os.listdir(folder) if name.endswith("_test.c")):
        path = "test/scenario/" + name
        for number, rest in re.findall(r"^Test\(scenario, ([A-Z]\d+)(_\w+)", read(path), re.M):
            assert (path, number + rest) in list(named(table[number])), number + rest
