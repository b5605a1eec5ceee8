"""Counts tests from the reports that Criterion, meson and pytest leave."""
import json
import os
import re
import xml.etree.ElementTree as ElementTree


DETAIL_MAX = 400


def told(name, what):
    """A failure's name with the beginning of what it said, on one line."""
    detail = " ".join(what.split())
    return "%s: %s" % (name, detail[:DETAIL_MAX]) if detail else name


class Tally:
    """How many passed, what failed, what was skipped and why."""

    def __init__(self):
        self.passed = 0
        self.failures = []
        self.skips = []
        self.took = 0.0

    def fail(self, name):
        self.failures.append(name)

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips

    def line(self):
        text = "%d passed, %d failed" % (self.passed, len(self.failures))
        return text + (", %d skipped" % len(self.skips) if self.skips else "")


def criterion(path):
    """One test program's report. Criterion writes it at the end, so that a crash of the program leaves none."""
    tally = Tally()
    for suite in ElementTree.parse(path).getroot():
        for case in suite.findall("testcase"):
            name = "%s/%s" % (suite.get("name"), case.get("name"))
            status = case.get("status")
            if status == "PASSED":
                tally.passed += 1
            elif status == "SKIPPED":
                skipped = case.find("skipped")
                tally.skips.append((name, (skipped.get("message") or skipped.text or "").strip()
                                    if skipped is not None else ""))
            else:
                wrong = [e for e in case if e.tag in ("failure", "error")]
                tally.fail(told(name, " ".join((e.text or "").strip() or e.get("message") or "" for e in wrong)))
    return tally


def meson(log, criterion_folder):
    """All tests of one `meson test`: case by case where there are reports, else a test a program."""
    tally = Tally()
    if not os.path.exists(log):
        return tally
    with open(log, encoding="utf-8") as f:
        entries = [json.loads(line) for line in f if line.strip()]
    for entry in entries:
        name = entry["name"].split(" / ")[-1].strip()
        report = None
        if criterion_folder is not None:
            program = os.path.basename(next(a for a in entry["command"][2:] if not a.startswith("-")))
            path = os.path.join(criterion_folder, program + ".xml")
            report = path if os.path.exists(path) else None
        if report is not None:
            try:
                counted = criterion(report)
            except ElementTree.ParseError as e:
                counted = Tally()
                counted.fail("%s: unreadable report: %s" % (name, e))
            if entry["result"] != "OK" and not counted.failures:
                counted.fail("%s: %s" % (name, entry["result"]))
            if counted.passed + len(counted.failures) + len(counted.skips) == 0:
                counted.fail("%s: no test ran" % name)
            tally.add(counted)
        elif entry["result"] == "OK" and criterion_folder is None:
            tally.passed += 1
        elif entry["result"] == "SKIP":
            tally.skips.append((name, "the program said so (exit status 77)"))
        else:
            tally.fail("%s: %s" % (name, entry["result"] if entry["result"] != "OK" else "left no report"))
    return tally


def junit(path):
    """pytest's report."""
    tally = Tally()
    if not os.path.exists(path):
        return tally
    try:
        cases = ElementTree.parse(path).getroot().iter("testcase")
    except ElementTree.ParseError as e:
        tally.fail("unreadable report: %s" % e)
        return tally
    for case in cases:
        name = "%s::%s" % (case.get("classname", ""), case.get("name", ""))
        skipped = case.find("skipped")
        wrong = [e for e in case if e.tag in ("failure", "error")]
        if wrong:
            tally.fail(told(name, wrong[0].get("message") or ""))
        elif skipped is not None:
            tally.skips.append((name, (skipped.get("message") or "").strip()))
        else:
            tally.passed += 1
    return tally


def undealt(table):
    """Tests of a suite that was dealt out (test/lib/dealing.py) that nobody ran to their end."""
    def lines(name):
        path = os.path.join(table, name)
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as f:
            return f.read().splitlines()
    done = set(lines("done"))
    return [test for test in lines("all") if test not in done]


def smoke_benches(folder):
    """Names of the benches whose head has a line `smoke: ARGUMENTS`."""
    names = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if os.path.isfile(path) and name != "meson.build":
            with open(path, encoding="utf-8", errors="replace") as f:
                if re.search(r"^\W*smoke:", f.read(4096), re.M):
                    names.append(os.path.splitext(name)[0])
    return names
