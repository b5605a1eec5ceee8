"""Two replicas of the controller while running pods are replaced (U18)."""

import contextlib

import pytest

from helpers import is_tenant
from test_rolling import STACK as ROLLING
from test_rolling import WHERE, is_there
from test_rolling import fixture_rolling  # noqa: F401, what the test here stands on
from waiting import Timeout, wait_until
from watching import PodWatch

STACK = dict(ROLLING, nodes=[(WHERE, 6)], controllers=2)


@contextlib.contextmanager
def all_of(rolling, name):
    """({uid of a pod that came whole}, {uid of a tenant}), all that there ever were."""
    whole, tenants = set(), set()

    def look(pods):
        for pod in filter(is_there, pods):
            (tenants if is_tenant(pod) else whole).add(pod["metadata"]["uid"])
    with PodWatch(rolling.api, rolling.space, "app=" + name, look):
        yield whole, tenants


@pytest.mark.timeout(600)
def test_u18_the_other_goes_on_and_evicts_nobody_twice(rolling):  # noqa: F811
    """The leader ends in the middle of an eviction: the other leads within 30 s and brings the rest to a share. Whoever
    has one stays."""
    leader = rolling.stack.wait_leader()
    standby = next(c for c in rolling.stack.controllers if c is not leader)
    leader.arm("after Evict")
    rolling.deploy("web", 3)
    with rolling.watched("web"), all_of(rolling, "web") as (whole, tenants):
        for _ in range(100):
            if not leader.alive():
                break
            rolling.forward(20)
            with contextlib.suppress(Timeout):
                wait_until(lambda: not leader.alive(), 1, "its end")
        leader.wait_crashed()
        wait_until(standby.leads, 30, "the other to lead", ignore=(OSError,))
        rolling.wait_later(lambda: all(is_tenant(p) for p in rolling.running("web")) and
                           len(rolling.running("web")) == 3, "all to have a share", 400)
    # One that came while the webhook still was the dead one's came whole, and went as well.
    assert len(tenants) == 3 and len(whole) in (3, 4) and rolling.fewest >= 2, (tenants, whole, rolling.fewest)
