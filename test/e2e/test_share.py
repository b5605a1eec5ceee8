"""A share from the request to the container, on a real control plane (I1 to I4, C9, C10, C19)."""

import concurrent.futures
import re

import pytest

from helpers import (MIB, P, capacity_on, environment, freed, gates, is_tenant, note, on, pin, placed,
                     seen, wait_gone)
from invariants import Picture, identity, is_capacity, ledger
from waiting import wait_until, within

OURS = "aliquot"


def held_by(stack, node):
    """{UUID} that the node's device manager has given to capacity pods."""
    info = stack.kubelet.state()["nodes"][node]
    return set(info["uuids"]) - set(info["free"])


def test_a_quarter_of_an_empty_node(stack, node, name):
    """Case 1: one capacity pod, pinned; the container sees that GPU and knows its share."""
    where, pod_name = node(), name()
    made = stack.create_pod(pod_name, fraction="0.25", **on(where))
    assert is_tenant(made) and gates(made) == [P + "gpu"]
    assert "limits" not in made["spec"]["containers"][0]["resources"]
    pod = stack.wait_running(pod_name)
    capacity, = capacity_on(stack, where)
    uuid = identity(capacity)["uuid"]
    assert note(pod, "gpu-uuid") == uuid and held_by(stack, where) == {uuid}
    assert note(pod, "capacity-pod") == capacity["metadata"]["name"]
    assert note(pod, "compute-milli") == "250"
    assert int(note(pod, "memory-mib")) == MIB * 250 // 1000 or \
        int(note(pod, "memory-mib")) == identity(capacity)["memory"] * 250 // 1000
    assert pin(pod) == pin(capacity) == where and gates(pod) == []
    assert seen(stack, pod) == [uuid]
    env = environment(stack, pod)
    assert env["NVIDIA_VISIBLE_DEVICES"] == uuid == env["ALIQUOT_GPU_UUID"]
    assert env["ALIQUOT_COMPUTE_MILLI"] == "250"
    assert env["ALIQUOT_MEMORY_MIB"] == note(pod, "memory-mib")


def test_the_real_scheduler_binds_it(stack, node, name):
    """C19: we pin and ungate; binding is the default scheduler's, with all its checks."""
    pod_name = name()
    stack.create_pod(pod_name, fraction="0.25", **on(node()))
    pod = stack.wait_running(pod_name)
    assert pod["spec"]["schedulerName"] == "default-scheduler"
    scheduled = wait_until(lambda: [
        e for e in stack.api.list("events", namespace="default",
                                  fieldSelector="involvedObject.uid=" + pod["metadata"]["uid"])
        if e["reason"] == "Scheduled"], 60, "the scheduler's event")
    assert scheduled[0]["reportingComponent"] == "default-scheduler"


def written(obj):
    """What is not a kubelet's to write, and is another with each write of ours."""
    meta = {key: value for key, value in obj["metadata"].items() if key not in ("resourceVersion", "managedFields")}
    return meta, obj["spec"]


def test_two_writes_a_tenant(stack, node, name):
    """One to the tenant, one to the ledger. Watched: every version of both objects."""
    where, first, pod_name = node(), name(), name()
    stack.create_pod(first, fraction="0.5", **on(where))
    stack.wait_running(first)
    start = stack.api.list_raw("pods")
    capacity, = (one for one in start["items"] if pin(one) == where and is_capacity(one))
    stack.create_pod(pod_name, fraction="0.25", **on(where))
    pod = stack.wait_running(pod_name)
    # The last that is looked at, so that the watch is never waited for to end by itself.
    last = stack.api.patch("pods", pod_name, {"metadata": {"labels": {"aliquot.test/last": "true"}}}, "default")
    ledgers, notes = [capacity], []
    for kind, obj in stack.api.watch("pods", version=start["metadata"]["resourceVersion"], timeout=60):
        if obj["metadata"]["uid"] == pod["metadata"]["uid"]:
            notes.append((kind, note(obj, "gpu-uuid"), tuple(gates(obj)), pin(obj)))
        # Its kubelet may still have something to say of it.
        if obj["metadata"]["uid"] == capacity["metadata"]["uid"] and written(obj) != written(ledgers[-1]):
            ledgers.append(obj)
        if obj["metadata"]["resourceVersion"] == last["metadata"]["resourceVersion"]:
            break
    assert len(ledgers) == 2, [written(obj)[0] for obj in ledgers]
    assert note(ledgers[0], "grants") != note(ledgers[1], "grants"), ledgers
    assert len(set(notes[1:])) <= 2 and notes[0] == ("ADDED", None, (P + "gpu",), None), notes
    # All our keys, the pin and the gate came with one and the same version.
    assert set(notes[1:]) == {("MODIFIED", note(pod, "gpu-uuid"), (), where)}, notes
    assert sorted(ledger(stack.api.get("pods", capacity["metadata"]["name"], "aliquot-system"))) == sorted(
        p["metadata"]["uid"] for p in Picture(stack.api).placed
        if note(p, "capacity-pod") == capacity["metadata"]["name"])


def test_two_halves_share_one_gpu(stack, node, name):
    """Case 2."""
    where = node()
    names = [name(), name()]
    for pod_name in names:
        stack.create_pod(pod_name, fraction="0.5", **on(where))
    first, second = (stack.wait_running(pod_name) for pod_name in names)
    assert len(capacity_on(stack, where)) == 1
    assert seen(stack, first) == seen(stack, second) == [note(first, "gpu-uuid")]
    assert len(held_by(stack, where)) == 1


def test_too_much_waits_and_says_what_is_short(stack, node, name):
    """Case 3: the second stays gated; its condition names what is missing; no second GPU opens."""
    where = node()
    first, second = name(), name()
    stack.create_pod(first, fraction="0.5", **on(where))
    stack.wait_running(first)
    stack.create_pod(second, fraction="0.6", **on(where))
    pod = stack.wait_pod(second, placed, 60, what="a condition")
    condition = placed(pod)
    assert (condition["status"], condition["reason"]) == ("False", "ShortCompute")
    assert "0.6" in condition["message"] and "0.5" in condition["message"], condition
    assert where in condition["message"], condition
    assert gates(pod) == [P + "gpu"] and note(pod, "gpu-uuid") is None
    assert len(capacity_on(stack, where)) == 1
    # It is no verdict for ever: the first leaves, the second comes, the condition is corrected.
    stack.api.delete("pods", first, "default")
    pod = stack.wait_running(second)
    stack.wait_pod(second, lambda p: placed(p)["status"] == "True", 60, what="Placed")
    assert seen(stack, pod) == [note(pod, "gpu-uuid")]


def test_sixteen_halves_on_eight_gpus(stack, node, name):
    """Case 4: at once; always two a GPU, eight capacity pods, none too many at any time."""
    where = node(8)
    names = [name() for _ in range(16)]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: stack.create_pod(n, fraction="0.5", **on(where)), names))
    pods = [stack.wait_running(pod_name, 60) for pod_name in names]
    uuids = [note(pod, "gpu-uuid") for pod in pods]
    assert sorted(uuids.count(uuid) for uuid in set(uuids)) == [2] * 8
    assert len(capacity_on(stack, where)) == 8
    assert [seen(stack, pod) for pod in pods] == [[uuid] for uuid in uuids]


def test_a_memory_share(stack, node, name):
    where, pod_name = node(), name()
    stack.create_pod(pod_name, memory="8Gi", **on(where))
    pod = stack.wait_running(pod_name)
    usable = identity(capacity_on(stack, where)[0])["memory"]
    assert note(pod, "memory-mib") == "8192"
    assert int(note(pod, "compute-milli")) == 1000 * 8192 // usable


def test_more_than_any_gpu_has_is_told_in_one_way(stack, node, name):
    """Where nothing is open, where a GPU is, where a whole pod has it, and anywhere: one reason, one
    sentence."""
    free, shared, taken = node(), node(), node()
    half, whole = name(), name()
    stack.create_pod(half, fraction="0.5", **on(shared))
    stack.create_pod(whole, **on(taken))
    stack.wait_running(half)
    stack.wait_running(whole)
    waiting = {name(): options for options in (on(free), on(shared), on(taken), {})}
    for pod_name, options in waiting.items():
        stack.create_pod(pod_name, fraction="0.5", memory="200Gi", **options)
    for pod_name in waiting:
        told = placed(stack.wait_pod(pod_name, lambda pod: placed(pod)))
        assert told["reason"] == "LargerThanAnyGpu", told
        assert re.fullmatch(r"needs 0.50 GPU and 200Gi GPU memory, no GPU that it may use is so large: "
                            r"the largest has \d+Mi GPU memory, on \S+", told["message"]), told
        stack.api.delete("pods", pod_name, "default", grace=0)
    assert not capacity_on(stack, free)


def test_an_idle_capacity_pod_leaves(stack, node, name):
    """C12: after its grace it goes, and a whole-GPU pod has the GPU. A GPU is free when the object
    is gone, and the node's device manager gives it out a moment later: a pod that the scheduler
    sends there in between is refused for good."""
    where, tenant, whole = node(), name(), name()
    stack.create_pod(tenant, fraction="0.25", **on(where))
    uuid = note(stack.wait_running(tenant), "gpu-uuid")
    stack.api.delete("pods", tenant, "default")
    wait_gone(stack, tenant)
    wait_until(lambda: not capacity_on(stack, where), 60, "the idle capacity pod to leave")
    wait_until(lambda: stack.kubelet.state()["nodes"][where]["free"] == [uuid], 60,
               "the device to come back")
    stack.create_pod(whole, **on(where))
    pod = stack.wait_running(whole, 60)
    assert seen(stack, pod) == [uuid] and note(pod, "gpu-uuid") is None


def test_a_share_of_a_finished_pod_is_free(stack, node, name):
    """Case 18: Completed, its object kept: the next one gets the share, on the GPU as it is held already."""
    where, names = node(), [name()]
    stack.create_pod(names[0], fraction="0.9", restartPolicy="Never", **on(where))
    stack.wait_running(names[0])
    held, = capacity_on(stack, where)

    def next_one():
        names.append(name())
        stack.create_pod(names[-1], fraction="0.9", restartPolicy="Never", **on(where))
        took = freed(stack, names[-2], names[-1])
        stack.wait_running(names[-1], 60)
        return took
    within(2, next_one)
    capacity, = capacity_on(stack, where)
    assert capacity["metadata"]["uid"] == held["metadata"]["uid"]
    assert {stack.get_pod(each)["status"]["phase"] for each in names[:-1]} == {"Succeeded"}


def test_a_gated_pod_that_leaves_is_forgotten(stack, node, name):
    """Case 19: nothing is left of a tenant that goes before it was placed."""
    where, first, second = node(), name(), name()
    stack.create_pod(first, fraction="0.9", **on(where))
    stack.wait_running(first)
    stack.create_pod(second, fraction="0.9", **on(where))
    stack.api.delete("pods", second, "default")
    wait_gone(stack, second)
    stack.api.delete("pods", first, "default")
    wait_until(lambda: not capacity_on(stack, where), 60, "the capacity pod to leave")


def test_a_refused_capacity_pod_is_tried_again(stack, node, name):
    """Case 10: UnexpectedAdmissionError; it is taken away, the node rests, the next one opens."""
    where, pod_name = node(), name()
    stack.kubelet.fault("reject-admission", node=where, count=1)
    stack.create_pod(pod_name, fraction="0.5", **on(where))
    pod = stack.wait_running(pod_name, 90)
    assert seen(stack, pod) == [note(pod, "gpu-uuid")]

    def there():
        return [(p["metadata"]["name"], p["status"].get("phase")) for p in stack.capacity_pods() if pin(p) == where]
    # Others' may end just now, and the refused one be on its way still.
    wait_until(lambda: there() == [(note(pod, "capacity-pod"), "Running")], 60, lambda: "one, and no failed: %s" % there())


@pytest.mark.parametrize("fault, on, off", [("reject-admission", {"count": 1000}, {"count": 0}),
                                            ("no-image", {"on": True}, {"on": False})])
def test_a_capacity_pod_that_cannot_start_opens_elsewhere(stack, node, name, fault, on, off):
    """Of two nodes the one that refuses it, or cannot get its image, is left alone while it rests."""
    bad, good, pod_name = node(2), node(2), name()
    stack.kubelet.fault(fault, node=bad, **on)
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{
            "key": "kubernetes.io/hostname", "operator": "In", "values": [bad, good]}]}]}}}
    try:
        stack.create_pod(pod_name, fraction="0.5", affinity=affinity)
        pod = stack.wait_running(pod_name, 60)
        assert pin(pod) == good
        assert pod["spec"]["nodeName"] == good
    finally:
        stack.kubelet.fault(fault, node=bad, **off)
        stack.api.delete("pods", pod_name, "default", grace=1)
