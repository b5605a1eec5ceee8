"""Cases of docs/design/conformance.md that no other module has, on one control plane; what takes time is begun for all
at once. Those that need a real kubelet in earnest (14, 38) are played by the fake one."""

import contextlib
import json

import pytest

from api import ApiError
from helpers import MIB, P, capacity_on, environment, events, gates, is_tenant, note, on, pin, placed, seen
from invariants import identity, ledger
from waiting import wait_until

STACK = {"nodes": [("conf-%d" % i, 1) for i in range(12)] + [("drain-%d" % i, 2) for i in range(2)],
         "arguments": ["--idle-grace-seconds=2", "--patience-seconds=2"]}
DRAINED, SPARE = "drain-0", "drain-1"
# For those that wait from the beginning on: nodes that no test is given, which get the first ones.
SHORT, LATER, SMALL = "conf-9", "conf-10", "conf-11"
SYSTEM, MEEK, MANY = "aliquot-system", "conf-meek", "conf-many"
TWENTY_FOUR = ["many-%d" % i for i in range(24)]
OTHER_GATE = "example.com/not-yet"


class Scene:
    """Pods that wait, each for another reason, and say so after ten seconds (C23)."""

    def __init__(self, stack):
        self.stack, self.api = stack, stack.api
        self.waits, self.many = {}, {}

    def wait_for(self, reason, name, **options):
        self.waits[name] = reason
        self.stack.create_pod(name, **options)

    def begin(self):
        self.api.create("priorityclasses", {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                            "metadata": {"name": MEEK}, "value": 1000, "preemptionPolicy": "Never"})
        self.api.create("gpupolicies", {
            "apiVersion": P + "v1alpha1", "kind": "GPUPolicy", "metadata": {"name": MANY},
            "spec": {"selector": {"podSelector": {"matchLabels": {"of": MANY}}},
                     "compute": {"minPercent": 1}, "sharing": {"maxTenants": 24}}})
        self.stack.kubelet.fault("unhealthy", node=LATER, index=0)
        wait_until(lambda: self.api.get("nodes", LATER)["status"]["allocatable"]["nvidia.com/gpu"] == "0", 60,
                   "a node without GPUs")
        self.stack.kubelet.fault("nvml", node=SMALL, index=0, memory_mib=46068, reserved_mib=0)
        self.many = {"memory": "2000Mi", "labels": {"of": MANY}, **on(SMALL)}
        for name in ("short-a", "short-b"):
            self.stack.create_pod(name, fraction="0.4", **on(SHORT))
        for name in ("short-a", "short-b"):
            self.stack.wait_running(name)
        for i in range(3):
            self.wait_for("ShortCompute", "compute-%d" % i, fraction="0.5", **on(SHORT))
        for i in range(2):
            self.wait_for("ShortMemory", "memory-%d" % i, fraction="0.1", memory="20Gi", **on(SHORT))
        self.wait_for("LargerThanAnyGpu", "larger", fraction="0.5", memory="200Gi")
        self.wait_for("NodeUnfit", "later-0", fraction="0.5", **on(LATER))
        self.wait_for("NodeUnfit", "later-1", fraction="0.5", **on(LATER))
        self.wait_for("OtherGates", "gated", fraction="0.5", schedulingGates=[{"name": OTHER_GATE}], **on(SHORT))
        probe = self.stack.pod("probe", **self.many)
        wait_until(lambda: (note(self.api.create("pods", probe, namespace="default", dryRun="All"),
                                 "policy-applied") or "").startswith(MANY), 60, "the policy to be known")
        for name in TWENTY_FOUR:
            self.stack.create_pod(name, **self.many)

    def end(self):
        with contextlib.suppress(ApiError):
            self.stack.kubelet.fault("unhealthy", node=LATER, index=0, on=False)
            self.api.patch("nodes", DRAINED, {"spec": {"unschedulable": None}})
        self.stack.clean()
        self.api.delete("priorityclasses", MEEK)


@pytest.fixture(scope="module")
def scene(stacks):
    made = Scene(stacks.use(STACK))
    try:
        made.begin()
        yield made
    finally:
        made.end()


# --- 14 ------------------------------------------------------------------------------------------

class Drain:
    """`kubectl drain --ignore-daemonsets` of a node: it cordons, refuses what it would refuse, and evicts until
    nothing is left. Kubectl itself is no part of the control plane that is built here."""

    def __init__(self, stack, node):
        self.stack, self.api, self.node = stack, stack.api, node
        self.refused = {}

    def pods(self):
        return [p for p in self.api.list("pods", fieldSelector="spec.nodeName=" + self.node)
                if p["status"].get("phase") not in ("Succeeded", "Failed")]

    def begin(self):
        self.api.patch("nodes", self.node, {"spec": {"unschedulable": True}})
        for pod in self.pods():
            owners = pod["metadata"].get("ownerReferences", [])
            assert any(owner.get("controller") for owner in owners), \
                "cannot delete a pod that declares no controller: " + pod["metadata"]["name"]

    def emptied(self):
        """One round; whoever is refused is asked again in the next."""
        left = self.pods()
        for pod in left:
            meta = pod["metadata"]
            if meta.get("deletionTimestamp"):
                continue
            try:
                self.api.evict(meta["name"], meta["namespace"], deleteOptions={"preconditions": {"uid": meta["uid"]}})
            except ApiError as error:
                assert error.status in (404, 429), error
                self.refused.setdefault(meta["uid"], 0)
                self.refused[meta["uid"]] += 1
        return not left


def replicas(stack, name, count, fraction, budget, nodes):
    """A ReplicaSet of tenants with a disruption budget."""
    pod = stack.pod("any", fraction=fraction, labels={"of": name}, affinity={"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{
            "key": "kubernetes.io/hostname", "operator": "In", "values": nodes}]}]}}})
    stack.api.create("poddisruptionbudgets", {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
        "spec": {"minAvailable": budget, "selector": {"matchLabels": {"of": name}}}}, namespace="default")
    stack.api.create("replicasets", {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name},
        "spec": {"replicas": count, "selector": {"matchLabels": {"of": name}}, "template": {
            "metadata": {"labels": pod["metadata"]["labels"], "annotations": pod["metadata"]["annotations"]},
            "spec": pod["spec"]}}}, namespace="default")


def test_k14_a_drain_takes_tenants_first_and_the_capacity_pod_last(scene, stack):
    """C39: it is evicted with them and holds its GPU until they have left; a budget is honoured all along; the node is
    empty in the end."""
    def running():
        return [p for p in stack.api.list("pods", "default", labelSelector="of=drained")
                if p["status"].get("phase") == "Running" and not p["metadata"].get("deletionTimestamp")]

    stack.api.patch("nodes", SPARE, {"spec": {"unschedulable": True}})
    replicas(stack, "drained", 2, "0.4", 1, [DRAINED, SPARE])
    wait_until(lambda: len(running()) == 2, 60, lambda: "two that run\n" + stack.logs())
    wait_until(lambda: stack.api.get("poddisruptionbudgets", "drained", "default").get("status", {}).get(
        "disruptionsAllowed") == 1, 60, "the budget to count")
    tenants = {p["metadata"]["uid"] for p in running()}
    capacity, = capacity_on(stack, DRAINED)
    assert capacity["metadata"]["labels"][P + "in-use"] == "movable"
    version = stack.api.list_raw("pods")["metadata"]["resourceVersion"]
    stack.api.patch("nodes", SPARE, {"spec": {"unschedulable": None}})
    drain = Drain(stack, DRAINED)
    drain.begin()
    # The controller hears of nodes and of pods by two watches: now it knows that no successor may come here, where
    # nobody would have room on both GPUs anyhow.
    stack.create_pod("drain-asks", fraction="0.9", gpus=2, **on(DRAINED))
    wait_until(lambda: reasons_counted(stack).get("NodeUnfit") == 1 + list(scene.waits.values()).count("NodeUnfit"), 60,
               lambda: "the cordon to be known; %s" % reasons_counted(stack))
    stack.api.delete("pods", "drain-asks", "default", grace=0)
    fewest = []

    def step():
        fewest.append(len(running()))
        return drain.emptied()
    wait_until(step, 60, lambda: "the node to be empty\n" + stack.logs(), every=0.2)
    assert min(fewest) >= 1, "the budget asks for one that runs"
    assert capacity["metadata"]["uid"] not in drain.refused, drain.refused
    assert stack.leader().metric("aliquot_orphaned_gpus") == 0
    order = []
    for kind, pod in stack.api.watch("pods", version=version, timeout=60):
        if kind == "DELETED" and pod["metadata"]["uid"] in tenants | {capacity["metadata"]["uid"]}:
            order.append(pod["metadata"]["uid"])
        if len(order) == 3:
            break
    assert order[2] == capacity["metadata"]["uid"] and set(order[:2]) == tenants, order
    wait_until(lambda: len(running()) == 2, 60, "its successors to run")
    assert {pin(p) for p in running()} == {SPARE}
    stack.api.patch("nodes", DRAINED, {"spec": {"unschedulable": None}})
    stack.api.delete("poddisruptionbudgets", "drained", "default")


# --- 16 ------------------------------------------------------------------------------------------

def refusal(pod):
    """What the scheduler says of a pod that it cannot place; None otherwise."""
    return next((c["message"] for c in pod["status"].get("conditions", [])
                 if c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable"), None)


def full(stack, where, names):
    """A node whose only GPU has tenants, and its capacity pod."""
    stack.kubelet.fault("free-delay", node=where, ms=0)
    for tenant in names:
        stack.create_pod(tenant, fraction="0.4", **on(where))
    return [stack.wait_running(tenant) for tenant in names], capacity_on(stack, where)[0]


def test_k16_the_scheduler_displaces_no_capacity_pod(scene, stack, node, name):
    """C9: a whole pod of a higher priority, which says that it displaces nobody, waits, and it alone is waited for
    (C16): when the tenants end, their capacity pod goes at once and the whole pod has the GPU."""
    where, tenants, whole, late = node(), [name(), name()], name(), name()
    before, capacity = full(stack, where, tenants)
    stack.create_pod(whole, gpus=1, priorityClassName=MEEK, **on(where))
    pod = stack.wait_pod(whole, refusal, 60, what="Unschedulable")
    told = wait_until(lambda: events(stack, pod, "SharesInTheWay"), 60, "an event")
    assert "default/" + tenants[0] in (told[0].get("note") or told[0]["message"])
    stack.create_pod(late, fraction="0.1", **on(where))
    # What its condition says after ten seconds.
    wait_until(lambda: reasons_counted(stack).get("WholePodFirst"), 60, "the newcomer to wait")
    assert not stack.get_pod(whole)["status"].get("nominatedNodeName")
    assert [p["metadata"]["uid"] for p in capacity_on(stack, where)] == [capacity["metadata"]["uid"]]
    assert [stack.get_pod(p["metadata"]["name"])["metadata"]["uid"] for p in before] == [
        p["metadata"]["uid"] for p in before]
    for tenant in tenants:
        stack.api.delete("pods", tenant, "default", grace=1)
    stack.wait_running(whole, 60)
    assert not capacity_on(stack, where) and gates(stack.get_pod(late)) == [P + "gpu"]


# --- 22 ------------------------------------------------------------------------------------------

def test_k22_twenty_three_of_2000_mib_and_no_more(scene, stack):
    """46068 MiB, of which the driver keeps nothing; under maxTenants 24 the GPU is what runs out."""
    where = SMALL

    def on_it():
        pods = [stack.get_pod(pod_name) for pod_name in TWENTY_FOUR]
        return [p for p in pods if note(p, "gpu-uuid")], [p for p in pods if not note(p, "gpu-uuid")]
    wait_until(lambda: len(on_it()[0]) == 23, 60, lambda: "23 to be placed\n" + stack.logs())
    last, = on_it()[1]
    # Where the others took long it was told before of what they were waiting for.
    told = placed(stack.wait_pod(last["metadata"]["name"], lambda p: "68Mi" in placed(p).get("message", ""), 60,
                                 what="a condition"))
    assert (told["reason"], told["status"]) == ("ShortMemory", "False") and where in told["message"], told
    capacity, = capacity_on(stack, where)
    grants = ledger(capacity).values()
    assert identity(capacity)["memory"] == 46068
    assert (len(grants), sum(g["mib"] for g in grants)) == (23, 46000)
    assert sum(g["milli"] for g in grants) <= 1000


# --- 33 ------------------------------------------------------------------------------------------

def test_k33_long_names_with_dots_and_names_that_the_server_makes(scene, stack, node):
    where = node()
    long_name = ".".join(["a" * 63] * 3 + ["b" * 61])
    assert len(long_name) == 253
    generated = stack.pod("x", fraction="0.4", **on(where))
    generated["metadata"].pop("name")
    generated["metadata"]["generateName"] = "c.d-" + "e" * 200 + "-"
    made = stack.api.create("pods", generated, namespace="default")
    names = [long_name, made["metadata"]["name"]]
    stack.create_pod(long_name, fraction="0.4", **on(where))
    pods = [stack.wait_running(pod_name) for pod_name in names]
    capacity, = capacity_on(stack, where)
    uuid = identity(capacity)["uuid"]
    assert {note(p, "gpu-uuid") for p in pods} == {uuid} and [seen(stack, p) for p in pods] == [[uuid]] * 2
    assert {p["metadata"]["uid"] for p in pods} == set(ledger(capacity))
    for pod in pods:
        wait_until(lambda p=pod: events(stack, p, "Placed"), 60, "its event")
        stack.api.delete("pods", pod["metadata"]["name"], "default", grace=1)


# --- 38 ------------------------------------------------------------------------------------------

def test_k38_a_container_that_restarts_reads_its_limits_again(scene, stack, node, name):
    """The same GPU; what was changed meanwhile holds from the restart on, not before."""
    where, pod_name = node(), name()
    stack.create_pod(pod_name, fraction="0.5", **on(where))
    pod = stack.wait_running(pod_name)
    before = environment(stack, pod)
    less = str(int(note(pod, "memory-mib")) - 512)
    # As the controller would: first the ledger, then the tenant.
    capacity, = capacity_on(stack, where)
    grants = json.loads(note(capacity, "grants"))
    grants["grants"][0]["mib"] = int(less)
    ours = stack.plane.client("controller")
    ours.patch("pods", capacity["metadata"]["name"], {"metadata": {"annotations": {
        P + "grants": json.dumps(grants)}}}, SYSTEM)
    ours.patch("pods", pod_name, {"metadata": {"annotations": {P + "memory-mib": less}}}, "default")
    assert environment(stack, pod)["ALIQUOT_MEMORY_MIB"] == before["ALIQUOT_MEMORY_MIB"] != less
    stack.kubelet.fault("kill", namespace="default", pod=pod_name, container="main", code=137)

    def restarted(found):
        status, = found["status"]["containerStatuses"]
        return status["restartCount"] == 1 and "running" in status["state"]
    pod = stack.wait_pod(pod_name, restarted, 60, what="restarted")
    env = environment(stack, pod)
    assert env["ALIQUOT_MEMORY_MIB"] == less == note(pod, "memory-mib")
    assert env["ALIQUOT_GPU_UUID"] == before["ALIQUOT_GPU_UUID"] and seen(stack, pod) == [before["ALIQUOT_GPU_UUID"]]


# --- C23 and 39 ----------------------------------------------------------------------------------

def reasons_shown(stack):
    """{reason: names} of all pods that wait and say so; None while one of those has not said anything."""
    found = {}
    for pod in stack.api.list("pods", labelSelector=P + "tenant=true"):
        if P + "gpu" not in gates(pod):
            continue
        if placed(pod).get("status") != "False":
            return None
        found.setdefault(placed(pod)["reason"], set()).add(pod["metadata"]["name"])
    return found


def reasons_counted(stack):
    """{reason: how many}, where it is not 0, of the leader's /metrics."""
    begin = 'aliquot_tenants_waiting{reason="'
    return {series[len(begin):].split('"')[0]: int(value) for series, value in stack.leader().metrics().items()
            if series.startswith(begin) and value > 0}


def test_c23_counts_by_reason_are_those_of_the_conditions(scene, stack):
    """Several wait for each of several reasons; who is short of something is told where most of it is."""
    def agree():
        shown, counted = reasons_shown(stack), reasons_counted(stack)
        assert shown is not None, "somebody has not said why"
        assert {reason: len(names) for reason, names in shown.items()} == counted, (shown, counted)
        return shown
    shown = wait_until(agree, 60, lambda: "agreement\n" + stack.logs(), ignore=(AssertionError,))
    said = {pod_name: reason for reason, names in shown.items() for pod_name in names}
    for pod_name, reason in scene.waits.items():
        # Of those that are short of the same, the first keeps what gets free (C17).
        assert said[pod_name] in ((reason, "Reserved") if reason.startswith("Short") else (reason,)), said
        message = placed(stack.get_pod(pod_name))["message"]
        assert not reason.startswith("Short") or SHORT in message, message
    assert set(said.values()) >= set(scene.waits.values()), said
    # Who does not wait any more is not counted any more.
    stack.api.delete("pods", "gated", "default", grace=1)
    wait_until(lambda: "OtherGates" not in reasons_counted(stack), 60, "one fewer")


def test_k39_without_a_gpu_they_wait_and_others_go_on(scene, stack, node, name):
    """Nothing is opened where there is no GPU, nobody else is held up, and a GPU that comes is used at once. What asks a
    cluster autoscaler for a node is test_scale.py's."""
    waiting = ["later-0", "later-1"]
    for pod_name in waiting:
        stack.wait_pod(pod_name, lambda p: placed(p).get("reason") == "NodeUnfit", 60, what="NodeUnfit")
    other = name()
    stack.create_pod(other, fraction="0.5", **on(node()))
    stack.wait_running(other)
    assert not capacity_on(stack, LATER) and all(gates(stack.get_pod(p)) == [P + "gpu"] for p in waiting)
    stack.kubelet.fault("unhealthy", node=LATER, index=0, on=False)
    pods = [stack.wait_running(pod_name) for pod_name in waiting]
    assert len(capacity_on(stack, LATER)) == 1 and len({note(p, "gpu-uuid") for p in pods}) == 1
    assert all(is_tenant(p) and int(note(p, "memory-mib")) <= MIB // 2 for p in pods)
