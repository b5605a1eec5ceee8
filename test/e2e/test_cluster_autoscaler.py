"""C14, C39: nodes that Cluster Autoscaler would make and take away, by the rules of its source, for tenants that share their GPUs."""

import functools

import pytest

import fleet
import growing
import karpenter
from api import ApiError
from autoscaler import ClusterAutoscaler
from growing import deploy, homes, of, of_pool, together, uids, wait_budget, wait_moved
from helpers import note, placed
from test_karpenter import STACK
from waiting import holds_for, wait_until

__all__ = ["STACK"]
PRODUCT = "nvidia.com/gpu.product"
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
GOES = "ToBeDeletedByClusterAutoscaler"


def group(name, pool, gpus, price, **more):
    return {"name": name, "labels": growing.selector(pool), "gpus": gpus, "price": price, "most": 3, **more}


# The cheapest has no GPU.
GROUPS = [group("plain", "shared", 0, 0.1), group("one", "shared", 1, 1.0), group("late", "late", 1, 1.0, late=True),
          group("labelled", "labelled", 1, 1.0), group("never", "never", 1, 1.0), group("four", "wide", 4, 4.0)]


@pytest.fixture(name="scalers", scope="module")
def fixture_scalers(cp):
    # An empty node stays longer than the moment between whoever stood in for a tenant and its capacity pod.
    with ClusterAutoscaler(cp, GROUPS, unneeded_s=12, unready_s=60, after_add_s=4, after_taint_s=1, eviction_s=10) as found:
        yield found


@pytest.fixture(name="scaler")
def fixture_scaler(scalers, stack):
    """The autoscaler, without a node of its own."""
    yield scalers
    growing.clear(stack)
    # One that goes meanwhile cannot be emptied.
    wait_until(scalers.end_nodes, 120, told(stack, scalers), every=0.5, ignore=(OSError,))


@pytest.fixture(name="spare")
def fixture_spare(stack, name):
    """spare(): the name of a new node of no group, with GPUs that are free; it goes before the autoscaler's own do."""
    made = []

    def spare():
        made.append(name())
        key, _, value = karpenter.NODES.partition("=")
        fleet.create(stack.api, made[-1:], 4, labels={**growing.selector("wide"), key: value})
        fleet.wait_ready(stack.api, made[-1:])
        return made[-1]
    yield spare
    growing.clear(stack)
    wait_until(lambda: not stack.capacity_pods(), 60, stack.account)
    for each in made:
        stack.api.delete("nodes", each)


def told(stack, scaler):
    return lambda: "%s\n%s\n%s" % (stack.account(), scaler.log(), scaler.state())


def test_c39_scale_up_from_zero_and_the_end_of_an_empty_node(stack, scaler, name):
    before, pods = scaler.asked(), [name(), name()]
    for pod, fraction in zip(pods, ("0.6", "0.3")):
        stack.create_pod(pod, fraction=fraction, nodeSelector=growing.selector("shared"))
    there = [stack.wait_running(pod, 90) for pod in pods]
    assert len({note(pod, "gpu-uuid") for pod in there}) == 1
    node, = scaler.nodes()
    assert scaler.asked() == before + 1 and node["metadata"]["name"].startswith("one-"), scaler.log()
    # Then the tenants leave, and the node with them, by itself.
    growing.clear(stack)
    wait_until(lambda: not scaler.nodes(), 90, told(stack, scaler))


def test_c39_a_node_whose_gpus_come_late_makes_no_second_one(stack, scaler, name):
    before, pod = scaler.asked(), name()
    stack.create_pod(pod, fraction="0.6", nodeSelector=growing.selector("late"))
    wait_until(scaler.nodes, 90, told(stack, scaler))
    # Longer than a tenant waits before it asks, and not than an empty node stays: its time as an empty one goes on until
    # somebody is seen there, and between what stood in for the tenant and the capacity pod there are three seconds.
    holds_for(lambda: scaler.asked() == before + 1 and len(scaler.nodes()) == 1, 3, told(stack, scaler))
    scaler.give_gpus()
    stack.wait_running(pod, 60)
    assert scaler.asked() == before + 1, scaler.log()


def wait_node(stack, scaler, name, pool, product):
    """A tenant for a GPU of that product, and the node that came for it, which has no such label."""
    stack.create_pod(name, fraction="0.6", nodeSelector={**growing.selector(pool), PRODUCT: product})
    return wait_until(lambda: of_pool(scaler.nodes(), pool), 90, told(stack, scaler))[0]["metadata"]["name"]


def check_late(stack, scaler, pod):
    """What stands in for the tenant holds its GPU: it is no empty node."""
    node = wait_node(stack, scaler, pod, "labelled", "H100")
    wait_until(lambda: scaler.stays(node) == "NotUnderutilized", 30, told(stack, scaler))
    holds_for(lambda: len(of_pool(scaler.nodes(), "labelled")) == 1 and scaler.stays(node) == "NotUnderutilized", 14,
              told(stack, scaler))
    stack.api.patch("nodes", node, {"metadata": {"labels": {PRODUCT: "H100"}}})
    assert stack.wait_running(pod, 60)["spec"]["nodeName"] == node


def check_never(stack, scaler, pod):
    # Not that of test_karpenter, who has the same stack: for twenty minutes no node is asked for again that once came in vain.
    wait_node(stack, scaler, pod, "never", "H910")
    wait_until(lambda: not of_pool(scaler.nodes(), "never"), 180, told(stack, scaler))
    holds_for(lambda: not of_pool(scaler.nodes(), "never"), 10, told(stack, scaler))
    wait_until(lambda: placed(stack.get_pod(pod)).get("reason") == "NoScaleUp", 120, told(stack, scaler))


def test_c39_a_label_that_comes_late_or_never_makes_one_node_and_no_second(stack, scaler, name):
    before = scaler.asked()
    together(functools.partial(check_late, stack, scaler, name()), functools.partial(check_never, stack, scaler, name()))
    assert scaler.asked() == before + 2, scaler.log()


# --- nodes with tenants --------------------------------------------------------------------------


def on_its_node(stack, scaler, name, replicas, **more):
    """So many tenants on one GPU of a node of four that the autoscaler made: (their name, that node)."""
    web = name()
    deploy(stack, web, replicas, "0.4", "wide", **more)
    wait_until(lambda: len(of(stack, web)) == replicas, 120, told(stack, scaler))
    wait_budget(stack, web)
    node, = homes(of(stack, web))
    return web, node


def is_marked(stack, node):
    return any(taint["key"] == GOES for taint in stack.api.get("nodes", node)["spec"].get("taints", []))


def test_c39_a_node_with_tenants_stays_until_the_last_has_left(stack, scaler, spare, name):
    """They are tied to it by its name, so the simulation finds no other place for them, though there is one."""
    web, node = on_its_node(stack, scaler, name, 2)
    spare()
    before = uids(of(stack, web))
    wait_until(lambda: scaler.stays(node) == "NoPlaceToMovePods", 60, told(stack, scaler))
    holds_for(lambda: scaler.stays(node) == "NoPlaceToMovePods" and not is_marked(stack, node) and
              uids(of(stack, web)) == before, 10, told(stack, scaler))
    stack.api.delete("deployments", web, "default", propagationPolicy="Foreground")
    wait_until(lambda: stack.api.find("nodes", node) is None, 60, told(stack, scaler))


def test_c39_a_node_that_is_emptied_loses_its_tenants_within_their_budget(stack, scaler, spare, name):
    """They tolerate everything, and so the taint of a node that goes. They do not come back to it all the same."""
    web, node = on_its_node(stack, scaler, name, 2, tolerations=[{"operator": "Exists"}])
    other, before = spare(), uids(of(stack, web))
    scaler.drain(node)
    wait_moved(stack, web, {node}, 2, told(stack, scaler), 120)
    wait_until(lambda: len(of(stack, web)) == 2, 60, told(stack, scaler))
    assert homes(of(stack, web)) == {other} and not before & uids(of(stack, web))
    assert stack.leader().metric("aliquot_orphaned_gpus") == 0


def job(stack, name):
    labels = {"of": name}
    pod = stack.pod("any", fraction="0.4", labels=labels, nodeSelector=growing.selector("wide"), restartPolicy="Never")
    stack.api.create("jobs", {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
        "spec": {"backoffLimit": 0, "template": {
            "metadata": {"labels": labels, "annotations": pod["metadata"]["annotations"]}, "spec": pod["spec"]}}},
        namespace="default")


@pytest.mark.parametrize("why", ["annotation", "job"])
def test_c39_a_node_with_a_tenant_that_must_stay_is_kept(stack, scaler, spare, name, why):
    web = name()
    if why == "job":
        job(stack, web)
    else:
        deploy(stack, web, 1, "0.4", "wide", annotations={SAFE: "false"})
    wait_until(lambda: len(of(stack, web)) == 1, 120, told(stack, scaler))
    node, = homes(of(stack, web))
    before = uids(of(stack, web))
    spare()
    wait_until(lambda: (scaler.stays(node) or "").startswith("BlockedByPod"), 60, told(stack, scaler))
    # Not even who tries anyhow gets it empty: the node is let be again.
    scaler.drain(node)
    wait_until(lambda: any(line.startswith("not down " + node) for line in scaler.state()["log"]), 60, told(stack, scaler))
    wait_until(lambda: not is_marked(stack, node), 60, told(stack, scaler))
    assert uids(of(stack, web)) == before
    capacity = stack.get_pod(note(of(stack, web)[0], "capacity-pod"), "aliquot-system")
    with pytest.raises(ApiError) as refused:
        stack.api.evict(capacity["metadata"]["name"], "aliquot-system")
    assert refused.value.status == 429
