"""A workload on the only GPU of its node: nothing has room beside it (U4)."""

import pytest

from helpers import is_tenant, is_whole, note
from test_rolling import is_ready
from test_surge import STACK as SURGING
from test_surge import fixture_overlay, surging_in  # noqa: F401, the overlay is what the test here stands on

ONLY = "crowded-0"
STACK = dict(SURGING, nodes=[(ONLY, 1)])
GOES_FIRST = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}


def left_whole(surging):
    """How many pods a review left whole, but for those of a moment without a leader or a fresh picture (C2)."""
    def counted(reason=""):
        return sum(c.metric('aliquot_admission_total{verdict="whole"' + reason) for c in surging.stack.controllers)
    return counted() - sum(counted(',reason="%s"' % reason) for reason in ("ControllerAway", "NotSynced"))


def roll_out(surging, version):
    """A person's rollout; its pod, once it is Ready."""
    surging.api.patch("deployments", "web", {"spec": {"template": {"metadata": {"annotations": {"v": str(version)}}}}},
                      surging.space)

    def made():
        pods = surging.pods(app="web")
        return [pod for pod in pods if len(pods) == 1 and is_ready(pod) and
                pod["metadata"].get("annotations", {}).get("v") == str(version)]
    return surging.wait(made, "their rollout %d to end" % version, 180)[0]


def roll_out_until_shared(surging):
    """Where the review got no answer in time the pod is whole, as it should be, and nothing has room beside that one either:
    the next rollout makes the next pod. Whoever was asked must not have left it whole."""
    whole = left_whole(surging)
    for version in range(2, 8):
        pod = roll_out(surging, version)
        assert left_whole(surging) == whole, "a review left it whole\n" + surging.stack.logs()
        if is_tenant(pod):
            break
    surging.wait(lambda: surging.converted("web") and surging.at_rest("web"), "a pod with a share")


@pytest.mark.timeout(900)
def test_u4_without_room_it_runs_on_until_its_owner_rolls_it_out(stack, name):
    """The only pod stays on its whole GPU and people are told why; the next rollout of theirs makes a pod with a share."""
    with surging_in(stack, name, ONLY) as surging:
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

        roll_out_until_shared(surging)
        new, = surging.pods(app="web")
        assert is_tenant(new) and (note(new, "share"), note(new, "memory")) == ("0.30", "7Gi")
        assert int(new["metadata"]["annotations"]["v"]) >= 2
