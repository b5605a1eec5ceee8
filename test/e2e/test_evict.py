"""The one way in which a tenant is taken down (I5): recycling (C21), a node in a driver upgrade (C13),
preemption (C17), each under real disruption budgets. Their waits run at the same time."""

import contextlib

import pytest

from helpers import P, events, gates, note, on, pin, placed, wait_gone
from waiting import wait_until

from api import ApiError

STACK = {"nodes": [("evict-%d" % i, 1) for i in range(7)],
         "arguments": ["--idle-grace-seconds=2", "--recycle-seconds=2", "--preempt-seconds=1"]}
ALLOWING, REFUSING, STUCK, BARE, UPGRADED, WHOLE, JOBS = ("evict-%d" % i for i in range(7))
HIGH = "evict-high"
UPGRADE = "nvidia.com/gpu-driver-upgrade-state"
EVICTIONS = "aliquot_evictions_total"
# What a Job must say so that an eviction is no failure.
SPARES = {"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [
    {"type": "DisruptionTarget", "status": "True"}]}]}}


def beside(friend):
    """Only on a node with a pod that is labelled so: the scheduler alone judges that."""
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname",
         "labelSelector": {"matchLabels": {"friend": friend}}}]}}}


class Scene:
    def __init__(self, stack):
        self.stack = stack
        self.api = stack.api
        self.evicted = 0  # by controllers that have ended

    def budget(self, name, healthy):
        self.api.create("poddisruptionbudgets", {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
            "spec": {"minAvailable": healthy, "selector": {"matchLabels": {"budget": name}}}},
            namespace="default")

    def drop_budget(self, name):
        self.api.delete("poddisruptionbudgets", name, "default")

    def replicas(self, name, count, fraction, **spec):
        pod = self.stack.pod("any", fraction=fraction, labels={"budget": name, "of": name}, **spec)
        self.api.create("replicasets", {
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name},
            "spec": {"replicas": count, "selector": {"matchLabels": {"of": name}},
                     "template": {"metadata": {"labels": pod["metadata"]["labels"],
                                               "annotations": pod["metadata"]["annotations"]},
                                  "spec": pod["spec"]}}}, namespace="default")

    def job(self, name, fraction, node, **spec):
        """No pod of it may fail. It cannot be bound before a friend of the Job is there."""
        pod = self.stack.pod("any", fraction=fraction, labels={"of": name}, restartPolicy="Never",
                             **on(node), **beside(name))
        self.api.create("jobs", {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"backoffLimit": 0, **spec, "template": {
                "metadata": {key: pod["metadata"][key] for key in ("labels", "annotations")},
                "spec": pod["spec"]}}}, namespace="default")

    def pods(self, name):
        return [pod for pod in self.api.list("pods", "default", labelSelector="of=" + name)
                if not pod["metadata"].get("deletionTimestamp")]

    def running(self, name, count=1, timeout=60):
        def there():
            found = [p for p in self.pods(name) if p["status"].get("phase") == "Running"]
            return len(found) == count and found
        return wait_until(there, timeout, lambda: "%d running of %s\n%s" % (count, name, self.stack.logs()))

    def displaced(self, node, healthy):
        """A tenant under a budget, and one of a higher priority that fits nowhere else."""
        low, high = "low-on-" + node, "high-on-" + node
        self.budget(low, healthy)
        self.stack.create_pod(low, fraction="0.6", labels={"budget": low}, **on(node))
        pod = self.stack.wait_running(low)
        # The budget counts it as healthy.
        wait_until(lambda: self.api.get("poddisruptionbudgets", low, "default")["status"].get(
            "currentHealthy") == 1, 60, "the budget to count")
        self.stack.create_pod(high, fraction="0.6", priorityClassName=HIGH, **on(node))
        return pod, high

    def succeeds(self, name, first, node):
        """Another pod came instead of the first; it runs once its friend is there."""
        def another():
            found = self.pods(name)
            return len(found) == 1 and found[0]["metadata"]["uid"] != first["metadata"]["uid"] and found
        wait_until(another, 60, lambda: "a successor\n" + self.stack.logs())
        assert "has not bound it" in self.told(first, "Recycled")
        self.stack.create_pod("friend-" + name, gpus=0, labels={"friend": name}, **on(node))
        self.stack.wait_running("friend-" + name)
        # Its workload keeps off the node that was refused (C36), for two minutes at least: another term knows nothing of that.
        controller, = self.stack.controllers
        self.evicted += controller.metric(EVICTIONS)
        assert controller.stop() == 0
        controller.start()
        pod, = self.running(name, timeout=120)
        assert note(pod, "gpu-uuid")

    def told(self, pod, reason, timeout=60):
        found = wait_until(lambda: events(self.stack, pod, reason), timeout,
                           lambda: "the event %s\n%s" % (reason, self.stack.logs()))
        return found[0]["message"]

    def label(self, node, state):
        self.api.patch("nodes", node, {"metadata": {"labels": {UPGRADE: state}}})


@pytest.fixture(scope="module")
def scene(stacks):
    made = Scene(stacks.use(STACK))
    api = made.api
    api.create("priorityclasses", {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                   "metadata": {"name": HIGH}, "value": 1000,
                                   "preemptionPolicy": "PreemptLowerPriority"})
    try:
        made.replicas("stuck", 1, "0.5", **on(STUCK), **beside("stuck"))
        made.stack.create_pod("bare", fraction="0.5", **on(BARE), **beside("bare"))
        made.allowed = made.displaced(ALLOWING, 0)
        made.refused = made.displaced(REFUSING, 1)
        made.job("spares", "0.3", JOBS, **SPARES)
        made.job("counts", "0.3", JOBS, podReplacementPolicy="Failed")
        made.stuck, = wait_until(lambda: made.pods("stuck"), 60, "its first pod")
        made.spared, = wait_until(lambda: made.pods("spares"), 60, "its first pod")
        # A device is free as soon as the object of its pod is gone.
        made.stack.kubelet.fault("free-delay", node=WHOLE, ms=0)
        made.shares = [made.stack.create_pod("share-%d" % i, fraction="0.4", **on(WHOLE)) for i in range(2)]
        made.replicas("web", 2, "0.4", **on(UPGRADED))
        for share in made.shares:
            made.stack.wait_running(share["metadata"]["name"])
        made.stack.create_pod("whole", gpus=1, priorityClassName=HIGH, **on(WHOLE))
        made.budget("web", 1)
        yield made
    finally:
        made.label(UPGRADED, None)
        for budget in api.list("poddisruptionbudgets", "default"):
            with contextlib.suppress(ApiError):
                made.drop_budget(budget["metadata"]["name"])
        made.stack.clean()
        api.delete("priorityclasses", HIGH)


def test_c13_a_node_in_a_driver_upgrade_is_emptied_within_budgets(scene, stack):
    first = scene.running("web", 2)
    wait_until(lambda: scene.api.get("poddisruptionbudgets", "web", "default")["status"].get(
        "disruptionsAllowed") == 1, 60, "the budget to count")
    scene.label(UPGRADED, "pod-deletion-required")
    left = scene.running("web", 1)[0]
    gone, = [p for p in first if p["metadata"]["uid"] != left["metadata"]["uid"]]
    assert "pod-deletion-required" in scene.told(gone, "NodeLeaves")
    assert "disruption budget web" in scene.told(left, "EvictionRefused")
    assert scene.running("web", 1)[0]["metadata"]["uid"] == left["metadata"]["uid"]
    scene.drop_budget("web")
    wait_until(lambda: stack.api.find("pods", left["metadata"]["name"], "default") is None, 60,
               lambda: "the last one to leave\n" + stack.logs())
    # Those that come instead are not let back.
    assert all(gates(pod) for pod in scene.pods("web"))
    wait_until(lambda: not [p for p in stack.capacity_pods() if pin(p) == UPGRADED], 60,
               "the capacity pod to leave")


def test_c17_a_budget_that_allows(scene, stack):
    low, high = scene.allowed
    pod = stack.wait_running(high, 60)
    assert note(pod, "gpu-uuid") == note(low, "gpu-uuid")
    assert "default/" + high in scene.told(low, "Preempted")
    # Its share is free as soon as it has ended, a moment before its kubelet takes it away.
    wait_gone(stack, low["metadata"]["name"])


def test_c17_a_budget_that_refuses(scene, stack):
    low, high = scene.refused
    name = low["metadata"]["name"]
    assert "disruption budget " + name in scene.told(low, "EvictionRefused")
    assert not stack.get_pod(name)["metadata"].get("deletionTimestamp")
    assert gates(stack.get_pod(high)) == [P + "gpu"]
    scene.drop_budget(name)
    stack.wait_running(high, 60)


def test_c17_k16_a_whole_pod_of_a_higher_priority_has_the_gpu(scene, stack):
    """Its tenants are evicted, the capacity pod goes at once, and no newcomer comes between."""
    stack.create_pod("late", fraction="0.1", **on(WHOLE))
    stack.wait_running("whole", 60)
    for share in scene.shares:
        assert "default/whole" in scene.told(share, "Preempted")
        wait_gone(stack, share["metadata"]["name"])
    assert gates(stack.get_pod("late")) == [P + "gpu"]


def test_c21_a_stuck_tenant_is_recycled(scene, stack):
    """Its successor is placed anew, and runs once the scheduler has no more objections."""
    scene.succeeds("stuck", scene.stuck, STUCK)


def test_c21_the_pod_of_a_job_that_spares_it_is_recycled(scene, stack):
    """The Job makes another one once the pod garbage collector has called the first one failed, and counts nothing."""
    scene.succeeds("spares", scene.spared, JOBS)

    def status():
        return stack.api.get("jobs", "spares", "default")["status"]
    wait_until(lambda: status().get("active") == status().get("ready") == 1, 60, "the Job to count its pod that runs")
    assert status().get("failed", 0) == 0, status()


def test_c21_the_pod_of_a_job_that_would_count_it_waits(scene, stack):
    """With backoffLimit 0 an eviction would be the end of the Job, whatever its podReplacementPolicy."""
    pod, = wait_until(lambda: scene.pods("counts"), 60, "its pod")
    pod = stack.wait_pod(pod["metadata"]["name"], lambda p: placed(p).get("reason") == "PinnedUnschedulable", 60,
                         what="PinnedUnschedulable")
    assert "the Job counts would count an eviction as a failure" in placed(pod)["message"]
    assert note(pod, "gpu-uuid") and not events(stack, pod, "Recycled")


def test_c21_a_bare_one_waits_and_says_so(scene, stack):
    pod = stack.wait_pod("bare", lambda p: placed(p).get("reason") == "PinnedUnschedulable", 60,
                         what="PinnedUnschedulable")
    assert placed(pod)["status"] == "True" and BARE in placed(pod)["message"]
    assert note(pod, "gpu-uuid") and not events(stack, pod, "Recycled")
    stack.create_pod("friend-bare", gpus=0, labels={"friend": "bare"}, **on(BARE))
    stack.wait_running("bare", 60)
    wait_until(lambda: scene.evicted + stack.leader().metric(EVICTIONS) >= 4, 60, "four evictions")
