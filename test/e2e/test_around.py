"""What else acts on a workload's pods: autoscalers, disruption budgets, owners."""

import json

import pytest

import manifests
from api import ApiError
from test_rightsizing import STACK as SIZED_STACK
from test_rightsizing import condition, learnt, target
from test_rightsizing import fixture_agents_on, sized  # noqa: F401, what the tests here stand on
from helpers import events, note, on
from waiting import wait_until

STACK = dict(SIZED_STACK, nodes=[("around-%d" % i, 1) for i in range(3)])


def scale(sized, name, metric):
    """A HorizontalPodAutoscaler of that Deployment."""
    spec = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": 1, "maxReplicas": 3, "metrics": [{"type": "Pods", "pods": {
                "metric": {"name": metric}, "target": {"type": "AverageValue", "averageValue": "80"}}}]}
    found = sized.api.find("horizontalpodautoscalers", "scaler", sized.space)
    if found is not None:
        return sized.api.patch("horizontalpodautoscalers", "scaler", {"spec": spec}, sized.space)
    return sized.api.create("horizontalpodautoscalers", {
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "scaler", "namespace": sized.space}, "spec": spec})


def wait_read(sized, pod, percent):
    """Until that use of its GPU was read often enough to be part of what is known of it: of two readings one may be left out.
    Its GPURecommendation tells new figures alone only once a minute."""
    seen, meta = set(), pod["metadata"]

    def read():
        for one in json.loads(sized.stack.wait_leader().get("/debug/usage")[1])["pods"]:
            if (one["ns"], one["name"]) == (meta["namespace"], meta["name"]):
                seen.update(f["at_ms"] for f in one["figures"] if f["milli_percent"] == percent * 1000)
        return len(seen) >= 3
    wait_until(read, 90, lambda: "%d %% to be read; it was at %s" % (percent, seen), every=0.3)


def message(grec, kind):
    return next(c["message"] for c in grec["status"]["conditions"] if c["type"] == kind)


@pytest.mark.timeout(600)
def test_of_what_is_scaled_on_its_gpu_memory_alone_is_sized(sized, node, agents_on):  # noqa: F811
    """U14: compute stays as it is, and who scales it is named; memory grows. On a queue's length it may go on."""
    where = node()
    learnt(sized, where, agents_on)
    sized.mode("Automate")
    sized.wait("llm", lambda g: condition(g, "Ready") == ("True", "Ready"), "the mode to be known")
    sized.next_pod("llm")
    pod = sized.running("llm")
    assert (note(pod, "compute-milli"), note(pod, "memory-mib")) == ("300", "7168")
    scaler = scale(sized, "llm", "DCGM_FI_DEV_GPU_UTIL")
    grec = sized.wait("llm", lambda g: condition(g, "UpdateBlocked") == ("True", "HorizontalScalerOnGPU"),
                      "the autoscaler to be seen")
    assert "HorizontalPodAutoscaler scaler" in message(grec, "UpdateBlocked")
    assert "DCGM_FI_DEV_GPU_UTIL" in message(grec, "UpdateBlocked")
    sized.use(pod, 50, 12288)
    # And all of its compute is known, before that may grow: from what was seen of it first to all of it may be too small
    # a step to be taken.
    wait_read(sized, pod, 50)
    sized.wait("llm", lambda g: target(g) == (30, "14Gi"), "its memory alone to grow", 200)

    def shares():
        now = sized.running("llm")
        assert now["metadata"]["uid"] == pod["metadata"]["uid"]
        return note(now, "compute-milli"), note(now, "memory-mib")
    wait_until(lambda: shares() == ("300", "14336"), 60, lambda: "its share to grow\n" + sized.stack.logs())

    scale(sized, "llm", "queue_length")
    sized.wait("llm", lambda g: condition(g, "UpdateBlocked") is None and target(g) == (65, "14Gi"),
               "its compute to grow, too", 60)
    scaler = sized.api.get("horizontalpodautoscalers", scaler["metadata"]["name"], sized.space)
    assert "aliquot" not in {m["manager"] for m in scaler["metadata"]["managedFields"]}, "I6"


GROUP = "factory.aliquot.test"


def kind(api, plural, name):
    """A kind of somebody's that nobody here was built for."""
    manifests.install(api, [{
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "%s.%s" % (plural, GROUP)},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": plural, "kind": name},
                 "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                     "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}])


def reference(owner):
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"], "controller": True}


def made(api, space, plural, name, above=None):
    return api.create("%s.%s/v1" % (plural, GROUP), {
        "apiVersion": GROUP + "/v1", "kind": plural[:-1].capitalize(),
        "metadata": {"name": name, "namespace": space, "ownerReferences": [reference(above)] if above else []}})


@pytest.fixture(name="kinds")
def fixture_kinds(stack):
    """Gadgets and Widgets, which our account may read as operating.md says, and Riddles, which it may not."""
    api = stack.api
    kind(api, "gadgets", "Gadget")
    kind(api, "widgets", "Widget")
    kind(api, "riddles", "Riddle")
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "aliquot-owners"},
            "rules": [{"apiGroups": [GROUP], "resources": ["gadgets", "widgets"], "verbs": ["get"]}]}
    bound = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
             "metadata": {"name": "aliquot-owners"},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "aliquot-owners"},
             "subjects": [{"kind": "ServiceAccount", "name": "aliquot-controller", "namespace": "aliquot-system"}]}
    api.create("clusterroles", role)
    api.create("clusterrolebindings", bound)
    # The API server learns of its own rules by watches; what it once refused us is not asked again for a while.
    ours = stack.plane.client("controller")
    wait_until(lambda: all(ours.find("%s.%s/v1" % (plural, GROUP), "none", "default") is None
                           for plural in ("gadgets", "widgets")), 60, "our account to be let", ignore=(ApiError,))
    yield
    api.delete("clusterrolebindings", "aliquot-owners")
    api.delete("clusterroles", "aliquot-owners")
    for plural in ("gadgets", "widgets", "riddles"):
        api.delete("customresourcedefinitions", "%s.%s" % (plural, GROUP))


@pytest.mark.usefixtures("kinds")
@pytest.mark.timeout(300)
def test_a_workload_is_what_only_a_reference_tells(sized, node):  # noqa: F811
    """A Widget above a Gadget above a pod: kinds that nobody here knows are found, read and followed; what we may not
    read ends the climb and harms nobody (R12)."""
    api, space, where = sized.api, sized.space, node()
    widget = made(api, space, "widgets", "w")
    gadget = made(api, space, "gadgets", "g", widget)
    riddle = made(api, space, "riddles", "r", widget)
    for owner in (gadget, riddle):
        pod = sized.stack.pod("of-" + owner["metadata"]["name"], space, **on(where))
        pod["metadata"]["ownerReferences"] = [reference(owner)]
        api.create("pods", pod)

    def found():
        return {g["metadata"]["name"]: g["spec"]["targetRef"] for g in api.list("gpurecommendations", space)}

    def tops():
        return {(t["kind"], t["name"]) for t in found().values()}
    wanted = {("Widget", "w"), ("Riddle", "r")}
    wait_until(lambda: tops() == wanted, 60, lambda: "both workloads; there are %s\n%s" % (found(), sized.stack.logs()))
    owners = {o["uid"] for g in api.list("gpurecommendations", space) for o in g["metadata"]["ownerReferences"]}
    assert owners == {widget["metadata"]["uid"], riddle["metadata"]["uid"]}, "each goes with its owner"


def test_a_group_tells_how_many_pods_it_takes(sized, node):  # noqa: F811
    """O9: in its status, and again when there are others."""
    api, space, where = sized.api, sized.space, node()
    name = "runs-" + space
    api.create("gpuworkloadgroups", {
        "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUWorkloadGroup", "metadata": {"name": name},
        "spec": {"keyFrom": "LabelValue", "keyName": "app", "rules": [
            {"topOwner": {"group": "apps", "kind": "Deployment", "nameRegex": "^nightly-"}}]}})

    def counts():
        status = api.get("gpuworkloadgroups", name).get("status", {})
        return status.get("matchedPods"), status.get("groups")
    try:
        sized.deploy("nightly-a", where)
        sized.deploy("nightly-b", where)
        sized.deploy("weekly", where)
        wait_until(lambda: counts() == (2, 2), 60, lambda: "%s\n%s" % (counts(), sized.stack.logs()))
        api.delete("deployments", "nightly-a", space, propagationPolicy="Background")
        wait_until(lambda: counts() == (1, 1), 60, lambda: "%s\n%s" % (counts(), sized.stack.logs()))
    finally:
        api.delete("gpuworkloadgroups", name)


def test_a_time_zone_that_nobody_knows_is_told(sized):  # noqa: F811
    """An event of the policy names it, and what to write instead."""
    policy = sized.api.patch("gpupolicies", sized.space, {"spec": {"update": {"windows": [
        {"days": ["Mon"], "start": "22:00", "end": "04:00", "timeZone": "Mars/Base"}]}}})
    told = wait_until(lambda: events(sized.stack, policy, "TimeZoneUnknown"), 60,
                      lambda: "an event\n" + sized.stack.logs())
    assert "Mars/Base" in told[0]["message"] and "Europe/Berlin" in told[0]["message"], told
