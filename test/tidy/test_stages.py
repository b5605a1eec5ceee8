"""What hack/test promises about itself: stages end in time, nothing is left running, every test counts."""
import os
import signal
import subprocess
import sys
import time

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIB = os.path.join(TREE, "hack", "lib")
sys.path.insert(0, LIB)

import reports  # noqa: E402

# Runs the given stages in the real runner, in a process of its own.
HARNESS = """
import sys
sys.path.insert(0, {lib!r})
import stages
stages.STRAGGLER_GRACE_S, stages.TERM_GRACE_S = 0.3, 2
stages.find_python = lambda: sys.executable
def action(commands):
    def go(run):
        for c in commands:
            if isinstance(c, list):
                run.together(*(lambda c=c: run.check(c, "bash", "-c", c) for c in c))
            else:
                run.check(c, "bash", "-c", c)
    return go
stages.STAGES = [stages.Stage(n, b, n, action(c), needs, lane=lane) for n, b, c, needs, lane in {table!r}]
sys.argv = ["hack/test"]
sys.exit(stages.main())
"""


# Every process comes into being as late as it can: its maker learns of it only after the signal.
LATE = """
import signal, subprocess, time
class Late(subprocess.Popen):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        end = time.monotonic() + 30
        while signal.getsignal(signal.SIGTERM) != signal.SIG_IGN and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.3)
subprocess.Popen = Late
"""


def start(table, before=""):
    """A row: name, budget, commands, needs, and its lane, where all the others' is not meant."""
    table = [(*row, "one")[:5] for row in table]
    return subprocess.Popen([sys.executable, "-c", before + HARNESS.format(lib=LIB, table=table)], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)


def run(*table):
    process = start(list(table))
    out = process.communicate(timeout=60)[0]
    return process.returncode, out.splitlines()


def gone(pid):
    """Whether a process is no more, waited for a moment."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_counts_and_succeeds():
    status, out = run(("one", 10, ["true", "true"], []), ("two", 10, ["true"], ["one"]))
    assert (status, out[-1]) == (0, "3 passed, 0 failed")


def test_one_failure_fails_the_run_but_not_other_stages():
    status, out = run(("one", 10, ["true", "exit 3"], []), ("two", 10, ["true"], []))
    assert (status, out[-1]) == (1, "2 passed, 1 failed")
    assert out.count("failed: one: exit 3: exit status 3") == 2
    assert out[-2] == "failed: one: exit 3: exit status 3", "what failed is told again at the end"


def test_a_stage_whose_need_failed_is_not_run():
    status, out = run(("one", 10, ["false"], []), ("two", 10, ["echo ran; true"], ["one"]))
    assert (status, out[-1]) == (1, "0 passed, 2 failed")
    assert "ran" not in out


def test_a_stage_without_tests_failed():
    status, out = run(("one", 10, [], []), ("two", 10, ["true"], []))
    assert (status, out[-1]) == (1, "1 passed, 1 failed")
    assert "failed: one: no test ran" in out


def test_a_stage_over_twice_its_budget_is_stopped(tmp_path):
    note = tmp_path / "pid"
    began = time.monotonic()
    status, out = run(("slow", 0.5, ["echo $$ > %s; sleep 300" % note], []), ("two", 10, ["true"], []))
    assert time.monotonic() - began < 30
    assert (status, out[-1]) == (1, "1 passed, 1 failed")
    assert any("twice the stage's budget" in line for line in out)
    assert gone(int(note.read_text()))


def test_what_a_stage_leaves_behind_is_stopped_and_counted(tmp_path):
    note = tmp_path / "pid"
    daemon = "setsid bash -c 'trap \"\" TERM HUP; echo $$ > %s; while :; do sleep 0.2; done' >/dev/null 2>&1 &" % note
    wait = "until [ -s %s ]; do sleep 0.01; done" % note
    status, out = run(("leaky", 10, [daemon + " " + wait], []), ("two", 10, ["true"], []))
    assert (status, out[-1]) == (1, "2 passed, 1 failed")
    assert any(line.startswith("failed: leaky: left running: ") and "bash" in line for line in out)
    assert gone(int(note.read_text()))


def test_a_signal_stops_everything_and_still_counts(tmp_path):
    note = tmp_path / "pid"
    process = start([("one", 10, ["true"], []), ("two", 60, ["echo $$ > %s; sleep 300" % note], []),
                     ("three", 10, ["true"], [])])
    end = time.monotonic() + 30
    while not (note.exists() and note.read_text().strip()):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    out = process.communicate(timeout=30)[0].splitlines()
    assert process.returncode == 1
    assert out[-1] == "1 passed, 1 failed"
    assert "failed: two: signal SIGTERM" in out
    assert gone(int(note.read_text()))


@pytest.mark.parametrize("before", ["", LATE], ids=["known", "not-known-yet"])
def test_a_signal_stops_all_that_run_side_by_side(tmp_path, before):
    notes = [tmp_path / "pid-0", tmp_path / "pid-1"]
    process = start([("one", 60, [["echo $$ > %s; sleep 300" % note for note in notes]], [])], before)
    end = time.monotonic() + 30
    while not all(note.exists() and note.read_text().strip() for note in notes):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    out = process.communicate(timeout=30)[0].splitlines()
    assert process.returncode == 1 and out[-1].startswith("0 passed, ")
    assert "failed: one: signal SIGTERM" in out
    assert all(gone(int(note.read_text())) for note in notes)


def test_killed_outright_its_command_ends_too(tmp_path):
    note = tmp_path / "pid"
    process = start([("one", 60, ["echo $$ > %s; exec sleep 300" % note], [])])
    end = time.monotonic() + 30
    while not (note.exists() and note.read_text().strip()):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.communicate(timeout=30)
    assert gone(int(note.read_text()))


# --- stages beside each other ---------------------------------------------------------------------

def until(path):
    return "until [ -e %s ]; do sleep 0.01; done" % path


def test_stages_of_two_lanes_run_beside_each_other_and_what_they_say_is_not_mixed(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    say = "for i in 1 2 3; do echo %s; sleep 0.05; done"
    status, out = run(("left", 20, ["touch %s; %s" % (a, until(b)), say % "hello-left"], [], "l"),
                      ("right", 20, ["touch %s; %s" % (b, until(a)), say % "hello-right"], [], "r"))
    assert (status, out[-1]) == (0, "4 passed, 0 failed")
    for side in ("left", "right"):
        first, last = (next(i for i, line in enumerate(out) if line.startswith(mark % side)) for mark in ("=== %s:", "--- %s:"))
        assert out[first:last + 1].count("hello-" + side) == 3
        assert not any("hello-" in line and side not in line for line in out[first:last + 1])


def test_of_a_lane_one_runs_at_a_time_and_who_is_alone_comes_last(tmp_path):
    """Each would find the other's folder."""
    inside = tmp_path / "inside"
    exclusive = "mkdir %s && sleep 0.2 && rmdir %s" % (inside, inside)
    over = [tmp_path / name for name in ("one", "two", "three")]
    alone = " && ".join("[ -e %s ]" % path for path in over) + " && " + exclusive
    status, out = run(("alone", 10, [alone], [], "alone"), ("one", 10, [exclusive, "touch %s" % over[0]], []),
                      ("two", 10, [exclusive, "touch %s" % over[1]], []),
                      ("three", 10, ["sleep 0.6; touch %s" % over[2]], [], "another"),
                      ("again", 10, [exclusive], [], "alone"))
    assert (status, out[-1]) == (0, "7 passed, 0 failed"), out
    assert [line.split()[0] for line in out[-6:-1]] == ["alone", "one", "two", "three", "again"], "in the order of the table"


def test_a_need_is_waited_for_in_another_lane(tmp_path):
    made = tmp_path / "made"
    status, out = run(("user", 10, ["[ -e %s ]" % made], ["maker"], "u"), ("maker", 10, ["sleep 0.3; touch %s" % made], [], "m"))
    assert (status, out[-1]) == (0, "2 passed, 0 failed")


def test_what_computes_gives_way_and_what_waits_does_not():
    """All that a stage starts is scheduled as it is."""
    idle = "[ $(ps -o cls= -p $$) = IDL ]"
    status, out = run(("computes", 10, [idle, "bash -c '%s'" % idle], [], "cores"), ("waits", 10, ["! " + idle], [], "suite"),
                      ("serves", 10, ["! " + idle], [], "plane"))
    # Of a machine whose tests give way as a whole nothing can be seen.
    assert (status, out[-1]) == (0, "4 passed, 0 failed") or os.sched_getscheduler(0) == os.SCHED_IDLE, out


def test_what_fails_beside_others_costs_only_those_that_need_it(tmp_path):
    """One takes too long, one leaves something behind, one loses its process, and none of it is another's."""
    pid, note = tmp_path / "pid", tmp_path / "note"
    daemon = "setsid sleep 300 >/dev/null 2>&1 & echo $! > %s" % pid
    status, out = run(("slow", 0.5, ["echo $$ > %s; sleep 300" % note], [], "a"), ("leaky", 10, [daemon], [], "b"),
                      ("lost", 10, ["kill -9 $PPID; sleep 300"], [], "c"), ("good", 10, ["sleep 1"], [], "d"),
                      ("needs", 10, ["true"], ["lost", "good"], "e"))
    assert (status, out[-1]) == (1, "2 passed, 4 failed"), out
    told = [line for line in out if line.startswith("failed: ")]
    assert sorted({line.split(":")[1].strip() for line in told}) == ["leaky", "lost", "needs", "slow"]
    assert "failed: needs: not run: lost failed" in told and "failed: leaky: left running: sleep" in told
    assert any(line.startswith("failed: lost: its process ended without a count") for line in told)
    assert gone(int(pid.read_text())) and gone(int(note.read_text()))


def test_a_signal_stops_the_stages_that_run_beside_each_other(tmp_path):
    notes = [tmp_path / "pid-0", tmp_path / "pid-1"]
    process = start([("one", 60, ["true", "echo $$ > %s; sleep 300" % notes[0]], [], "a"),
                     ("two", 60, ["true", "echo $$ > %s; sleep 300" % notes[1]], [], "b"), ("three", 10, ["true"], [], "b")])
    end = time.monotonic() + 30
    while not all(note.exists() and note.read_text().strip() for note in notes):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=30)[0].splitlines()
    assert (process.returncode, out[-1]) == (1, "2 passed, 2 failed")
    assert {"failed: one: signal SIGINT", "failed: two: signal SIGINT"} < set(out)
    assert not any("three" in line for line in out)
    assert all(gone(int(note.read_text())) for note in notes)


CRITERION = """<?xml version="1.0"?><testsuites name="Criterion Tests">
<testsuite name="a"><testcase name="one" status="PASSED"/><testcase name="two" status="FAILED"><failure
 type="assert" message="1 failed"><![CDATA[x.c:2: one is 1
x.c:3: and two]]></failure></testcase>
<testcase name="three" status="ERRORED"><error type="crash" message="The test crashed."/></testcase><testcase name="four" status="SKIPPED"><skipped message="why"/></testcase>
</testsuite></testsuites>"""


def meson_log(tmp_path, *entries):
    path = tmp_path / "log.json"
    path.write_text("".join('{"name": "aliquot:unit / %s", "result": "%s", "command": ["w", "d", "/b/%s"]}\n' % e
                            for e in entries))
    return str(path)


def test_criterion_cases_are_counted(tmp_path):
    (tmp_path / "t1.xml").write_text(CRITERION)
    tally = reports.meson(meson_log(tmp_path, ("x/y", "FAIL", "t1")), str(tmp_path))
    assert (tally.passed, tally.failures, tally.skips) == (1, ["a/two: x.c:2: one is 1 x.c:3: and two", "a/three: The test crashed."],
                                                          [("a/four", "why")])


def test_a_program_that_crashed_or_left_no_report_failed(tmp_path):
    (tmp_path / "t2.xml").write_text('<?xml version="1.0"?><testsuites></testsuites>')
    (tmp_path / "t4.xml").write_text("<testsuites><cut")
    log = meson_log(tmp_path, ("x/crash", "FAIL", "t1"), ("x/empty", "OK", "t2"), ("x/silent", "OK", "t3"),
                    ("x/cut", "OK", "t4"))
    tally = reports.meson(log, str(tmp_path))
    assert tally.passed == 0
    assert [f.split(":")[0] for f in tally.failures] == ["x/crash", "x/empty", "x/silent", "x/cut"]


def test_pytest_cases_are_counted(tmp_path):
    path = tmp_path / "r.xml"
    path.write_text('<testsuites><testsuite><testcase classname="m" name="a"/><testcase classname="m" name="b">'
                    '<failure message="assert 1 == 2"/></testcase><testcase classname="m" name="c"><error/></testcase>'
                    '<testcase classname="m" name="d"><skipped message="no kwok"/></testcase></testsuite></testsuites>')
    tally = reports.junit(str(path))
    assert (tally.passed, tally.failures, tally.skips) == (1, ["m::b: assert 1 == 2", "m::c"], [("m::d", "no kwok")])
    assert tally.line() == "1 passed, 2 failed, 1 skipped"


def test_what_was_dealt_and_not_run_is_named(tmp_path):
    assert reports.undealt(str(tmp_path)) == []
    (tmp_path / "all").write_text("m.py::a\nm.py::b[x y]\nn.py::c\n")
    (tmp_path / "done").write_text("n.py::c\nm.py::a\n")
    assert reports.undealt(str(tmp_path)) == ["m.py::b[x y]"]
