"""A recommendation becomes the share of the next pod (R3, O4, O6), whoever wrote its figures."""

import contextlib
import json

import pytest

import asking
import helpers
from api import ApiError
from helpers import P, events, is_tenant, is_whole, note, on
from waiting import wait_until

STACK = asking.STACK
AUTO = {"aliquot.test/of": "recommended"}


class Recommended:
    """Workloads, recommendations and policies of one test, in a namespace of its own."""

    def __init__(self, stack, space, account):
        self.stack, self.api, self.space, self.account = stack, stack.api, space, account

    def deploy(self, name, where, **template):
        pod = self.stack.pod("x", **on(where))
        labels = {"app": name}
        return self.api.create("deployments", {
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": self.space},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
                "metadata": dict(template, labels=labels), "spec": pod["spec"]}}})

    pods = helpers.pods_of
    next_pod = helpers.next_pod

    def recommend(self, kind, name, group="apps", recommendation=None, **status):
        """As our account writes it; the workload need not exist."""
        own = recommendation or "%s-%s" % (kind.lower(), name)
        if self.api.find("gpurecommendations", own, self.space) is None:
            self.account.create("gpurecommendations", {
                "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPURecommendation",
                "metadata": {"name": own, "namespace": self.space},
                "spec": {"targetRef": {"group": group, "kind": kind, "name": name}}})
        self.account.patch("gpurecommendations", own, {"status": status}, self.space, sub="status")
        return own

    def would_be(self, name, replica_set="1234abcd", labels=None):
        """A pod of the Deployment as the webhook would leave it now."""
        obj = self.stack.pod("probe", self.space, labels={"pod-template-hash": replica_set, **(labels or {})})
        obj["metadata"]["ownerReferences"] = [{
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": True,
            "name": "%s-%s" % (name, replica_set), "uid": "00000000-0000-0000-0000-000000000000"}]
        return self.api.create("pods", obj, namespace=self.space, dryRun="All")

    def wait_would(self, name, condition, what, **options):
        return wait_until(lambda: condition(self.would_be(name, **options)), 60, what)

    def mode(self, mode):
        self.api.patch("gpupolicies", self.space, {"spec": {"mode": mode}})


def sufficient(status="True", reason="Sufficient"):
    return {"type": "HistorySufficient", "status": status, "reason": reason, "message": "",
            "lastTransitionTime": "2026-11-21T10:00:00Z"}


def target(percent, memory, revision=17, conditions=None):
    return {"revision": revision, "conditions": conditions or [sufficient()],
            "containers": [{"name": "main", "target": {"computePercent": percent, "memory": memory}}]}


@pytest.fixture
def recommended(stack):
    account = stack.plane.client_of_token(stack.api.mint_token("aliquot-controller", "aliquot-system"))
    with asking.namespace(stack, labels=AUTO) as space:
        stack.api.create("gpupolicies", {
            "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUPolicy", "metadata": {"name": space},
            "spec": {"mode": "Automate", "selector": {"namespaceSelector": {
                "matchLabels": {"kubernetes.io/metadata.name": space}}}}})
        try:
            yield Recommended(stack, space, account)
        finally:
            with contextlib.suppress(ApiError):
                stack.api.delete("gpupolicies", space)
            for obj in stack.api.list("gpurecommendations", space):
                with contextlib.suppress(ApiError):
                    stack.api.delete("gpurecommendations", obj["metadata"]["name"], space)


def share(pod):
    return note(pod, "share"), note(pod, "memory"), note(pod, "recommendation")


def test_the_next_pod_has_the_recommended_share(recommended, node):
    """R3, O6: nothing recommended, nothing changed; then the pod that comes next, and no other."""
    recommended.deploy("llm", node())
    first = wait_until(lambda: recommended.pods("llm"), 60, "a pod of llm")[0]
    assert is_whole(first)
    recommended.recommend("Deployment", "llm", **target(30, "7Gi"))
    recommended.wait_would("llm", is_tenant, "the recommendation to be known")
    assert [p["metadata"]["uid"] for p in recommended.pods("llm")] == [first["metadata"]["uid"]]

    second = recommended.next_pod("llm")
    assert share(second) == ("0.30", "7Gi", "deployment-llm@17")
    assert note(second, "policy-applied") == recommended.space + "@1"
    running = recommended.stack.wait_running(second["metadata"]["name"], 60, recommended.space)
    assert note(running, "compute-milli") == "300" and note(running, "memory-mib") == "7168"
    # S3: what a person who describes it reads.
    assert json.loads(note(second, "original"))["gpu"]["limits"] == "1"
    said = wait_until(lambda: events(recommended.stack, running, "Placed"), 60, "it to be told")
    assert any("0.3" in e["message"] and "7" in e["message"] and note(running, "gpu-uuid") in e["message"] for e in said), [e["message"] for e in said]
    deployment = recommended.api.get("deployments", "llm", recommended.space)
    assert deployment["metadata"]["generation"] == 1

    recommended.mode("Recommend")
    recommended.wait_would("llm", is_whole, "the mode to be known")
    assert is_whole(recommended.next_pod("llm"))


def test_a_new_target_and_one_that_is_still_learnt(recommended):
    """R2: what is not known well enough is shown and not applied."""
    recommended.recommend("Deployment", "a", **target(30, "7Gi"))
    recommended.wait_would("a", lambda p: share(p) == ("0.30", "7Gi", "deployment-a@17"), "the target")
    recommended.recommend("Deployment", "a", **target(45, "10Gi", 18))
    recommended.wait_would("a", lambda p: share(p) == ("0.45", "10Gi", "deployment-a@18"),
                           "the new target", replica_set="5678efab")
    recommended.recommend("Deployment", "a", **target(45, "10Gi", 18, [sufficient("False", "Learning")]))
    recommended.wait_would("a", is_whole, "the target not to be applied")
    recommended.recommend("Deployment", "a", **target(45, "10Gi", 18, [sufficient("False", "Stale")]))
    recommended.wait_would("a", is_tenant, "a stale target to be applied all the same")
    recommended.api.delete("gpurecommendations", "deployment-a", recommended.space)
    recommended.wait_would("a", is_whole, "the recommendation to be gone")


def test_a_group_makes_one_workload_of_many(recommended):
    """O9: two Deployments of one team are one workload, and what is recommended for it is theirs."""
    name = "runs-" + recommended.space
    recommended.api.create("gpuworkloadgroups", {
        "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUWorkloadGroup", "metadata": {"name": name},
        "spec": {"keyFrom": "LabelValue", "keyName": "run", "rules": [
            {"topOwner": {"group": "apps", "kind": "Deployment", "nameRegex": "^nightly-"}}]}})
    try:
        recommended.recommend("GPUWorkloadGroup", name + ".etl", "aliquot.dev",
                              "gpuworkloadgroup-%s.etl" % name, **target(25, "4Gi"))
        for each in ("nightly-1", "nightly-2"):
            recommended.wait_would(each, lambda p: share(p)[0] == "0.25", "the group's target",
                                   labels={"run": "etl"})
        assert is_whole(recommended.would_be("weekly-1", labels={"run": "etl"}))
        assert is_whole(recommended.would_be("nightly-1", labels={"run": "other"}))
    finally:
        recommended.api.delete("gpuworkloadgroups", name)


def test_exclude_keeps_the_whole_gpu(recommended):
    """O4."""
    recommended.recommend("Deployment", "a", **target(30, "7Gi"))
    recommended.wait_would("a", is_tenant, "the target")
    recommended.api.patch("namespaces", recommended.space,
                          {"metadata": {"annotations": {P + "default-exclude": "true"}}})
    recommended.wait_would("a", is_whole, "the namespace to be excluded")


def test_a_group_that_cannot_be_used_says_so(recommended):
    """O10."""
    name = "bad-" + recommended.space
    api = recommended.api
    api.create("gpuworkloadgroups", {
        "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUWorkloadGroup", "metadata": {"name": name},
        "spec": {"rules": [{"imageRegex": "vllm("}]}})

    def accepted():
        status = api.get("gpuworkloadgroups", name).get("status", {})
        return next((c for c in status.get("conditions", []) if c["type"] == "Accepted"), {})
    try:
        wait_until(lambda: accepted().get("reason") == "BadRegex", 60, accepted)
        assert accepted()["status"] == "False" and "rules[0].imageRegex" in accepted()["message"]
        api.patch("gpuworkloadgroups", name, {"spec": {"rules": [{"imageRegex": "vllm"}]}})
        wait_until(lambda: accepted().get("status") == "True", 60, accepted)
        version = api.get("gpuworkloadgroups", name)["metadata"]["resourceVersion"]
        recommended.wait_would("any", is_whole, "a pod")
        assert api.get("gpuworkloadgroups", name)["metadata"]["resourceVersion"] == version
    finally:
        api.delete("gpuworkloadgroups", name)
