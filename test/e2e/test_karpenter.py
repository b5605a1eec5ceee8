"""C14, C39: nodes that Karpenter makes and takes away, itself, for tenants that share their GPUs."""

import pytest

import fleet
import karpenter
from growing import POOL, clear, deploy, homes, of, uids, wait_budget, wait_moved
from helpers import gates, note, placed
from karpenter import Karpenter, instance_type
from waiting import holds_for, wait_until

STACK = {"nodes": [], "arguments": ["--scale-up-seconds=1", "--scale-up-serve-seconds=30", "--idle-grace-seconds=1"],
         "kubelet_arguments": ["--adopt", karpenter.NODES]}
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
    clear(stack)
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


def test_c39_a_free_gpu_that_does_not_suit_is_in_nobodys_way(stack, grower, name):
    """Karpenter leaves out pods that say something of nodes' names: what waits for a node must not name those that it
    is not to go to."""
    pod, other = name(), "elsewhere"
    fleet.create(stack.api, [other], gpus=1)
    try:
        stack.create_pod(pod, fraction="0.6", nodeSelector={POOL: "shared"})
        wait_until(grower.nodes, 90, told(stack, grower))
        there = stack.wait_running(pod, 90)
        assert there["spec"]["nodeName"] == grower.nodes()[0]["metadata"]["name"]
    finally:
        stack.api.delete("nodes", other)


def test_c39_a_label_that_comes_late_makes_no_second_node(stack, grower, name):
    """GPU feature discovery labels a node when it runs: no template has that label."""
    pod = name()
    stack.create_pod(pod, fraction="0.6", nodeSelector={POOL: "shared", PRODUCT: "H100"})
    wait_until(grower.nodes, 90, told(stack, grower))
    wait_until(lambda: any(p["spec"].get("nodeName") for p in stack.api.list(
        "pods", namespace="aliquot-system", labelSelector="aliquot.dev/companion=true")), 60, told(stack, grower))
    # Longer than Karpenter leaves an empty node, and than a tenant waits before it asks; shorter than the node counts.
    holds_for(lambda: len(grower.claims()) == 1 and len(grower.nodes()) == 1, 12, told(stack, grower))
    stack.api.patch("nodes", grower.nodes()[0]["metadata"]["name"], {"metadata": {"labels": {PRODUCT: "H100"}}})
    stack.wait_running(pod, 60)
    assert len(grower.claims()) == 1


def test_c39_a_type_whose_label_never_fits_makes_one_node_and_no_second(stack, grower, name):
    """The node counts for a while; then its group rests, and Karpenter takes the node away."""
    pod = name()
    stack.create_pod(pod, fraction="0.6", nodeSelector={POOL: "shared", PRODUCT: "H900"})
    wait_until(grower.nodes, 90, told(stack, grower))
    first, = {c["metadata"]["uid"] for c in grower.claims()}
    wait_until(lambda: placed(stack.get_pod(pod)).get("reason") == "NoScaleUp", 120, told(stack, grower))
    wait_until(lambda: not grower.claims(), 90, told(stack, grower))
    # Longer than it waits before it asks, and than Karpenter gathers who waits.
    holds_for(lambda: {c["metadata"]["uid"] for c in grower.claims()} <= {first}, 15, told(stack, grower))


# --- nodes with tenants --------------------------------------------------------------------------

KEEP = "karpenter.sh/do-not-disrupt"


def drift(grower, value):
    """Nodes of the pool are not as its template says any more."""
    grower.relabel("shared", {POOL: "shared", "example.com/edition": value})


def test_c39_a_node_with_tenants_that_drifted_is_replaced_within_its_grace(stack, grower, name):
    web = name()
    deploy(stack, web, 2, "0.4")
    wait_until(lambda: len(of(stack, web)) == 2, 120, told(stack, grower))
    old, before = homes(of(stack, web)), uids(of(stack, web))
    wait_budget(stack, web)
    drift(grower, "second")
    wait_moved(stack, web, old, 2, told(stack, grower))
    wait_until(lambda: len(of(stack, web)) == 2, 60, told(stack, grower))
    there = of(stack, web)
    assert not before & uids(there)
    assert {note(pod, "gpu-uuid") is not None and not gates(pod) for pod in there} == {True}
    assert stack.leader().metric("aliquot_orphaned_gpus") == 0


def test_c39_a_node_with_a_tenant_that_must_not_be_disrupted_is_left_alone(stack, grower, name):
    web = name()
    deploy(stack, web, 1, "0.4", annotations={KEEP: "true"})
    wait_until(lambda: len(of(stack, web)) == 1, 120, told(stack, grower))
    pod, = of(stack, web)
    capacity = stack.get_pod(note(pod, "capacity-pod"), "aliquot-system")
    assert capacity["metadata"]["labels"]["aliquot.dev/in-use"] == "true"
    drift(grower, "third")
    claim, = grower.claims()
    wait_until(lambda: grower.is_drifted(claim["metadata"]["name"]), 120, told(stack, grower))

    def stays():
        node = stack.api.get("nodes", pod["spec"]["nodeName"])
        return [p["metadata"]["uid"] for p in of(stack, web)] == [pod["metadata"]["uid"]] and \
            len(grower.claims()) == 1 and not node["spec"].get("taints")
    # Karpenter looks every ten seconds.
    holds_for(stays, 25, told(stack, grower))
