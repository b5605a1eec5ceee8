"""What the controller's own account may not do with the rights that RBAC gives it (manifests/self.yaml).

RBAC knows no fields. Whoever has stolen the token may patch each pod of the cluster and make pods where agents live: these
tests are what he would do with it, and beside each what the controller itself does all the time.
"""

import copy

import pytest

from apisuite import pod, refusal
from waiting import wait_until

P = "aliquot.dev/"
GATE = P + "gpu"
HOME = "aliquot-system"
IMAGE = [{"op": "replace", "path": "/spec/containers/0/image", "value": "evil"}]
POLICIES = ["aliquot-self", "aliquot-self-status", "aliquot-self-home", "aliquot-self-webhook"]


@pytest.fixture(scope="session", autouse=True)
def known(admin, controller, space):
    """The API server knows of the policies a moment after they were made."""
    admin.apply(pod("self-probe", space))

    def refused():
        error = refusal(controller.patch, "pods", "self-probe", {"metadata": {"annotations": {"a": "b"}}}, space, dryRun="All")
        return "'aliquot-self'" in error.message
    wait_until(refused, 60, "the policies to be known", ignore=(BaseException,))
    yield
    admin.delete("pods", "self-probe", space, grace=0)


def refused(policy, said, call, *args, **kwargs):
    error = refusal(call, *args, **kwargs)
    assert error.status == 403 and "'%s'" % policy in error.message and said in error.message, error.message


def placement(node, terms):
    fields = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    pinned = [dict(term, **fields) for term in terms or [{}]]
    return {"metadata": {"annotations": {P + "gpu-uuid": "GPU-1", "nvidia.cdi.k8s.io/container.main": "x"}},
            "spec": {"schedulingGates": [], "affinity": {"nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": pinned}}}}}


ZONE = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
RACK = {"matchExpressions": [{"key": "rack", "operator": "Exists"}]}


@pytest.fixture
def gated(admin, space):
    """Makes a pod of the suite that waits, with these terms; removed afterwards."""
    made = []

    def make(name, *terms, **more):
        obj = pod(name, space, [GATE, "example.com/other"] if more.pop("other", False) else [GATE],
                  labels={P + "tenant": "true", "app": "x"}, annotations={"a": "b"}, **more)
        if terms:
            obj["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": list(terms)}}}
        made.append(name)
        return admin.create("pods", obj)
    yield make
    for name in made:
        admin.delete("pods", name, space, grace=0)


@pytest.mark.parametrize("terms", [[], [ZONE], [ZONE, RACK]], ids=len)
def test_a_placement_passes(gated, controller, space, terms):
    gated("placed", *terms)
    controller.patch("pods", "placed", placement("node-1", terms), space)


def test_what_else_the_controller_writes_passes(gated, pods, controller, admin, space):
    gated("written")
    controller.patch("pods", "written", {"metadata": {"annotations": {P + "compute-milli": "250", P + "resized": "now"}}}, space)
    controller.patch("pods", "written", {"metadata": {"annotations": {P + "compute-milli": None}}}, space)
    controller.patch("pods", "written", {"status": {"conditions": [
        {"type": P + "Placed", "status": "False", "reason": "NoRoom", "message": "x"}]}}, space, "status", "strategic")
    # A surge: which of two goes first, and the label by which the new one is counted.
    first = {P + "surged-by": "fresh", "controller.kubernetes.io/pod-deletion-cost": "-1"}
    controller.patch("pods", "written", {"metadata": {"annotations": first}}, space)
    controller.patch("pods", "written", {"metadata": {"annotations": {key: None for key in first}}}, space)
    pods("fresh", labels={P + "surge": "old", "app": "x"})
    controller.patch("pods", "fresh", {"metadata": {"labels": {"pod-template-hash": "7d"}}}, space)
    assert admin.get("pods", "written", space)["status"]["conditions"]


def test_a_pod_of_the_largest_size_is_placed(admin, controller, space):
    """What is too dear to be judged would be refused."""
    many = {"example.com/%05d" % i: "" for i in range(14000)}
    obj = pod("largest", space, [GATE], labels={P + "tenant": "true"}, annotations=many)
    admin.create("pods", obj)
    try:
        controller.patch("pods", "largest", placement("node-1", []), space)
    finally:
        admin.delete("pods", "largest", space, grace=0)


@pytest.mark.parametrize("said, patch", [
    ("annotations", {"metadata": {"annotations": {"example.com/x": "y"}}}),
    ("annotations", {"metadata": {"annotations": {"a": "c"}}}),
    ("annotations", {"metadata": {"annotations": {"a": None}}}),
    ("annotations", {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "1"}}}),
    ("labels", {"metadata": {"labels": {"app": "y"}}}),
    ("labels", {"metadata": {"labels": {"app": None}}}),
    ("labels", {"metadata": {"labels": {"pod-template-hash": "7d"}}}),
    ("owners", {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "gone"}]}}),
    ("finalizers", {"metadata": {"finalizers": ["example.com/stuck"]}}),
    ("spec", {"spec": {"containers": [{"name": "main", "image": "evil"}]}}),
    ("spec", {"spec": {"activeDeadlineSeconds": 1}}),
    ("spec", {"spec": {"nodeSelector": {"a": "b"}}}),
], ids=str)
def test_of_other_peoples_pods_nothing_else_is_written(gated, controller, space, said, patch):
    gated("theirs")
    refused("aliquot-self", said, controller.patch, "pods", "theirs", patch, space, kind="strategic")


def test_no_taint_is_tolerated_for_them(gated, controller, space):
    gated("theirs")
    refused("aliquot-self", "spec", controller.patch, "pods", "theirs",
            [{"op": "add", "path": "/spec/tolerations/-", "value": {"operator": "Exists"}}], space, kind="json")


def test_another_gate_stays(gated, controller, space):
    gated("two-gates", other=True)
    refused("aliquot-self", "gate", controller.patch, "pods", "two-gates", {"spec": {"schedulingGates": [{"name": GATE}]}}, space)
    refused("aliquot-self", "gate", controller.patch, "pods", "two-gates", {"spec": {"schedulingGates": []}}, space)


@pytest.mark.parametrize("change", ["terms", "preferred", "other pods"])
def test_of_the_affinity_the_node_alone(gated, controller, space, change):
    gated("tied", ZONE)
    body = placement("node-1", [ZONE])
    affinity = body["spec"]["affinity"]
    if change == "terms":
        affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0][
            "matchExpressions"] = ZONE["matchExpressions"] + RACK["matchExpressions"]
    elif change == "preferred":
        affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": 1, "preference": RACK}]
    else:
        affinity["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "zone", "labelSelector": {}}]}
    error = refusal(controller.patch, "pods", "tied", body, space)
    # Of a pod that waits the API server itself lets the terms of its nodes become narrower, and no more.
    assert "'aliquot-self'" in error.message or error.status == 422, error.message


@pytest.mark.parametrize("said, status", [
    ("conditions", {"conditions": [{"type": "Ready", "status": "True"}]}),
    ("status", {"phase": "Failed"}),
    ("status", {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}),
    ("status", {"nominatedNodeName": "node-1"}),
    ("status", {"reason": "Evicted", "message": "x"}),
], ids=str)
def test_of_their_status_its_conditions_alone(pods, controller, space, said, status):
    pods("theirs")
    refused("aliquot-self-status", said, controller.patch, "pods", "theirs", {"status": status}, space, "status", "strategic")


def test_no_metadata_comes_with_a_status(pods, controller, space):
    pods("theirs")
    refused("aliquot-self-status", "metadata", controller.patch, "pods", "theirs",
            {"metadata": {"annotations": {"example.com/x": "y"}}}, space, "status")


# At home.

def ours(**spec):
    obj = pod("capacity-of-a-thief", HOME, labels={P + "capacity": "true"})
    obj["spec"].update({"serviceAccountName": "aliquot-capacity", **spec})
    return obj


def container(**more):
    one = copy.deepcopy(pod("x", HOME)["spec"]["containers"][0])
    one["securityContext"].update(more.pop("security", {}))
    return dict(one, **more)


def test_a_capacity_pod_is_made(controller):
    controller.create("pods", ours(), dryRun="All")


@pytest.mark.parametrize("said, spec", [
    ("account", {"serviceAccountName": "aliquot-agent"}),
    ("token", {"automountServiceAccountToken": True}),
    ("shares", {"hostNetwork": True}), ("shares", {"hostPID": True}), ("shares", {"hostIPC": True}),
    ("volumes", {"volumes": [{"name": "root", "hostPath": {"path": "/"}}]}),
    ("volumes", {"volumes": [{"name": "mps", "hostPath": {"path": "/run/aliquot/mps"}}]}),
    ("volumes", {"volumes": [{"name": "key", "secret": {"secretName": "aliquot-webhook"}}]}),
    ("volumes", {"volumes": [{"name": "key", "projected": {"sources": [{"secret": {"name": "aliquot-webhook"}}]}}]}),
    ("Secrets", {"containers": [container(envFrom=[{"secretRef": {"name": "aliquot-webhook"}}])]}),
    ("Secrets", {"containers": [container(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "aliquot-webhook", "key": "k"}}}])]}),
    ("privileged", {"containers": [container(security={"privileged": True, "allowPrivilegeEscalation": True})]}),
    ("privileged", {"containers": [container(security={"capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN"]}})]}),
    ("privileged", {"containers": [container(security={"runAsUser": 0, "runAsNonRoot": False})]}),
    ("privileged", {"securityContext": {}}),
    ("privileged", {"initContainers": [dict(container(security={"capabilities": {}}), name="first")]}),
], ids=str)
def test_no_other_pod_is_made_at_home(controller, said, spec):
    refused("aliquot-self-home", said, controller.create, "pods", ours(**spec), dryRun="All")


def test_nor_one_without_our_label(controller):
    obj = ours()
    del obj["metadata"]["labels"]
    refused("aliquot-self-home", "label", controller.create, "pods", obj, dryRun="All")


def test_under_mps_no_other_directory_and_no_other_right(controller):
    obj = ours(hostPID=True, volumes=[{"name": "root", "hostPath": {"path": "/etc"}}])
    obj["metadata"]["annotations"] = {P + "isolation": "MPS"}
    refused("aliquot-self-home", "volumes", controller.create, "pods", obj, dryRun="All")


# The webhook.

WEBHOOK = "zz-aliquot"


def test_the_authority_of_the_webhook_is_written(controller):
    controller.patch("mutatingwebhookconfigurations", WEBHOOK, {"webhooks": [
        {"name": "pods.aliquot.dev", "clientConfig": {"caBundle": ""}}]}, kind="strategic", dryRun="All")


@pytest.mark.parametrize("change", [
    {"rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}]},
    {"failurePolicy": "Fail"}, {"timeoutSeconds": 30}, {"namespaceSelector": {"matchLabels": {"a": "b"}}},
    {"matchConditions": [{"name": "all", "expression": "true"}]},
    {"clientConfig": {"service": {"name": "evil", "namespace": "default"}}},
    {"name": "another.aliquot.dev", "sideEffects": "None", "admissionReviewVersions": ["v1"],
     "clientConfig": {"url": "https://evil.example"}}], ids=str)
def test_nothing_else_of_it_is(controller, change):
    refused("aliquot-self-webhook", "caBundle alone", controller.patch, "mutatingwebhookconfigurations", WEBHOOK,
            {"webhooks": [dict({"name": "pods.aliquot.dev"}, **change)]}, kind="strategic", dryRun="All")


def test_nor_its_metadata(controller):
    refused("aliquot-self-webhook", "metadata", controller.patch, "mutatingwebhookconfigurations", WEBHOOK,
            {"metadata": {"labels": {"a": "b"}}}, dryRun="All")


def test_people_are_not_judged_by_it(pods, admin, space):
    pods("hers")
    admin.patch("pods", "hers", IMAGE, space, kind="json")
    admin.patch("pods", "hers", {"status": {"phase": "Failed"}}, space, "status")


@pytest.mark.parametrize("name", POLICIES)
def test_expressions_are_well_typed(admin, name):
    def checked():
        status = admin.get("validatingadmissionpolicies", name).get("status", {})
        return status.get("typeChecking") is not None and status
    assert wait_until(checked, 60, "the type check of " + name)["typeChecking"] == {}
