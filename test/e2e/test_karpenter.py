"""C14, C39: nodes that Karpenter makes and takes away, itself, for tenants that share their GPUs."""

import pytest

import karpenter
from helpers import note
from karpenter import Karpenter, instance_type
from waiting import holds_for, wait_until

STACK = {"nodes": [], "arguments": ["--scale-up-seconds=1", "--idle-grace-seconds=1"],
         "kubelet_arguments": ["--adopt", karpenter.NODES]}
POOL = "example.com/pool"
PRODUCT = "nvidia.com/gpu.product"
# The cheapest has no GPU, and the next one none to spare.
TYPES = [instance_type("plain", 0, 0.1), instance_type("one", 1, 1.0), instance_type("two", 2, 2.5)]


@pytest.fixture(name="karpenters", scope="module")
def fixture_karpenters(cp):
    with Karpenter(cp, TYPES) as found:
        found.pool("shared", {POOL: "shared"})
        yield found


@pytest.fixture(name="grower")
def fixture_grower(karpenters, stack):
    """Karpenter, without a node of its own."""
    yield karpenters
    for pod in stack.api.list("pods", namespace="default"):
        stack.api.delete("pods", pod["metadata"]["name"], "default", grace=1)
    wait_until(lambda: not karpenters.nodes() and not karpenters.claims(), 90, told(stack, karpenters))


def told(stack, grower):
    return lambda: "%s\n%s\n%s" % (stack.account(), grower.log(), [c["status"] for c in grower.claims()])


def test_c39_karpenter_makes_a_node_for_shares_from_zero_and_takes_it_away(stack, grower, name):
    pods = [name(), name()]
    for pod, fraction in zip(pods, ("0.6", "0.3")):
        stack.create_pod(pod, fraction=fraction, nodeSelector={POOL: "shared"})
    wait_until(grower.nodes, 90, told(stack, grower))
    there = [stack.wait_running(pod, 90) for pod in pods]
    assert len({pod["spec"]["nodeName"] for pod in there}) == 1 and len(grower.claims()) == 1, grower.claims()
    assert len({note(pod, "gpu-uuid") for pod in there}) == 1
    assert grower.nodes()[0]["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "one"
    # Then the tenants leave, and the node with them: the fixture waits for that.


def test_c39_a_label_that_comes_late_makes_no_second_node(stack, grower, name):
    """GPU feature discovery labels a node when it runs: no template has that label."""
    pod = name()
    stack.create_pod(pod, fraction="0.6", nodeSelector={POOL: "shared", PRODUCT: "H100"})
    wait_until(grower.nodes, 90, told(stack, grower))
    wait_until(lambda: any(p["spec"].get("nodeName") for p in stack.api.list(
        "pods", namespace="aliquot-system", labelSelector="aliquot.dev/companion=true")), 60, told(stack, grower))
    # Longer than Karpenter leaves an empty node, and than a tenant waits before it asks.
    holds_for(lambda: len(grower.claims()) == 1 and len(grower.nodes()) == 1, 12, told(stack, grower))
    stack.api.patch("nodes", grower.nodes()[0]["metadata"]["name"], {"metadata": {"labels": {PRODUCT: "H100"}}})
    stack.wait_running(pod, 60)
    assert len(grower.claims()) == 1
