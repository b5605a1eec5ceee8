"""A pod that got a recommended share and that nobody can place although it would run whole goes back to whole, on the
real control plane with played kubelets (C35)."""

import pytest

import asking
from helpers import P, events, gates, is_whole, on, placed
from test_recommended import Recommended, target
from waiting import wait_until

STACK = {"nodes": [("broken", 4)],
         "arguments": ["--idle-grace-seconds=2", "--open-timeout-seconds=5", "--rightsizing-seconds=5"]}


@pytest.fixture
def giving_back(stack):
    account = stack.plane.client_of_token(stack.api.mint_token("aliquot-controller", "aliquot-system"))
    with asking.namespace(stack) as space:
        stack.api.create("gpupolicies", {
            "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUPolicy", "metadata": {"name": space},
            "spec": {"mode": "Automate", "update": {"giveBackAfterMinutes": 1}, "selector": {"namespaceSelector": {
                "matchLabels": {"kubernetes.io/metadata.name": space}}}}})
        try:
            yield Recommended(stack, space, account)
        finally:
            stack.kubelet.fault("no-identity", node="broken", on=False)
            stack.api.delete("gpupolicies", space)


def condition(stack, space, name, which):
    found = stack.api.get("gpurecommendations", name, namespace=space)
    return next((c for c in found["status"].get("conditions", []) if c["type"] == which), {})


def test_one_that_nobody_can_place_goes_back_to_whole(stack, giving_back):
    space = giving_back.space
    stack.kubelet.fault("no-identity", node="broken")
    own = giving_back.recommend("Deployment", "web", **target(30, "8Gi"))
    giving_back.wait_would("web", lambda pod: P + "gpu" in gates(pod), "the recommendation to be known")
    giving_back.deploy("web", "broken")
    first, = wait_until(lambda: giving_back.pods("web"), 60, "its pod")
    assert gates(first) == [P + "gpu"]
    wait_until(lambda: placed(stack.get_pod(first["metadata"]["name"], space)).get("status") == "False", 60,
               "it to be told why it waits")
    if stack.leader().can_crash():
        # Most of the policy's minute passes.
        stack.leader().forward(40)

    def ran_whole():
        return next((p for p in giving_back.pods("web") if is_whole(p) and p["status"].get("phase") == "Running"), None)
    wait_until(ran_whole, 240, lambda: "a whole pod; %s\n%s" % (
        stack.api.list("gpurecommendations", space), stack.logs()))
    told = condition(stack, space, own, "Paused")
    assert told.get("status") == "True" and told["reason"] == "GivenBack", told
    # Those that come next are whole, too.
    assert is_whole(giving_back.next_pod("web"))


def test_a_bare_pod_that_nobody_can_place_is_told_so(stack, giving_back):
    """Nobody makes it anew: it stays, and its owner hears what to do, once."""
    space = giving_back.space
    stack.kubelet.fault("no-identity", node="broken")
    pod = stack.create_pod("bare", namespace=space, fraction="0.5", **on("broken"))
    assert gates(pod) == [P + "gpu"]
    told = wait_until(lambda: events(stack, pod, "WaitsInVain"), 240, lambda: "its event\n" + stack.logs())
    assert "create it again" in told[0]["message"], told
    now = stack.get_pod("bare", space)
    assert now["metadata"]["uid"] == pod["metadata"]["uid"] and gates(now) == [P + "gpu"]
    stack.api.delete("pods", "bare", space, grace=0)
