"""From what pods use to a GPURecommendation, and from there to the share of the next pod."""

import contextlib
import itertools
import time

import pytest

import agents
import asking
import helpers
from api import ApiError, memory_mib
from helpers import events, is_tenant, is_whole, note, on
from waiting import wait_until

# Who is started again after a kill has the same name, as in one pod, and may take the Lease at once. A tenant comes to a
# GPU beside the one that its whole predecessor gives back.
STACK = {"nodes": [("sized-%d" % i, 2) for i in range(6)], "controllers": [["--identity=leader"]],
         "arguments": ["--idle-grace-seconds=1", "--usage-seconds=5", "--rightsizing-seconds=1",
                       "--checkpoint-seconds=3600"]}
APART = True
QUICK = {"compute": {"percentile": 98, "headroomPercent": 25, "minPercent": 10, "maxPercent": 100, "stepPercent": 5},
         "memory": {"headroomPercent": 15, "min": "1Gi", "step": "256Mi"},
         "history": {"windowSeconds": 3600, "requiredSeconds": 60, "halfLifeSeconds": 600},
         "update": {"scaleDownDelaySeconds": 0}}


class Sized:
    """Workloads and the policy of one test, in a namespace of its own."""

    def __init__(self, stack, space):
        self.stack, self.api, self.space = stack, stack.api, space
        self.generations = itertools.count(1)

    def deploy(self, name, where):
        pod = self.stack.pod("x", **on(where))
        labels = {"app": name}
        return self.api.create("deployments", {
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": self.space,
                         "labels": {"app.kubernetes.io/instance": "theirs"}},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": pod["spec"]}}})

    pods = helpers.pods_of
    next_pod = helpers.next_pod

    def running(self, name):
        pod = wait_until(lambda: next(iter(self.pods(name)), None), 60, "a pod of " + name)
        return self.stack.wait_running(pod["metadata"]["name"], 60, self.space)

    def use(self, pod, percent, mib):
        self.stack.kubelet.fault("use", namespace=self.space, pod=pod["metadata"]["name"], mib=mib, sm=percent)

    def found(self, name):
        return self.api.find("gpurecommendations", "deployment-" + name, self.space)

    def wait(self, name, condition, what, timeout=60):
        last = {}

        def holds():
            last["grec"] = self.found(name)
            return last["grec"] is not None and condition(last["grec"])
        wait_until(holds, timeout, lambda: "%s; it says %s\n%s" % (what, last["grec"], self.stack.logs()), every=0.3)
        return last["grec"]

    def wait_later(self, name, condition, what, timeout):
        """Policy time goes on until it is so: in builds that cannot be told, as it does on the wall. Figures alone are told
        once a minute, and at once with another generation of their policy."""
        controller, = self.stack.controllers

        def later(grec):
            if condition(grec):
                return True
            if controller.can_crash():
                controller.forward(10)
            self.api.patch("gpupolicies", self.space, {"spec": {"update": {"cooldownSeconds": next(self.generations)}}})
            return False
        return self.wait(name, later, what, timeout)

    def mode(self, mode):
        self.api.patch("gpupolicies", self.space, {"spec": {"mode": mode}})


def condition(grec, kind):
    """(status, reason)"""
    for one in grec.get("status", {}).get("conditions", []):
        if one["type"] == kind:
            return one["status"], one["reason"]
    return None


def target(grec):
    containers = grec.get("status", {}).get("containers", [])
    found = containers[0].get("target") if containers else None
    return found and (found.get("computePercent"), found.get("memory"))


@pytest.fixture
def sized(stack):
    with asking.namespace(stack) as space:
        stack.api.create("gpupolicies", {
            "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUPolicy", "metadata": {"name": space},
            "spec": dict(QUICK, mode="Recommend", selector={"namespaceSelector": {
                "matchLabels": {"kubernetes.io/metadata.name": space}}})})
        # Policies and pods are told by two watches: what is recommended first may have been without it.
        wait_until(lambda: stack.api.get("gpupolicies", space).get("status", {}).get("observedGeneration"), 60,
                   "the policy to be known")
        try:
            yield Sized(stack, space)
        finally:
            with contextlib.suppress(ApiError):
                stack.api.delete("gpupolicies", space)


@pytest.fixture(name="agents_on")
def fixture_agents_on(stack):
    """agents_on(node, …): the product's agents on these nodes, until the test ends."""
    yield lambda *nodes: agents.start_product(stack, nodes)
    with contextlib.suppress(ApiError):
        agents.stop(stack)


@pytest.mark.timeout(300)
def test_what_is_measured_becomes_the_share_of_the_next_pod(sized, node, agents_on):
    """R1, R3, O6, G3: nothing known, nothing recommended; learnt, shown and not applied; then, in mode Automate, the
    next pod has it. The Deployment is never written."""
    where = node(2)
    deployment = sized.deploy("llm", where)
    pod = sized.running("llm")
    assert is_whole(pod)
    grec = sized.wait("llm", lambda g: condition(g, "Recommended") is not None, "it to be made")
    owner, = grec["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("Deployment", "llm", deployment["metadata"]["uid"])
    assert "labels" not in grec["metadata"]
    assert grec["spec"]["targetRef"] == {"group": "apps", "kind": "Deployment", "name": "llm"}
    assert condition(grec, "HistorySufficient") == ("False", "Learning")
    assert grec["status"]["policy"] == {"name": sized.space, "generation": 1, "source": "Selector"}

    sized.use(pod, 20, 6144)
    agents_on(where)
    grec = sized.wait_later("llm", lambda g: condition(g, "HistorySufficient") == ("True", "Sufficient"), "enough history", 200)
    assert target(grec) == (30, "7Gi"), grec["status"]
    container, = grec["status"]["containers"]
    assert container["name"] == "main" and container["original"]["computePercent"] == 100
    assert container["usage"]["computeTarget"] == 21 and container["usage"]["memoryPeak"] == "6Gi"
    assert grec["status"]["revision"] >= 1
    assert condition(grec, "Ready") == ("True", "Recommending")
    assert is_whole(sized.running("llm")), "mode Recommend changes nothing"
    assert [m["manager"] for m in grec["metadata"]["managedFields"]] == ["aliquot"] * len(
        grec["metadata"]["managedFields"])

    sized.mode("Automate")
    sized.wait("llm", lambda g: condition(g, "Ready") == ("True", "Ready"), "the mode to be known")
    second = sized.next_pod("llm")
    assert is_tenant(second)
    assert (note(second, "share"), note(second, "memory")) == ("0.30", "7Gi")
    sized.running("llm")
    sized.wait_later("llm", lambda g: g["status"]["summary"].get("pods") == "1/1", "that every pod has it", 60)
    deployment = sized.api.get("deployments", "llm", sized.space)
    assert deployment["metadata"]["generation"] == 1
    assert "aliquot" not in {m["manager"] for m in deployment["metadata"]["managedFields"]}


def learnt(sized, where, agents_on, name="llm"):
    """A Deployment on that node with 20 % and 6 GiB that are known well enough."""
    sized.deploy(name, where)
    sized.use(sized.running(name), 20, 6144)
    agents_on(where)
    return sized.wait_later(name, lambda g: condition(g, "HistorySufficient") == ("True", "Sufficient"), "enough history", 200)


def restart(stack):
    controller, = stack.controllers
    assert controller.stop() == 0
    controller.start()


@pytest.mark.timeout(300)
def test_a_restart_forgets_nothing(sized, node, agents_on):
    """R11, G4: what was measured is written at the end and read at the start; what cannot be read is learnt anew, and
    what is in force stays meanwhile. It all goes with the Deployment."""
    where, api = node(2), sized.api
    before = learnt(sized, where, agents_on)
    restart(sized.stack)
    checkpoint, = api.list("gpuusagecheckpoints", sized.space)
    assert checkpoint["spec"] == {"recommendationName": "deployment-llm", "containerName": "main"}
    assert checkpoint["metadata"]["ownerReferences"][0]["uid"] == before["metadata"]["uid"]
    samples = checkpoint["status"]["samples"]
    assert checkpoint["status"]["version"] == "v1" and samples >= before["status"]["history"]["samples"]
    after = sized.wait_later("llm", lambda g: g["status"]["history"]["samples"] > samples, "more samples", 100)
    assert target(after) == target(before) == (30, "7Gi")
    assert after["status"]["revision"] == before["status"]["revision"]
    assert condition(after, "HistorySufficient") == ("True", "Sufficient")
    assert after["status"]["history"]["firstSampleTime"] == before["status"]["history"]["firstSampleTime"]

    controller, = sized.stack.controllers
    assert controller.stop() == 0
    api.patch("gpuusagecheckpoints", checkpoint["metadata"]["name"], {"status": {"version": "v9"}}, sized.space,
              sub="status")
    # Of nothing that is told it would have learnt enough again within a minute.
    agents.stop(sized.stack)
    controller.start()
    wait_until(lambda: events(sized.stack, after, "CheckpointIgnored"), 60, "an event about the checkpoint")
    again = sized.wait("llm", lambda g: condition(g, "HistorySufficient") == ("False", "Relearning"),
                       "it to learn anew", 60)
    assert target(again) == (30, "7Gi") and again["status"]["revision"] == before["status"]["revision"]

    api.delete("deployments", "llm", sized.space, propagationPolicy="Background")
    wait_until(lambda: not api.list("gpurecommendations", sized.space), 60, "the recommendation to go")
    wait_until(lambda: not api.list("gpuusagecheckpoints", sized.space), 60, "the checkpoint to go")


def near(one, other, step):
    return abs(one - other) <= step


def last_sample(grec):
    return grec["status"]["containers"][0].get("usage", {}).get("lastSampleTime", "")


@pytest.mark.timeout(700)
def test_r11_a_kill_costs_no_target(sized, node, agents_on):
    """R11: killed once checkpoints are written, and who leads then comes to the same within one step: by what was
    measured, for the pod uses less from then on, and not because the target is read back."""
    where, api = node(2), sized.api
    learnt(sized, where, agents_on)
    restart(sized.stack)
    saved, = api.list("gpuusagecheckpoints", sized.space)
    samples = saved["status"]["samples"]
    before = sized.wait_later("llm", lambda g: g["status"]["history"]["samples"] > samples, "more samples", 150)
    controller, = sized.stack.controllers
    controller.kill()
    killed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(controller.policy_time()))
    sized.use(sized.running("llm"), 5, 1024)
    controller.start(wait_ready=False)
    after = sized.wait_later("llm", lambda g: last_sample(g) > killed and
                             condition(g, "HistorySufficient") == ("True", "Sufficient"), "samples since it was killed", 200)
    assert after["status"]["history"]["samples"] > samples
    assert after["status"]["history"]["firstSampleTime"] == before["status"]["history"]["firstSampleTime"]
    was, now = before["status"]["containers"][0], after["status"]["containers"][0]
    for share in "target", "uncappedTarget":
        assert near(was[share]["computePercent"], now[share]["computePercent"], 5), (was, now)
        assert near(memory_mib(was[share]["memory"]), memory_mib(now[share]["memory"]), 256), (was, now)
    assert near(was["usage"]["computeTarget"], now["usage"]["computeTarget"], 1), (was, now)
    assert now["usage"]["memoryPeak"] == was["usage"]["memoryPeak"] == "6Gi"


@pytest.mark.timeout(400)
def test_a_running_tenant_gets_the_new_target_where_it_is(sized, node, agents_on):
    """It uses more, the target grows, and so does its share: the same pod, not restarted, and the ledger says so."""
    where = node(2)
    learnt(sized, where, agents_on)
    sized.mode("Automate")
    sized.wait("llm", lambda g: condition(g, "Ready") == ("True", "Ready"), "the mode to be known")
    sized.next_pod("llm")
    pod = sized.running("llm")
    assert (note(pod, "compute-milli"), note(pod, "memory-mib")) == ("300", "7168")
    sized.use(pod, 50, 12288)
    grown = sized.wait_later("llm", lambda g: target(g) == (65, "14Gi"), "the target to grow", 200)
    assert grown["status"]["revision"] > 1

    def shares():
        now = sized.running("llm")
        assert now["metadata"]["uid"] == pod["metadata"]["uid"]
        return note(now, "compute-milli"), note(now, "memory-mib")
    wait_until(lambda: shares() == ("650", "14336"), 60, lambda: "its share to grow\n" + sized.stack.logs())
    sized.wait_later("llm", lambda g: g["status"]["summary"].get("allocatedCompute") == "65%" and
                     g["status"]["summary"]["pods"] == "1/1", "that to be told", 90)
    assert not [s for s in sized.running("llm")["status"]["containerStatuses"] if s["restartCount"]]
