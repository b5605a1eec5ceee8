"""The memory watchdog of mode None: who uses more than its share is told, and goes only where its policy says so
and the GPU is short; who ran out of memory through others is told that (C29). Their waits run at the same time."""

import contextlib

import pytest

import agents
from helpers import P, events, note, on, wait_policy
from waiting import holds_for, wait_until

from api import ApiError

STACK = {"nodes": [("memory-%d" % i, 1) for i in range(4)], "arguments": ["--idle-grace-seconds=2"]}
REPORTED, EVICTED, PROTECTED, CONTENDED = (name for name, _ in STACK["nodes"])
POLICIES = {"m-reports": "Report", "m-evicts": "Evict"}
OVER_MIB = 26000  # a share is a fifth of 80 GiB
FULL_MIB = 81200  # less than 2 % are left
CROWDED_MIB = 75000  # what is left is not short by itself, and less than a share
AT_ONCE_S = 8  # longer than an agent is waited for and an eviction takes; a failure counts for a minute
GOES = "disruption budgets allow: it uses"


def condition(pod, kind):
    return next((c for c in pod["status"].get("conditions", []) if c["type"] == P + kind), {})


class Scene:
    def __init__(self, stack):
        self.stack, self.api = stack, stack.api

    def tenant(self, name, node, policy, **more):
        self.stack.create_pod(name, fraction="0.2", annotations={P + "policy": policy}, **more, **on(node))
        return name

    def uses(self, name, mib):
        self.stack.kubelet.fault("use", namespace="default", pod=name, mib=mib)

    def fills(self, node, mib):
        """So much of the GPU of that node is in use in all, by whomever."""
        self.stack.kubelet.fault("nvml", node=node, index=0, used_mib=mib)

    def told(self, pod, reason, words, timeout=60):
        """The message of an event of ours about the pod that has these words."""
        def found():
            return [e["message"] for e in events(self.stack, pod, reason) if words in e["message"]]
        return wait_until(found, timeout, lambda: "%s: %s, there is %r\n%s" % (
            reason, words, [(e["reason"], e["message"]) for e in events(self.stack, pod)], self.stack.logs()))[0]

    def shows(self, name, kind, status, timeout=90):
        return condition(self.stack.wait_pod(name, lambda p: condition(p, kind).get("status") == status, timeout,
                                             what="%s %s" % (kind, status)), kind)

    def is_gone(self, pod, timeout=60):
        def gone():
            now = self.api.find("pods", pod["metadata"]["name"], "default")
            return now is None or now["metadata"]["uid"] != pod["metadata"]["uid"]
        wait_until(gone, timeout, lambda: "%s to leave\n%s" % (pod["metadata"]["name"], self.stack.logs()))


@pytest.fixture(scope="module")
def scene(stacks):
    made = Scene(stacks.use(STACK))
    stack, api = made.stack, made.api
    for name, overuse in POLICIES.items():
        api.create("gpupolicies", {
            "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUPolicy", "metadata": {"name": name},
            "spec": {"sharing": {"memoryOveruse": overuse},
                     "selector": {"podSelector": {"matchLabels": {"x": "x"}}}}})
    try:
        agents.start_product(stack, [name for name, _ in STACK["nodes"]])
        for name in POLICIES:
            wait_policy(stack, name)
        api.create("poddisruptionbudgets", {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "kept"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"budget": "kept"}}}}, namespace="default")
        made.tenant("loud", REPORTED, "m-reports")
        made.tenant("goes", EVICTED, "m-evicts")
        made.tenant("kept", PROTECTED, "m-evicts", labels={"budget": "kept"})
        made.tenant("greedy", CONTENDED, "m-evicts")
        made.tenant("victim", CONTENDED, "m-reports")
        made.pods = {name: stack.wait_running(name, 60) for name in ("loud", "goes", "kept", "greedy", "victim")}
        for name in ("loud", "goes", "kept", "greedy"):
            made.uses(name, OVER_MIB)
        made.uses("victim", 1000)
        yield made
    finally:
        for kind, name, space in [("gpupolicies", "m-reports", None), ("gpupolicies", "m-evicts", None),
                                  ("poddisruptionbudgets", "kept", "default")]:
            with contextlib.suppress(ApiError):
                api.delete(kind, name, space) if space else api.delete(kind, name)
        agents.stop(stack)
        stack.clean()


def test_overuse_is_told(scene, stack):
    """Share, use, by how much, what follows; on a GPU without free memory nothing follows but that."""
    pod = scene.pods["loud"]
    text = scene.told(pod, "MemoryOveruse", "memoryOveruse: Report")
    share = int(note(pod, "memory-mib"))
    for figure in (OVER_MIB, OVER_MIB - share, share):
        assert "%dMi" % figure in text, text
    assert "m-reports" in text, text
    assert scene.shows("loud", "MemoryOveruse", "True")["reason"] == "MemoryOveruse"
    leader = stack.wait_leader()
    wait_until(lambda: leader.metric("aliquot_memory_overuse_tenants") >= 1, 60, "the metric")
    wait_until(lambda: leader.metric("aliquot_memory_overuse_mib") >= OVER_MIB - share, 60, "by how much")
    scene.fills(REPORTED, FULL_MIB)


def test_evict_waits_until_the_gpu_is_short(scene):
    pod = scene.pods["goes"]
    scene.told(pod, "MemoryOveruse", "memoryOveruse: Evict")
    # It is over like the others, which were told with it, and nobody misses the memory.
    assert not [e for e in events(scene.stack, pod) if GOES in e["message"]]
    scene.fills(EVICTED, FULL_MIB)
    text = scene.told(pod, "MemoryOveruse", GOES)
    assert "of memory left" in text and "more than its share" in text, text
    scene.is_gone(pod)


def test_a_budget_keeps_it_and_says_so(scene):
    pod = scene.pods["kept"]
    scene.told(pod, "MemoryOveruse", "memoryOveruse: Evict")
    wait_until(lambda: scene.api.get("poddisruptionbudgets", "kept", "default")["status"].get("currentHealthy") == 1,
               60, "the budget to count")
    scene.fills(PROTECTED, FULL_MIB)
    scene.told(pod, "EvictionRefused", "disruption budget kept")
    assert not scene.stack.get_pod("kept")["metadata"].get("deletionTimestamp")
    scene.api.delete("poddisruptionbudgets", "kept", "default")
    scene.is_gone(pod)


def test_c29_the_victim_is_told_and_whoever_was_over_goes(scene):
    """A neighbour that failed is reason enough for a minute, where its share is not there for it."""
    victim, greedy = scene.pods["victim"], scene.pods["greedy"]
    scene.told(greedy, "MemoryOveruse", "memoryOveruse: Evict")
    scene.stack.kubelet.fault("kill", namespace="default", pod="victim", container="main", code=1,
                              message="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB")
    assert "because greedy used more than its share" in scene.told(victim, "Contention", "no memory left for it")
    assert scene.shows("victim", "Contention", "True")["reason"] == "Contention"
    # It can write so whatever is true: as long as its share is there for it, nobody goes.
    holds_for(lambda: not [e for e in events(scene.stack, greedy) if GOES in e["message"]], AT_ONCE_S,
              lambda: "greedy stays\n" + scene.stack.logs())
    scene.fills(CONTENDED, CROWDED_MIB)
    scene.told(greedy, "MemoryOveruse", "another tenant had no memory left there")
    scene.is_gone(greedy)


def test_it_ends_and_nobody_else_left(scene, stack):
    """The one under Report is there, on a full GPU, and is within its share again; its condition says so a minute
    after it said the contrary."""
    scene.uses("loud", 1000)
    leader = stack.wait_leader()
    wait_until(lambda: leader.metric("aliquot_memory_overuse_tenants") == 0, 60, "the metric")
    for name in ("loud", "victim"):
        assert stack.get_pod(name)["metadata"]["uid"] == scene.pods[name]["metadata"]["uid"]
