"""C14, C39: nodes that Karpenter makes and takes away, itself, for tenants that share their GPUs."""

import functools

import pytest

import fleet
import karpenter
from growing import POOL, clear, deploy, homes, of, of_pool, together, uids, wait_budget, wait_moved
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
        for pool in ("shared", "late", "never", "kept"):
            found.pool(pool, {POOL: pool})
        yield found


@pytest.fixture(name="grower")
def fixture_grower(karpenters, stack):
    """Karpenter, without a node of its own."""
    yield karpenters
    clear(stack)
    wait_until(karpenters.end_nodes, 120, told(stack, karpenters), every=0.5)


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
    # Then the tenants leave, and the node with them, by itself.
    clear(stack)
    wait_until(lambda: not grower.nodes() and not grower.claims(), 120, told(stack, grower))


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


def wait_node(stack, grower, name, pool, product):
    """A tenant for a GPU of that product, and the node that came for it, which has no such label."""
    stack.create_pod(name, fraction="0.6", nodeSelector={POOL: pool, PRODUCT: product})
    return wait_until(lambda: of_pool(grower.nodes(), pool), 90, told(stack, grower))[0]["metadata"]["name"]


def check_late(stack, grower, pod):
    """GPU feature discovery labels a node when it runs: no template has that label."""
    node = wait_node(stack, grower, pod, "late", "H100")
    wait_until(lambda: any(p["spec"].get("nodeName") == node for p in stack.api.list(
        "pods", namespace="aliquot-system", labelSelector="aliquot.dev/companion=true")), 60, told(stack, grower))
    # Longer than Karpenter leaves an empty node, and than a tenant waits before it asks; shorter than the node counts.
    holds_for(lambda: len(of_pool(grower.claims(), "late")) == 1 and len(of_pool(grower.nodes(), "late")) == 1, 12,
              told(stack, grower))
    stack.api.patch("nodes", node, {"metadata": {"labels": {PRODUCT: "H100"}}})
    stack.wait_running(pod, 60)
    assert len(of_pool(grower.claims(), "late")) == 1


def check_never(stack, grower, pod):
    """The node counts for a while; then its group rests, and Karpenter takes the node away."""
    wait_node(stack, grower, pod, "never", "H900")
    first, = uids(of_pool(grower.claims(), "never"))
    wait_until(lambda: not of_pool(grower.claims(), "never"), 180, told(stack, grower))
    # Longer than it waits before it asks, and than Karpenter gathers who waits.
    holds_for(lambda: uids(of_pool(grower.claims(), "never")) <= {first}, 15, told(stack, grower))
    wait_until(lambda: placed(stack.get_pod(pod)).get("reason") == "NoScaleUp", 120, told(stack, grower))


def test_c39_a_label_that_comes_late_or_never_makes_one_node_and_no_second(stack, grower, name):
    together(functools.partial(check_late, stack, grower, name()), functools.partial(check_never, stack, grower, name()))


# --- nodes with tenants --------------------------------------------------------------------------

KEEP = "karpenter.sh/do-not-disrupt"


def drift(grower, pool):
    """Nodes of the pool are not as its template says any more."""
    grower.relabel(pool, {POOL: pool, "example.com/edition": "second"})


def test_c39_a_node_with_tenants_that_drifted_is_replaced_and_not_where_one_must_not_be_disrupted(stack, grower, name):
    """The one that must not be has drifted first, so that its turn has come by the time that the other one has moved."""
    web, kept = name(), name()
    deploy(stack, web, 2, "0.4")
    deploy(stack, kept, 1, "0.4", "kept", annotations={KEEP: "true"})
    wait_until(lambda: (len(of(stack, web)), len(of(stack, kept))) == (2, 1), 120, told(stack, grower))
    pod, = of(stack, kept)
    capacity = stack.get_pod(note(pod, "capacity-pod"), "aliquot-system")
    assert capacity["metadata"]["labels"]["aliquot.dev/in-use"] == "true"
    old, before = homes(of(stack, web)), uids(of(stack, web))
    wait_budget(stack, web)
    drift(grower, "kept")
    claim, = of_pool(grower.claims(), "kept")
    wait_until(lambda: grower.is_drifted(claim["metadata"]["name"]), 120, told(stack, grower))
    drift(grower, "shared")

    def stays():
        node = stack.api.get("nodes", pod["spec"]["nodeName"])
        return uids(of(stack, kept)) == {pod["metadata"]["uid"]} and \
            len(of_pool(grower.claims(), "kept")) == 1 and not node["spec"].get("taints")
    # Karpenter looks every ten seconds.
    together(lambda: wait_moved(stack, web, old, 2, told(stack, grower)), lambda: holds_for(stays, 25, told(stack, grower)))
    assert stays()
    wait_until(lambda: len(of(stack, web)) == 2, 60, told(stack, grower))
    there = of(stack, web)
    assert not before & uids(there)
    assert {note(each, "gpu-uuid") is not None and not gates(each) for each in there} == {True}
    assert stack.leader().metric("aliquot_orphaned_gpus") == 0
