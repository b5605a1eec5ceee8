"""A workload on the only GPU of its node: nothing has room beside it (U4)."""

import pytest

from helpers import is_tenant, is_whole, note
from test_surge import STACK as SURGING
from test_surge import applied, surging_in

ONLY = "crowded-0"
STACK = dict(SURGING, nodes=[(ONLY, 1)])
GOES_FIRST = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}


@pytest.mark.timeout(600)
def test_u4_without_room_it_runs_on_until_its_owner_rolls_it_out(stack, name):
    """The only pod stays on its whole GPU and people are told why; the next rollout of theirs makes a pod with a share."""
    with applied(stack), surging_in(stack, name, ONLY) as surging:
        surging.make("web", strategy=GOES_FIRST)
        old, = surging.pods(app="web")
        before = surging.frozen("web")
        with surging.watched("web"):
            surging.wait_later(lambda: surging.blocked("web")[0] == "NoSurgeCapacity", "that to be told", 200)
            surging.forward(900)
            surging.wait_later(lambda: surging.blocked("web")[0] == "NoSurgeCapacity", "that to be told again", 60)
        assert surging.fewest == 1 and surging.uids == {old["metadata"]["uid"]} and not surging.beside()
        assert surging.frozen("web") == before
        assert is_whole(surging.api.get("pods", old["metadata"]["name"], surging.space))

        surging.api.patch("deployments", "web", {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}},
                          surging.space)
        surging.wait(lambda: surging.converted("web") and surging.at_rest("web"), "their rollout to end", 180)
        new, = surging.pods(app="web")
        assert is_tenant(new) and (note(new, "share"), note(new, "memory")) == ("0.30", "7Gi")
        assert new["metadata"]["annotations"]["v"] == "2"
