"""What the documents promise to list, they list."""

import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULE = re.compile(r"\b(C(?:[1-9]|[12][0-9]|3[0-9])|I[1-8])\b")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def tracked(*folders):
    out = subprocess.run(["git", "-C", ROOT, "ls-files", "--", *folders], capture_output=True, check=True)
    return out.stdout.decode().split()


def test_every_rule_that_is_cited_is_described():
    described = set(re.findall(r"\*\*([CI]\d+)\b", read("docs/design/rules.md")))
    cited = {}
    for path in tracked("src", "include", "manifests", "crds", "test/unit", "test/e2e", "test/api", "test/lib"):
        if path.endswith((".c", ".h", ".yaml", ".py")):
            for rule in RULE.findall(read(path)):
                cited.setdefault(rule, path)
    assert len(cited) > 20, "the rules are cited in the source"
    assert {rule: path for rule, path in cited.items() if rule not in described} == {}


def reasons():
    """The names of src/model/reason.c in their order."""
    return re.findall(r'\[REASON_\w+\] = "(\w+)"', read("src/model/reason.c"))


def explained(text):
    """The words that rows of its tables begin with."""
    return set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| ([^|]*) \|", text, re.M))))


@pytest.mark.parametrize("heading,first,last", [
    ("A pod that asked for a share started whole", "NoGpu", "NotSynced"),
    ("A pod waits", "NotOurs", "ApiRefused"),
])
def test_every_reason_is_explained(heading, first, last):
    names = reasons()
    wanted = set(names[names.index(first):names.index(last) + 1]) - {"Converted", "Placed"}
    part = re.split(r"^## ", read("docs/troubleshooting.md"), flags=re.M)
    text = next(piece for piece in part if piece.startswith(heading + "\n"))
    assert wanted - explained(text) == set()


# Good news, and one that is no reason.
WELL = {"None", "Converted", "Placed", "WithinShare", "NoContention"}


def test_a_reason_that_came_later_is_explained_too():
    """Newcomers stand at the end of the list, because a journal holds their numbers, whatever they are about."""
    assert set(reasons()) - explained(read("docs/troubleshooting.md")) == WELL


def test_the_readme_shows_the_house_as_it_is():
    table = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([a-z ]+) \|$", read("README.md"), re.M)
    shown = {room: set(used.split()) - {"nothing"} for room, used in table}
    rows = re.findall(r"^\s*\['(\w+)',\s*\[([^\]]*)\],", read("src/meson.build"), re.M)
    built = {room: set(re.findall(r"\w+", used)) for room, used in rows}
    assert shown.pop("app") == {"all"}
    assert shown == built


def test_the_readme_names_files_that_exist():
    named = set(re.findall(r"`((?:src|docs|hack|test)/[\w./-]+)`", read("README.md")))
    assert len(named) > 5
    assert [path for path in named if not os.path.exists(os.path.join(ROOT, path))] == []


def test_the_state_at_a_shell_is_shown_as_it_is():
    """What the document shows is what the report writes."""
    assert "```\n%s```\n" % read("test/unit/report/data/status.txt") in read("docs/operating.md")
