"""Every reason that a GPURecommendation can give is in a golden file, is shown to kubectl, and is explained."""

import glob
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Where conditions are said: whatever stands there as one CamelCase word is a reason, or one of the next two.
SAID = ["src/sizer/recommendation_status.c", "src/sizer/status_sentences.c", "src/sizer/healing_status.c",
        "src/sizer/healing_status.h", "src/sizer/resize_request.c"]
EVENTS = {"RolledBack", "AutomationPaused", "HealingStarted", "HealingEnded", "LeakSuspected"}
# No condition says them: nothing of it waits or is blocked then, or the sentence has another reason (NoHistory).
SILENT = {"UpToDate", "OnCreate", "Never", "Starting", "UnderWay", "NodeBusy", "NotLeading", "Unknown", "None"}
# Reserved in the API and set by nobody; and what Recommended would be for a whole pod that healing keeps whole: its target
# is the whole GPU then, which is one.
UNSET = {("Capped", "Healing"), ("Recommended", "Healing")}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def table(path, prefix):
    """The names of an enum, of `[PREFIX_X] = "Name"` or `[PREFIX_X] = {"Name"`."""
    names = set(re.findall(r'\[%s_\w+\] =\s+\{?"(\w+)"' % prefix, read(path)))
    assert len(names) >= 3, (path, prefix)
    return names - SILENT


def literals():
    code = re.sub(r"/\*.*?\*/", "", "\n".join(map(read, SAID)), flags=re.S)
    names = set(re.findall(r'"([A-Z][a-z]+[A-Za-z]*)"', code)) - EVENTS
    assert len(names) > 20
    return names


def wanted():
    """Conditions, any of which may have it, and the reason."""
    rows = [(("UpdateBlocked", "Paused"), name) for name in table("src/roll/rollout_explain.c", "ROLL")]
    rows += [(("Recommended",), name) for name in table("src/right/hold.c", "HOLD") - {"Applied", "Learning"}]
    rows += [(("MemoryPreallocated",), name) for name in table("src/right/prealloc.c", "PREALLOC")]
    rows += [(("Capped",), name) for name in table("src/model/recommendation.c", "CAPPED_BY")]
    rows += [(("Healing",), name) for name in table("src/model/recommendation.c", "HEALING")]
    rows += [((), name) for name in literals()]
    return [row for row in rows if (row[0] or ("",))[0:1] + (row[1],) not in UNSET]


def golden():
    """(condition, reason) of all that are kept."""
    found = set()
    for path in glob.glob(os.path.join(ROOT, "test/scenario/golden/*.json")):
        with open(path, encoding="utf-8") as file:
            found |= {(c["type"], c["reason"]) for c in json.load(file)["status"]["conditions"]}
    return found


def test_every_reason_has_its_golden_file():
    kept = golden()
    reasons = {reason for _, reason in kept}
    missing = [(types, reason) for types, reason in wanted()
               if not (any((kind, reason) in kept for kind in types) if types else reason in reasons)]
    assert missing == []


def test_every_golden_file_is_shown_to_kubectl():
    states = {os.path.basename(path)[:-5] for path in glob.glob(os.path.join(ROOT, "test/scenario/golden/*.json"))}
    texts = {os.path.basename(path)[:-4] for path in glob.glob(os.path.join(ROOT, "test/api/golden/*.txt"))}
    assert texts - {"get", "get-wide"} == states


def test_every_golden_file_is_of_a_test():
    """What nobody writes any more is not shown."""
    tests = "\n".join(map(read, (os.path.relpath(path, ROOT)
                                 for path in glob.glob(os.path.join(ROOT, "test/scenario/*_test.c")))))
    states = {os.path.basename(path)[:-5] for path in glob.glob(os.path.join(ROOT, "test/scenario/golden/*.json"))}
    assert {state for state in states if '"%s"' % state not in tests} == set()


def test_every_reason_is_explained_by_its_symptom():
    """In the parts of docs/troubleshooting.md that are about workloads."""
    parts = re.split(r"^## ", read("docs/troubleshooting.md"), flags=re.M)
    about = [part for part in parts if part.startswith(("A workload ", "A running pod keeps "))]
    assert len(about) == 3
    explained = set(re.findall(r"`(\w+)`", " ".join(about)))
    assert {reason for _, reason in wanted()} - explained == set()


def test_a_new_reason_would_be_missed(monkeypatch):
    """Each way in which one may be added is seen."""
    here = globals()
    code = {"src/roll/rollout_explain.c": '[ROLL_NEW] = {"NewOne",', "src/right/hold.c": '[HOLD_NEW] =\n"NewTwo",',
            "src/sizer/status_sentences.c": '(struct say_sentence){"NewThree", "x"}'}
    original = read
    monkeypatch.setitem(here, "read", lambda path: original(path) + code.get(path, ""))
    assert {reason for _, reason in wanted()} >= {"NewOne", "NewTwo", "NewThree"}
