"""docs/design/conformance.md names a test, or says *not yet*, for each case, and all that it names exists."""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES, NODE_CASES = 50, 32
ROW = re.compile(r"^\| (N?\d+(?:, N?\d+)*) \| [^|]+ \| ([^|]+) \|$", re.M)
NAMES = re.compile(r"\b(scenario|mutation|fuzz|hack/soak)s? ?((?:`[^`]+`(?:, (?:and )?)?)+)")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def rows():
    """[(its numbers, its last cell)]"""
    return [(numbers.split(", "), cell) for numbers, cell in ROW.findall(read("docs/design/conformance.md"))]


def table():
    return {number: cell for numbers, cell in rows() for number in numbers}


def cases_of(cell):
    """What it names as FILE::NAME or ROOM/FILE::NAME: (path, pattern of its definition)."""
    for file, name in re.findall(r"`([\w/.]+)::(\w+)`", cell):
        if file.endswith(".py"):
            yield "test/e2e/" + file, r"^def %s\(" % name
        else:
            yield "test/unit/%s_test.c" % file, r"^Test\(\w+, %s\b" % name


def named(cell):
    """What it names by kind: (kind, name)."""
    for kind, names in NAMES.findall(re.sub(r"`hack/soak (\w+)`", r"hack/soak `\1`", cell.replace("Scenario", "scenario"))):
        for name in re.findall(r"`([^`]+)`", names):
            yield kind, name


def sources(folder):
    return "".join(read(os.path.join(folder, name)) for name in sorted(os.listdir(os.path.join(ROOT, folder)))
                   if name.endswith(".c"))


def exists(kind, name):
    if kind == "fuzz":
        return os.path.exists(os.path.join(ROOT, "test/fuzz/fuzz_%s.c" % name))
    if kind == "hack/soak":
        return os.path.exists(os.path.join(ROOT, "test/soak/%s.py" % name))
    # Rows of the tables of scenarios and of mutations.
    folder = {"scenario": "test/model/sim", "mutation": "test/sim"}[kind]
    return re.search(r'^\t\{"%s",' % re.escape(name), sources(folder), re.M) is not None


def test_every_case_has_one_row():
    wanted = [str(i) for i in range(1, CASES + 1)] + ["N%d" % i for i in range(1, NODE_CASES + 1)]
    assert [number for numbers, _ in rows() for number in numbers] == wanted


def test_every_row_names_a_test_or_says_that_there_is_none():
    assert [number for number, cell in table().items()
            if not list(cases_of(cell)) and not list(named(cell)) and "*not yet*" not in cell] == []


def test_everything_that_looks_like_a_test_is_named_in_full():
    """A file's name alone, or a name that is cut short, would be held to nothing."""
    assert [word for cell in table().values() for word in re.findall(r"`([^`]+)`", cell)
            if ("..." in word or re.search(r"\.(py|c)$", word))] == []


def test_every_test_that_is_named_exists():
    assert [(path, pattern) for cell in table().values() for path, pattern in cases_of(cell)
            if not os.path.exists(os.path.join(ROOT, path)) or not re.search(pattern, read(path), re.M)] == []


def test_every_scenario_and_mutation_that_is_named_exists():
    assert [(kind, name) for cell in table().values() for kind, name in named(cell) if not exists(kind, name)] == []


def test_names_are_found():
    """That the above would see one that is missing."""
    cell = table()["9"]
    assert ("hack/soak", "kills") in list(named(cell)) and ("scenario", "k9") in list(named(cell))
    assert not exists("scenario", "k3") and not exists("mutation", "keep") and not exists("fuzz", "nothing")
    assert ("mutation", "keep-halves") in list(named(table()["20"]))


def test_what_is_called_after_a_case_stands_in_its_row():
    """An end-to-end test of a case, and a scenario of one."""
    cells, others = table(), read("docs/design/scenarios.md")
    for name in sorted(os.listdir(os.path.join(ROOT, "test/e2e"))):
        if name.endswith(".py"):
            for test, number in re.findall(r"^def (test_(?:\w+?_)?[kg](\d+)_\w+)\(", read("test/e2e/" + name), re.M):
                mine = any("`%s::%s`" % (name, test) in cells.get(prefix + number, "") for prefix in ("", "N"))
                # K1 to K3 of the other table are costs.
                assert mine or "`%s`" % test in others, (name, test)
    for name, number in re.findall(r'^\t\{"(k(\d+)(?:-\w+)?)",', sources("test/model/sim"), re.M):
        assert "`%s`" % name in cells[number], name
