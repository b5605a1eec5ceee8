"""The benches' look at what others did while they timed something (test/bench/_others.py), with played clocks."""
import os
import subprocess
import sys

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TREE, "test", "bench"))

import _others  # noqa: E402

CORES, LENGTH_S = 2, 10


def played(*others):
    """Clocks of one run after the other, in each of which others took (seconds of programs, seconds of the host)."""
    now = {"busy": 100.0, "idle": 50.0, "stolen": 1.0, "own": 20.0, "at": 1000.0}
    looks = []
    for elsewhere, stolen in others:
        looks.append(dict(now))
        own = 8.0
        now["own"] += own
        now["busy"] += own + elsewhere
        now["stolen"] += stolen
        now["idle"] += CORES * LENGTH_S - own - elsewhere - stolen
        now["at"] += LENGTH_S
        looks.append(dict(now))
    looks.reverse()
    return lambda _roots: looks.pop()


def counter():
    numbers = iter(range(1, 100))
    return lambda: next(numbers)


@pytest.mark.parametrize("elsewhere,stolen,disturbed", [
    (0.0, 0.0, False), (0.9, 0.0, False), (1.2, 0.0, True), (0.0, 1.2, True), (0.6, 0.6, True), (9.0, 0.0, True),
    (-3.0, 0.0, False)])
def test_what_others_took(elsewhere, stolen, disturbed):
    """A twentieth of two cores in ten seconds is one second. A negative one is the grain of the clocks."""
    clocks = played((elsewhere, stolen))
    found = _others.between(clocks(()), clocks(()))
    assert found["disturbed"] == disturbed
    assert found["elsewhere_s"] == max(0.0, elsewhere) and found["stolen_s"] == stolen
    assert found["own_s"] == 8.0 and found["took_s"] == LENGTH_S


def test_a_disturbed_run_is_made_again_until_one_is_not():
    said = []
    result, others = _others.undisturbed(counter(), tries=3, told=said.append,
                                         clocks=played((5.0, 0.0), (0.0, 3.0), (0.1, 0.0), (0.0, 0.0)))
    assert result == 3 and not others["disturbed"] and others["tries"] == 3
    assert len(said) == 2 and "25.0 %" in said[0] and "15.0 %" in said[1]


def test_where_all_are_disturbed_the_least_counts_and_says_so():
    result, others = _others.undisturbed(counter(), tries=3, told=str, clocks=played((5.0, 0.0), (2.0, 0.0), (6.0, 0.0)))
    assert result == 2 and others["disturbed"] and others["others_percent"] == 10.0 and others["tries"] == 3
    assert _others.summary([others, dict(others, disturbed=False)])["disturbed"]
    assert not _others.summary([dict(others, disturbed=False)])["disturbed"]


def test_a_run_that_nobody_disturbs_is_made_once():
    assert _others.undisturbed(counter(), clocks=played((0.2, 0.0), (0.2, 0.0)))[1]["tries"] == 1


def test_the_clocks_of_a_machine():
    found = _others.of_machine("cpu  100 20 30 4000 50 6 7 80 9 9\ncpu0 1 1 1 1 1 1 1 1\n")
    ticks = _others.TICKS
    assert found == {"busy": pytest.approx(163 / ticks), "idle": pytest.approx(4050 / ticks),
                     "stolen": pytest.approx(80 / ticks)}


def stat(parent, *times):
    return "1 (a (strange) name) S %d 0 0 0 0 0 0 0 0 0 %s 20 0 1 0 5" % (parent, " ".join(map(str, times)))


def test_ours_are_all_that_descend_from_us():
    stats = {1: stat(0, 1000, 0, 0, 0), 10: stat(1, 100, 10, 5, 1), 11: stat(10, 40, 0, 0, 0), 12: stat(11, 3, 0, 0, 0),
             20: stat(1, 7, 0, 0, 0), 30: stat(1, 500, 0, 0, 0), 31: stat(30, 500, 0, 0, 0)}
    assert _others.of_processes(stats, {10}) == pytest.approx(159 / _others.TICKS)
    assert _others.of_processes(stats, {10, 20}) == pytest.approx(166 / _others.TICKS)


def test_what_we_compute_ourselves_is_ours():
    """On the real clocks: a child's work is counted, living or ended."""
    before = _others.look()
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"], check=True)
    assert _others.look()["own"] - before["own"] >= 0.25


def test_every_bench_that_takes_times_asks():
    """A bench whose result is a time of this machine marks what was disturbed."""
    folder = os.path.join(TREE, "test", "bench")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") and not name.startswith("_"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                assert "_others." in file.read(), name
