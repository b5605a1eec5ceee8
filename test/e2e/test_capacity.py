"""The life of capacity pods that do not do what they should, on the real control plane with played
kubelets (C9 to C12, C15; cases 10 to 13, 15, 40, 41)."""

import datetime
import re
import time

import pytest

from api import ApiError
from helpers import P, capacity_on, events, gates, note, on, pin, seen, wait_empty, wait_gone, wait_policy
from invariants import identity, ledger
from waiting import holds_for, wait_until
from watching import PodWatch

STACK = {"nodes": [("life-%d" % i, 1) for i in range(8)] + [("pair-%d" % i, 2) for i in range(8)],
         "arguments": ["--idle-grace-seconds=2", "--open-timeout-seconds=5"]}
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
STAYS = "karpenter.sh/do-not-disrupt"
SYSTEM = "aliquot-system"


def either(*nodes):
    """Options of Stack.pod for one of several nodes."""
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{
            "key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]}]}}}}


def seconds(stamp):
    """Of a time as the API server writes it."""
    return datetime.datetime.fromisoformat(stamp).timestamp()


def said(stack, reason, name):
    """Our events of this reason about a pod of that name, which may be gone."""
    return [e for e in stack.api.list("events", namespace=SYSTEM)
            if e["reason"] == reason and e["involvedObject"]["name"] == name]


def marks(pod):
    """What it tells autoscalers of nodes."""
    notes = pod["metadata"].get("annotations", {})
    return notes.get(SAFE), notes.get(STAYS)


def running(stack, node, name, fraction="0.5", **options):
    """A tenant that runs there, and the capacity pod of its GPU."""
    stack.create_pod(name, fraction=fraction, **{**on(node), **options})
    pod = stack.wait_running(name)
    return pod, stack.get_pod(note(pod, "capacity-pod"), SYSTEM)


def holder(stack, uuid):
    """The capacity pod that runs and told this GPU; None: there is none."""
    found = [pod for pod in stack.capacity_pods() if identity(pod) and
             identity(pod)["uuid"] == uuid and not pod["metadata"].get("deletionTimestamp")]
    return found[0] if found else None


def test_k10_a_refused_one_is_noticed_within_two_seconds(stack, node, name):
    bad, good, tenant = node(2), node(2), name()
    stack.kubelet.fault("reject-admission", node=bad, count=1000)
    start = stack.api.list_raw("pods")["metadata"]["resourceVersion"]
    stack.create_pod(tenant, fraction="0.5", **either(bad, good))
    failed, took = None, None
    for kind, obj in stack.api.watch("pods", SYSTEM, version=start, timeout=60):
        if failed is None and obj["status"].get("reason") == "UnexpectedAdmissionError":
            failed, since = obj["metadata"], time.monotonic()
        if failed and kind == "DELETED" and obj["metadata"]["uid"] == failed["uid"]:
            took = time.monotonic() - since
            break
    assert took is not None and took < 2, took
    pod = stack.wait_running(tenant)
    assert pod["spec"]["nodeName"] == good
    told = wait_until(lambda: said(stack, "CapacityFailed", failed["name"]), 60, "its event")
    assert "UnexpectedAdmissionError" in told[0]["message"] and bad in told[0]["message"], told
    stack.kubelet.fault("reject-admission", node=bad, count=0)
    stack.api.delete("pods", tenant, "default", grace=1)


def test_k11_one_that_never_tells_its_gpu_is_given_up(stack, node, name):
    where, tenant = node(2), name()
    stack.kubelet.fault("no-identity", node=where)
    stack.create_pod(tenant, fraction="0.5", **on(where))
    first, = wait_until(lambda: capacity_on(stack, where), 60, "a capacity pod")
    told = wait_until(lambda: said(stack, "CapacityFailed", first["metadata"]["name"]), 60,
                      "its event")
    assert "has not told its GPU" in told[0]["message"] and where in told[0]["message"], told
    wait_until(lambda: stack.leader().metric(
        'aliquot_tenants_waiting{reason="CapacityFailed"}') == 1, 60, "the reason")
    assert gates(stack.get_pod(tenant)) == [P + "gpu"]
    rests = int(re.search(r"rests for (\d+) s", told[0]["message"]).group(1))
    # Its event may be there sooner than its end. The next one is not opened before the node has rested.
    wait_gone(stack, first["metadata"]["name"], SYSTEM)
    again, = wait_until(lambda: capacity_on(stack, where), 60, "another capacity pod")
    assert seconds(again["metadata"]["creationTimestamp"]) - seconds(told[0]["eventTime"]) >= rests - 2
    stack.kubelet.fault("no-identity", node=where, on=False)
    stack.api.delete("pods", tenant, "default", grace=0)


def test_k12_of_two_that_tell_one_gpu_neither_gets_anybody(stack, node, name):
    where, one, two, three = node(2), name(), name(), name()
    running(stack, where, one, "0.9")
    uuid = note(stack.get_pod(one), "gpu-uuid")
    index = stack.kubelet.state()["nodes"][where]["uuids"].index(uuid)
    for other in (0, 1):
        stack.kubelet.fault("duplicate-uuid", node=where, index=other, of_index=index)
    both = set()

    def look(pods):
        here = {pod["metadata"]["name"] for pod in pods if pin(pod) == where and identity(pod) and
                "deletionTimestamp" not in pod["metadata"]}
        both.update(here if len(here) == 2 else ())
    # The one that has nobody goes after its grace, and then nothing is doubled any more.
    with PodWatch(stack.api, SYSTEM, P + "capacity=true", look):
        stack.create_pod(two, fraction="0.9", **on(where))
        wait_until(lambda: stack.leader().metric("aliquot_doubled_gpus") == 1, 60,
                   lambda: "both to tell one GPU, and that to be counted; %s\n%s" % (both, stack.logs()))
    assert len(both) == 2, both
    for which in both:
        wait_until(lambda p=which: said(stack, "GpuDoubled", p), 60, "the event on " + which)
    assert '"reason":"GpuDoubled"' in stack.leader().log(1 << 30)
    stack.create_pod(three, fraction="0.05", **on(where))
    # The other one has nobody and goes after its grace; only then somebody else comes. It is counted
    # no more from the moment at which its end is asked for, and is still seen until it has ended.
    stack.wait_running(three)
    wait_until(lambda: len([pod for pod in capacity_on(stack, where) if pod["metadata"]["name"] in both]) == 1, 60,
               "the other one to be told to go")
    assert gates(stack.get_pod(two)) == [P + "gpu"]
    stack.api.delete("pods", two, "default", grace=0)
    for other in (0, 1):
        stack.kubelet.fault("nvml", node=where, index=other)


def test_k13_one_that_is_deleted_by_hand_comes_back_with_the_same_gpu(stack, node, name):
    """C11: nobody can ask the device plugin for a certain GPU, and it gets it all the same."""
    where, tenant, later = node(2), name(), name()
    before, capacity = running(stack, where, tenant)
    uuid = note(before, "gpu-uuid")
    stack.api.delete("pods", capacity["metadata"]["name"], SYSTEM, grace=3)
    told = wait_until(lambda: events(stack, before, "GpuOrphaned"), 60, "its event")
    assert uuid in told[0]["message"], told

    def held():
        pod = holder(stack, uuid)
        return pod if pod and before["metadata"]["uid"] in ledger(pod) else None
    again = wait_until(held, 60, "the GPU to be held again, with who runs in the ledger")
    assert again["metadata"]["uid"] != capacity["metadata"]["uid"]
    assert again["metadata"]["labels"][P + "in-use"] == "movable"
    wait_until(lambda: len(capacity_on(stack, where)) == 1, 60, "the others to go")
    wait_until(lambda: stack.leader().metric("aliquot_orphaned_gpus") == 0, 60, "no orphan")
    now = stack.get_pod(tenant)
    assert now["metadata"]["uid"] == before["metadata"]["uid"]
    assert [c["restartCount"] for c in now["status"]["containerStatuses"]] == [0]
    assert seen(stack, now) == [uuid] and len(events(stack, now, "GpuOrphaned")) == 1
    # It is one like any other.
    stack.create_pod(later, fraction="0.5", **on(where))
    assert note(stack.wait_running(later), "gpu-uuid") == uuid


def test_c39_one_that_is_deleted_waits_for_its_tenants(stack, node, name):
    """Without a grace of the person's own. Nobody is evicted, and nobody else gets the GPU meanwhile."""
    where, tenant, idle, whole = node(), name(), node(), name()
    stack.kubelet.fault("free-delay", node=where, ms=0)
    before, capacity = running(stack, where, tenant)
    stack.api.delete("pods", capacity["metadata"]["name"], SYSTEM)
    stack.create_pod(whole, gpus=1, **on(where))

    def holds():
        pod = stack.api.find("pods", capacity["metadata"]["name"], SYSTEM)
        state = pod["status"]["containerStatuses"][0]["state"] if pod else {}
        return "running" in state and not events(stack, before, "GpuOrphaned") and \
            stack.get_pod(whole)["status"]["phase"] == "Pending" and \
            not stack.get_pod(tenant)["metadata"].get("deletionTimestamp")
    # Longer than an idle one stays, and than one took to end before.
    holds_for(holds, 12, lambda: stack.account())
    stack.api.delete("pods", tenant, "default", grace=1)
    wait_gone(stack, capacity["metadata"]["name"], SYSTEM, 60, uid=capacity["metadata"]["uid"])
    stack.wait_running(whole)
    stack.api.delete("pods", whole, "default", grace=0)
    # One without tenants waits for nobody, whoever deletes it.
    running(stack, idle, tenant + "-idle")
    stack.api.delete("pods", tenant + "-idle", "default", grace=1)
    kept, = wait_until(lambda: [p for p in capacity_on(stack, idle) if
                                p["metadata"]["labels"][P + "in-use"] == "false"], 60, "it to be idle")
    stack.api.delete("pods", kept["metadata"]["name"], SYSTEM)
    wait_gone(stack, kept["metadata"]["name"], SYSTEM, 60, uid=kept["metadata"]["uid"])


def test_c39_one_with_a_tenant_that_must_not_be_disrupted_is_not_evicted(stack, node, name):
    where, tenant, keeper = node(), name(), name()
    _, capacity = running(stack, where, tenant, "0.3")
    stack.create_pod(keeper, fraction="0.3", annotations={STAYS: "true"}, **on(where))
    stack.wait_running(keeper)
    capacity = stack.get_pod(capacity["metadata"]["name"], SYSTEM)
    assert capacity["metadata"]["labels"][P + "in-use"] == "true" and marks(capacity) == ("false", "true")
    with pytest.raises(ApiError) as refused:
        stack.api.evict(capacity["metadata"]["name"], SYSTEM)
    assert refused.value.status == 429, refused.value
    stack.api.delete("pods", keeper, "default", grace=1)
    wait_until(lambda: stack.get_pod(capacity["metadata"]["name"], SYSTEM)["metadata"]["labels"][
        P + "in-use"] == "movable", 60, lambda: "it may go again\n" + stack.account())
    # The budget's controller counts what is covered.
    wait_until(lambda: evicted(stack, capacity), 60, "its eviction to be allowed")
    wait_gone(stack, tenant, timeout=60)
    wait_gone(stack, capacity["metadata"]["name"], SYSTEM, 60, uid=capacity["metadata"]["uid"])


def evicted(stack, pod):
    try:
        stack.api.evict(pod["metadata"]["name"], SYSTEM)
    except ApiError as error:
        assert error.status == 429, error
        return False
    return True


def test_c11_a_policy_may_have_them_evicted_instead(stack, node, name):
    """At once, and as far as their disruption budget allows; nothing searches for the GPU."""
    where, tenant = node(), name()
    stack.api.create("gpupolicies", {
        "apiVersion": P + "v1alpha1", "kind": "GPUPolicy", "metadata": {"name": tenant},
        "spec": {"selector": {"podSelector": {"matchLabels": {"life": tenant}}},
                 "sharing": {"onCapacityLost": "Evict"}}})
    wait_policy(stack, tenant)
    before, capacity = running(stack, where, tenant, labels={"life": tenant},
                               annotations={P + "policy": tenant})
    stack.api.create("poddisruptionbudgets", {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": tenant, "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"life": tenant}}}},
        namespace="default")
    wait_until(lambda: stack.api.get("poddisruptionbudgets", tenant, "default").get(
        "status", {}).get("observedGeneration"), 60, "the budget to be seen")
    stack.api.delete("pods", capacity["metadata"]["name"], SYSTEM, grace=0)
    refused = wait_until(lambda: events(stack, before, "EvictionRefused"), 60, "a refusal")
    assert "budget" in refused[0]["message"], refused
    assert stack.get_pod(tenant)["metadata"]["uid"] == before["metadata"]["uid"]
    assert not capacity_on(stack, where)
    stack.api.delete("poddisruptionbudgets", tenant, "default")
    wait_gone(stack, tenant, timeout=60)
    stack.api.delete("gpupolicies", tenant)


def test_k15_a_taint_that_only_tenants_tolerate_takes_no_capacity_pod(stack, node, name):
    """The tenant that tolerates it came later than the one for which the GPU was opened."""
    where, first, second, plain = node(), name(), name(), name()
    taint = {"key": "life.example/out", "value": "x", "effect": "NoExecute"}
    _, capacity = running(stack, where, first, "0.5")
    tenant, same = running(stack, where, second, "0.25",
                           tolerations=[{"key": "life.example/out", "operator": "Exists"}])
    assert same["metadata"]["uid"] == capacity["metadata"]["uid"]
    stack.create_pod(plain, gpus=0, **on(where))
    stack.wait_running(plain)
    stack.api.patch("nodes", where, {"spec": {"taints": [taint]}})
    wait_gone(stack, plain)
    wait_gone(stack, first)
    assert stack.get_pod(second)["metadata"]["uid"] == tenant["metadata"]["uid"]
    left = stack.get_pod(capacity["metadata"]["name"], SYSTEM)
    assert left["metadata"]["uid"] == capacity["metadata"]["uid"]
    assert not left["metadata"].get("deletionTimestamp")
    # It goes after the last one, taint or not.
    stack.api.delete("pods", second, "default", grace=1)
    wait_gone(stack, capacity["metadata"]["name"], SYSTEM)
    stack.api.patch("nodes", where, {"spec": {"taints": None}})


def test_k40_one_that_cannot_leave_stops_nobody(stack, node, name):
    # All ends are counted, those of what the tests before left, too.
    wait_empty(stack)
    where, elsewhere, tenant = node(2), node(), name()
    _, capacity = running(stack, where, tenant)
    stuck = capacity["metadata"]["name"]
    stack.api.patch("pods", stuck, {"metadata": {"finalizers": ["life.example/stuck"]}}, SYSTEM)
    before = stack.leader().metric('aliquot_actions_total{action="DeleteCapacity"')
    stack.api.delete("pods", tenant, "default", grace=1)
    stack.wait_pod(stuck, lambda p: p["metadata"].get("deletionTimestamp"), 60, SYSTEM, "deletion")
    began = stack.leader().metric("aliquot_actions_total")
    for other in (elsewhere, where):
        pod, used = running(stack, other, name(), "0.9")
        assert used["metadata"]["name"] != stuck and pin(pod) == other
    # Two of each: create, a probe made and gone, grant, place, and a few events and conditions; nothing for the stuck one.
    assert stack.leader().metric("aliquot_actions_total") - began < 30
    assert stack.leader().metric('aliquot_actions_total{action="DeleteCapacity"') == before + 1
    stack.api.patch("pods", stuck, {"metadata": {"finalizers": None}}, SYSTEM)
    wait_gone(stack, stuck, SYSTEM)


def test_k41_autoscalers_are_kept_off_while_a_tenant_needs_it(stack, node, name):
    """C15: both marks come and go with the ledger, and an idle one leaves."""
    where, keeper, other = node(), name(), name()
    _, capacity = running(stack, where, keeper, "0.25", annotations={SAFE: "false"})
    which = capacity["metadata"]["name"]
    assert marks(capacity) == ("false", "true")
    running(stack, where, other, "0.25")
    assert marks(stack.get_pod(which, SYSTEM)) == ("false", "true")
    stack.api.delete("pods", keeper, "default", grace=1)
    stack.wait_pod(which, lambda p: marks(p) == ("true", None), 60, SYSTEM, "no mark")
    stack.api.delete("pods", other, "default", grace=1)
    wait_gone(stack, which, SYSTEM)
