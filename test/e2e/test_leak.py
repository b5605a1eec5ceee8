"""A workload that leaks is not healed for ever."""

import pytest

from helpers import events
from test_healing import POLICY
from test_healing import fixture_healing  # noqa: F401, what the test here stands on
from test_healing_days import HOUR
from test_healing_days import STACK  # noqa: F401, the same one
from waiting import wait_until

HOURS = dict(POLICY["history"], windowSeconds=12 * HOUR)


def next_hour(healing):
    """Twenty minutes into the next hour of policy time, so that none is left out however long all this takes."""
    now = healing.stack.leader().policy_time()
    healing.later((now // HOUR + 1) * HOUR + 1200 - now)


def stay_near(healing):
    """It uses nearly all of its share for longer than 5 minutes, of which not one is without figures. A new pod's first
    figure may be told only after the first step."""
    for _ in range(4):
        healing.later(160)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("healing", [{"history": HOURS}], indirect=True)
def test_h12_a_leak_stops_growing(healing):  # noqa: F811
    """More each hour: it gets more twice, and once that has gone on for six hours no more, whatever it uses."""
    healing.tenant()
    stay_near(healing)
    healing.wait(lambda: healing.share() == "7424", "its share to grow")
    healing.mib = 7168
    next_hour(healing)
    stay_near(healing)
    healing.wait(lambda: healing.share() == "8960", "its share to grow again")
    for _ in range(5):
        assert healing.condition("LeakSuspected") is None
        healing.mib += 200
        next_hour(healing)
    healing.wait(lambda: healing.condition("LeakSuspected") is not None, "that to be told")
    assert healing.condition("LeakSuspected")[:2] == ("True", "GrowsWithoutPlateau")
    wait_until(lambda: events(healing.stack, healing.grec(), "LeakSuspected"), 20, "the event")
    healing.mib = 8960
    next_hour(healing)
    stay_near(healing)
    stay_near(healing)
    assert healing.share() == "8960" and healing.target() == "8960Mi"
