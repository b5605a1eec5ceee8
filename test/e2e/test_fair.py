"""Whole-GPU pods and tenants, ranked together, with the real scheduler (C12, C16, C17, C18)."""

from helpers import between, capacity_on, events, is_unschedulable, on, placed, seen, wait_gone
from invariants import is_capacity, note
from waiting import wait_until, within

# What is idle would stay for long, if nobody wanted it.
STACK = {"nodes": [("one-%d" % i, 1) for i in range(4)] + [("octet-0", 8)],
         "arguments": ["--idle-grace-seconds=120", "--patience-seconds=2"]}


def free_at_once(stack, where):
    """A device is free as soon as the object of its pod is gone."""
    stack.kubelet.fault("free-delay", node=where, ms=0)
    return where


def make_whole(stack, name, gpus=1, **spec):
    """A pod that asks for whole GPUs and that the scheduler has found no node for."""
    stack.create_pod(name, gpus=gpus, **spec)
    return stack.wait_pod(name, is_unschedulable, 60, what="Unschedulable")


def gone(stack, name):
    """Deleted, and ended."""
    stack.api.delete("pods", name, "default")
    wait_until(lambda: stack.api.find("pods", name, "default") is None, 60, name + " to be gone")


def told(stack, name, reason):
    pod = stack.wait_pod(name, lambda p: placed(p).get("reason") == reason, 60, what=reason)
    return placed(pod)["message"]


def test_k17_an_idle_capacity_pod_goes_at_once_for_a_whole_pod(stack, node, name):
    """C12: as soon as the scheduler has refused the newcomer, which is admitted, because the GPU was free."""
    where = free_at_once(stack, node())

    def wanted():
        tenant, whole = name(), name()
        stack.create_pod(tenant, fraction="0.5", **on(where))
        stack.wait_running(tenant)
        gone(stack, tenant)
        held, = capacity_on(stack, where)  # It is kept for a while.
        took = between(stack, lambda: stack.create_pod(whole, gpus=1, **on(where)),
                       lambda _, pod: pod["metadata"]["name"] == whole and is_unschedulable(pod),
                       lambda kind, pod: pod["metadata"]["uid"] == held["metadata"]["uid"] and (
                           kind == "DELETED" or "deletionTimestamp" in pod["metadata"]))
        # wait_running fails where the pod fails: UnexpectedAdmissionError.
        pod = stack.wait_running(whole, 60)
        assert not capacity_on(stack, where) and len(seen(stack, pod)) == 1
        gone(stack, whole)
        return took
    within(2, wanted)


def test_c16_no_tenant_opens_a_gpu_under_a_whole_pod(stack, node, name):
    """A full node, a whole pod that waits for it and then a tenant: what gets free is the former's."""
    where = free_at_once(stack, node())
    first, whole, late = name(), name(), name()
    stack.create_pod(first, gpus=1, **on(where))
    stack.wait_running(first)
    make_whole(stack, whole, **on(where))
    stack.create_pod(late, fraction="0.25", **on(where))
    version = stack.api.list_raw("pods", namespace="aliquot-system")["metadata"]["resourceVersion"]
    gone(stack, first)
    stack.wait_running(whole, 60)
    opened = [obj for kind, obj in stack.api.watch(
        "pods", namespace="aliquot-system", version=version, timeout=2) if kind == "ADDED"]
    assert not [pod for pod in opened if where in str(pod["spec"].get("affinity"))], opened
    assert note(stack.get_pod(late), "gpu-uuid") is None
    # Then it is the tenant's turn.
    gone(stack, whole)
    stack.wait_running(late, 60)


def test_c18_newcomers_never_overtake(stack, node, name):
    """Eight small tenants, one on each of eight GPUs, then a pod for one GPU and one for eight."""
    where = free_at_once(stack, node(8))
    tenants = [name() for _ in range(8)]
    fillers = [name() for _ in range(8)]
    # Large ones put one on each GPU, and the small ones have room for nobody else beside them.
    for small, large in zip(tenants, fillers):
        stack.create_pod(large, fraction="0.9", **on(where))
        stack.wait_running(large, 60)
        stack.create_pod(small, fraction="0.1", **on(where))
        stack.wait_running(small, 60)
    assert len({note(stack.get_pod(small), "gpu-uuid") for small in tenants}) == 8
    for large in fillers:
        stack.api.delete("pods", large, "default")
    # Or they would be counted among those in the way.
    for large in fillers:
        wait_gone(stack, large)
    one, eight, late = name(), name(), name()
    make_whole(stack, one, 1, **on(where))
    make_whole(stack, eight, 8, **on(where))
    event = wait_until(lambda: events(stack, stack.get_pod(one), "SharesInTheWay"), 60, "an event")[0]
    said = event.get("note") or event["message"]
    assert "waits for 1 whole GPU; on %s" % where in said and "8 shares" in said, said
    assert any("default/" + small in said for small in tenants), said
    # 0.9 is free on each GPU, and not for newcomers.
    stack.create_pod(late, fraction="0.1", **on(where))
    said = told(stack, late, "WholePodFirst")
    assert "default/" + one in said or "default/" + eight in said, said
    # One leaves: its GPU is given back at once, for the pod that waits for one.
    gone(stack, tenants[0])
    stack.wait_running(one, 60)
    assert note(stack.get_pod(late), "gpu-uuid") is None
    # Nobody but the newcomer is left who may use the node.
    for pod in (one, eight):
        gone(stack, pod)
    stack.wait_running(late, 60)
