"""The overlay surge: which pods the controller may create and delete outside its own namespaces (C24), and who may
touch the marks of a surge."""

import os

import pytest

import manifests
from api import ApiError
from apisuite import pod, refusal
from test_rbac import EVERYWHERE, granted, rights
from waiting import wait_until

P = "aliquot.dev/"
OVERLAY = os.path.join(manifests.MANIFESTS, "overlays", "surge")
HASH = "pod-template-hash"
COST = "controller.kubernetes.io/pod-deletion-cost"


def owner(kind="ReplicaSet", controller=False, api="apps/v1"):
    return {"apiVersion": api, "kind": kind, "name": "web-7d", "uid": "00000000-0000-0000-0000-000000000001",
            "controller": controller}


def beside(name, space, owners=None, labels=None, **meta):
    return pod(name, space, labels={P + "surge": "old"} if labels is None else labels,
               ownerReferences=[owner()] if owners is None else owners, **meta)


@pytest.fixture(name="surge", scope="module")
def fixture_surge(cp, controller, space):
    """The overlay, in force; the other modules of this suite know nothing of it."""
    objects = manifests.render(OVERLAY)
    manifests.install(cp.admin, objects)

    def in_force():
        """The right and the policy come one after the other, in any order: one answer says which of them are there."""
        try:
            controller.create("pods", pod("probe", space), dryRun="All")
        except ApiError as error:
            return error.message.startswith('pods "probe" is forbidden: ValidatingAdmissionPolicy') and \
                controller.create("pods", beside("probe", space), dryRun="All")
        return False
    wait_until(in_force, 60, "the overlay to be in force", ignore=(ApiError,))
    yield
    for obj in reversed(objects):
        cp.admin.delete(RESOURCES[obj["kind"]], obj["metadata"]["name"])


RESOURCES = {"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings",
             "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
             "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings"}


@pytest.mark.usefixtures("surge")
@pytest.mark.parametrize("what", [
    {"labels": {}},
    {"owners": []},
    {"owners": [owner(controller=True)]},
    {"owners": [owner(), owner("StatefulSet")]},
    {"owners": [owner("Job", api="batch/v1")]},
    {"owners": [owner(api="extensions/v1")]},
    {"labels": {P + "surge": "old", HASH: "7d"}},
])
def test_c24_no_other_pod_is_created(controller, space, what):
    error = refusal(controller.create, "pods", beside("other", space, **what))
    assert error.status == 403 and "aliquot-surge" in error.message, error.message


@pytest.mark.usefixtures("surge")
@pytest.mark.parametrize("namespace", ["aliquot-agents", "kube-system"])
def test_c24_c28_no_pod_is_created_where_pods_may_be_privileged_for_others(admin, controller, namespace):
    """With the overlay `restricted` agents are in the first; it may not be there."""
    admin.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    try:
        error = refusal(controller.create, "pods", beside("beside", namespace))
        assert error.status == 403 and "where agents are, nor in kube-system" in error.message, error.message
    finally:
        if namespace == "aliquot-agents":
            admin.delete("namespaces", namespace)


@pytest.fixture(name="replicas")
def fixture_replicas(admin, space):
    """A ReplicaSet with one pod; what names it as an owner stays."""
    labels = {"app": "beside", HASH: "7d"}
    template = {"metadata": {"labels": labels}, "spec": pod("x", space)["spec"]}
    made = admin.create("replicasets", {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web-7d", "namespace": space},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}})
    wait_until(lambda: admin.get("replicasets", "web-7d", space)["status"]["replicas"] == 1, 60, "its pod")
    yield dict(owner(), uid=made["metadata"]["uid"])
    admin.delete("replicasets", "web-7d", space, propagationPolicy="Background")


@pytest.mark.usefixtures("surge")
def test_c24_a_pod_that_stands_beside_is_created_adopted_and_deleted(admin, controller, space, replicas):
    """What the ReplicaSet has adopted is not ours to delete any more."""
    def make(name):
        return controller.create("pods", beside(name, space, [replicas], {P + "surge": "old", "app": "beside"},
                                                annotations={COST: "1000"}))
    make("stands")
    controller.delete("pods", "stands", space, grace=0)
    make("stays")
    controller.patch("pods", "stays", {"metadata": {"labels": {HASH: "7d"}}}, space)
    wait_until(lambda: admin.get("pods", "stays", space)["metadata"]["ownerReferences"][0]["controller"], 60,
               "the ReplicaSet to take it")
    error = refusal(controller.delete, "pods", "stays", space)
    assert error.status == 403 and "has a controller" in error.message, error.message


@pytest.mark.usefixtures("surge")
def test_c24_nobody_elses_pod_is_deleted(controller, pods, space):
    pods("theirs")
    error = refusal(controller.delete, "pods", "theirs", space)
    assert error.status == 403 and "aliquot-surge" in error.message, error.message


@pytest.mark.usefixtures("surge")
def test_the_marks_of_a_surge_are_ours(admin, jane, controller, pods, space, replicas):  # pylint: disable=too-many-arguments
    for client in (admin, jane):
        error = refusal(client.create, "pods", beside("forged", space))
        assert error.status == 403 and P + "surge" in error.message, error.message
        error = refusal(client.create, "pods", pod("forged", space, annotations={P + "surged-by": "x"}))
        assert error.status == 403 and P + "surged-by" in error.message, error.message
    pods("usual")
    for meta in ({"labels": {P + "surge": "x"}}, {"annotations": {P + "surged-by": "x"}}):
        assert refusal(jane.patch, "pods", "usual", {"metadata": meta}, space).status == 403
    controller.create("pods", beside("stands", space, [replicas], annotations={P + "surge-hash": "7d"}))
    for meta in ({"labels": {P + "surge": None}}, {"labels": {P + "surge": "x"}},
                 {"annotations": {P + "surge-hash": "8e"}}, {"annotations": {P + "surge-generation": "1"}}):
        assert refusal(jane.patch, "pods", "stands", {"metadata": meta}, space).status == 403, meta
    jane.patch("pods", "stands", {"metadata": {"labels": {"app": "x"}}}, space)
    admin.delete("pods", "stands", space, grace=0)


@pytest.mark.usefixtures("surge")
def test_what_c25_asks_for_can_be_read(controller, space):
    for resource in ("replicasets", "statefulsets", "daemonsets", "replicationcontrollers", "jobs",
                     "horizontalpodautoscalers", "poddisruptionbudgets"):
        assert controller.list(resource, space) is not None
    for resource in ("replicasets", "deployments"):
        assert refusal(controller.get, resource, "any", space).status == 404
    for resource in ("replicasets", "deployments", "horizontalpodautoscalers", "poddisruptionbudgets"):
        assert refusal(controller.patch, resource, "any", {"metadata": {}}, space).status == 403


@pytest.mark.usefixtures("surge")
def test_the_overlay_grants_exactly_this(controller, space):
    assert granted(controller, space) - rights(EVERYWHERE) == rights([
        ("create delete", "", "pods", ""),
        ("list", "apps", "replicasets", ""),
        ("list", "apps", "statefulsets", ""),
        ("list", "apps", "daemonsets", ""),
        ("list", "", "replicationcontrollers", ""),
        ("list", "batch", "jobs", ""),
    ])


def test_without_the_overlay_no_pod_is_created(controller, space):
    """It is taken back by now, or was never there; either way the right is the overlay's alone."""
    rules = [r for obj in manifests.render() if obj["kind"] == "ClusterRole" for r in obj["rules"]]
    assert not [r for r in rules if "pods" in r["resources"] and {"create", "delete"} & set(r["verbs"])]
    assert space and controller
