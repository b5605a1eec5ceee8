"""What healing does over days: it goes back step by step, and undoes a shrink that breaks a workload."""

import pytest

from helpers import events, note
from test_healing import HEALED, OUT_OF_MEMORY, STACK
from test_healing import fixture_healing  # noqa: F401, what the tests here stand on
from waiting import wait_until

__all__ = ["STACK"]
APART = True
HOUR = 3600


def kill(healing, code=1, message=""):
    pod, = healing.pods()
    _, (restarts,) = healing.life()
    healing.wait(lambda: pod_runs(healing), "it to run")
    healing.end(pod, code, message)
    healing.wait(lambda: healing.life()[1] == [restarts + 1], "its restart")


def pod_runs(healing):
    return all("running" in s["state"] for p in healing.pods() for s in p["status"]["containerStatuses"])


@pytest.mark.timeout(600)
def test_h5_it_stays_for_the_hold_and_goes_step_by_step(healing):  # noqa: F811
    """Healed once, and from then on it uses next to nothing: a day with what it got, then a step each half hour."""
    healing.tenant()
    life = healing.life()
    healing.mib = 4096
    healing.later(0)
    kill(healing, message=OUT_OF_MEMORY)
    healing.wait(lambda: healing.share() == HEALED, "its share to grow")
    healing.mib = 1024
    healing.later(23 * HOUR)
    assert healing.share() == HEALED and healing.condition("ScaleDownBlocked")[:2] == ("True", "Healing")
    healing.later(HOUR)
    for share in ("6400", "5376"):
        # A minute counts when it is over.
        healing.wait(lambda: healing.share() == share, share, forward=20)  # pylint: disable=cell-var-from-loop
        healing.later(1500)
        assert healing.share() == share
        healing.later(400)
    assert healing.life() == (life[0], [1])


@pytest.mark.timeout(600)
def test_h11_a_shrink_that_breaks_it_is_undone(healing):  # noqa: F811
    """40 % become 20 %, and it restarts twice within 10 minutes: it has 40 % again and keeps them for 72 hours."""
    healing.percent = 31
    pod = healing.tenant()

    def compute():
        now, = healing.pods()
        assert now["metadata"]["uid"] == pod["metadata"]["uid"]
        return note(now, "compute-milli")
    assert compute() == "400"
    healing.percent, healing.mib = 15, 5700
    # Long enough for one figure to count more than all before it: one step, not several.
    healing.later(2 * HOUR)
    healing.wait(lambda: compute() == "200", "its share to shrink", forward=20)
    for _ in range(2):
        kill(healing, code=137)
    healing.wait(lambda: compute() == "400", "it to be undone")
    healing.wait(lambda: (healing.condition("Paused") or "?")[0] == "True" and all(
        (healing.condition(kind) or ())[:2] == ("True", "Rollback") for kind in ("Healing", "ScaleDownBlocked")),
                 "that to be told")
    event, = wait_until(lambda: events(healing.stack, healing.grec(), "RolledBack"), 60, "the event")
    assert event["type"] == "Warning" and "restarted 2 times within 10 minutes" in event["message"], event
    wait_until(lambda: events(healing.stack, healing.grec(), "AutomationPaused"), 60, "the other event")
    healing.later(71 * HOUR)
    assert compute() == "400" and healing.condition("Paused")[0] == "True"
    healing.later(2 * HOUR)
    healing.wait(lambda: compute() != "400", "it to shrink again", forward=20)
    healing.wait(lambda: (healing.condition("Paused") or "?")[0] != "True", "the end of that to be told")
