"""A workload that leaks is not healed for ever."""

import pytest

from helpers import events
from test_healing import POLICY
from test_healing import fixture_healing  # noqa: F401, what the test here stands on
from test_healing_days import HOUR
from test_healing_days import STACK  # noqa: F401, the same one
from waiting import wait_until

HOURS = dict(POLICY["history"], windowSeconds=12 * HOUR)


def next_hour(healing, mib):
    """It uses so much as of twenty minutes into the next hour of policy time, so that no hour is left out however long
    all this takes. Whoever reads it between the two finds the former figure: no hour ever has the next one's peak."""
    leader = healing.stack.leader()
    now = leader.policy_time()
    leader.forward(int((now // HOUR + 1) * HOUR + 1200 - now))
    healing.mib = mib
    # Twice: it is looked as often at what was read as it is read, and of two readings it may see one.
    for _ in range(2):
        healing.exporter.wait_read()


def grows(healing, share):
    """It uses nearly all of its share until it has this one. Time goes on in small steps, between which there are always
    figures; all of them stay within the hour."""
    healing.wait(lambda: healing.share() == share, "its share to grow", 60, forward=20)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("healing", [{"history": HOURS}], indirect=True)
def test_h12_a_leak_stops_growing(healing):  # noqa: F811
    """More each hour: it gets more twice, and once that has gone on for six hours no more, whatever it uses."""
    healing.tenant()
    grows(healing, "7424")
    next_hour(healing, 7168)
    grows(healing, "8960")
    for _ in range(5):
        assert healing.condition("LeakSuspected") is None
        next_hour(healing, healing.mib + 200)
    healing.wait(lambda: healing.condition("LeakSuspected") is not None, "that to be told")
    assert healing.condition("LeakSuspected")[:2] == ("True", "GrowsWithoutPlateau")
    wait_until(lambda: events(healing.stack, healing.grec(), "LeakSuspected"), 60, "the event")
    next_hour(healing, 8960)
    # Longer than it takes to grow, in steps after which what was read last still counts.
    for _ in range(6):
        healing.stack.leader().forward(80)
        healing.exporter.wait_read()
    healing.later(0)
    assert healing.share() == "8960" and healing.target() == "8960Mi"
