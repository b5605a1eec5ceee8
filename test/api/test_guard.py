"""The admission policies of manifests/: nobody but the controller writes what Aliquot keeps (C8).

The admin here is system:masters, who passes every RBAC check: the policies bind him too. No webhook
answers in this suite, so these are also the policies on their own, with the webhook away.
"""

import pytest

from apisuite import pod, refusal
from waiting import wait_until

P = "aliquot.dev/"
GATE = P + "gpu"
CDI = "nvidia.cdi.k8s.io/container.main"
GUARDED = [P + key for key in ("gpu-uuid", "visible-devices", "compute-milli", "memory-mib",
                               "mps-threads", "mps-memory", "framework-memory", "capacity-pod",
                               "term")]
HELD = GUARDED + [P + key for key in ("original", "container", "share", "memory", "isolation", "framework")]
AT_CREATE = ("only Aliquot writes the keys of a share; delete these lines from the metadata of "
             "this pod, or of the template that makes it: ")
AT_UPDATE = ("only Aliquot sets, changes or removes what it keeps on a pod; leave these as they "
             "are: ")
ELSE = (". To ask for another share annotate the template that makes the pod, for example with "
        "aliquot.dev/gpu-fraction")
AT_BINDING = ("only Aliquot writes the keys of a share; delete these lines from the metadata of "
              "this Binding: ")
AT_GATE = ('only Aliquot removes the scheduling gate aliquot.dev/gpu, when the pod has a GPU; to '
           'let the pod start without Aliquot set aliquot.dev/exclude to "true" on the template '
           'that makes it and delete the pod')
HEAD = "ValidatingAdmissionPolicy 'aliquot-guard' with binding 'aliquot-guard' denied request: "


def refused(sentence, call, *args, **kwargs):
    """CALL is refused by the guard with exactly this sentence."""
    error = refusal(call, *args, **kwargs)
    assert (error.status, error.reason) == (403, "Forbidden"), error
    assert error.message.partition(HEAD)[2] == sentence, error.message


def notes(*keys, value="x", **more):
    return {"metadata": {"annotations": dict({key: value for key in keys}, **more)}}


def labels(*keys, value="true"):
    return {"metadata": {"labels": {key: value for key in keys}}}


@pytest.fixture
def tenant(pods, controller, space):
    """A pod as the webhook leaves it, to which the controller then granted a share."""
    made = pods("tenant", gates=[GATE], labels={P + "tenant": "true"},
                annotations={P + "original": "{}", P + "container": "main", P + "share": "0.25",
                             P + "memory": "8Gi", P + "isolation": "MPS",
                             P + "framework": "vLLM"})
    controller.patch("pods", "tenant", notes(*GUARDED, CDI, value="1"), space)
    return made


# CREATE.

@pytest.mark.parametrize("key", GUARDED)
def test_a_guarded_key_is_refused_at_create(pods, key):
    refused(AT_CREATE + key, pods, annotations={key: "x"})


def test_all_of_them_are_named(pods):
    refused(AT_CREATE + ", ".join(GUARDED), pods, annotations={key: "" for key in HELD})


def test_an_engineer_is_told_the_same(pods, jane, space):
    refused(AT_CREATE + GUARDED[0], pods, client=jane, annotations={GUARDED[0]: "x"})
    pods("hers", client=jane)
    refused(AT_UPDATE + GUARDED[0] + ELSE, jane.patch, "pods", "hers", notes(GUARDED[0]), space)


def test_server_side_apply_is_a_create_too(admin, space):
    obj = pod("applied", space, annotations={GUARDED[0]: "x"})
    refused(AT_CREATE + GUARDED[0], admin.apply, obj)


def test_marks_that_the_webhook_would_judge_pass_at_create(pods):
    pods(gates=[GATE], labels={P + "tenant": "true", P + "capacity": "true", P + "in-use": "true"},
         annotations=dict({key: "x" for key in set(HELD) - set(GUARDED)},
                          **{P + "grants": "x", P + "policy-applied": "x"}))


def test_cdi_keys_are_guarded_on_tenants_only(pods):
    refused(AT_CREATE + CDI, pods, labels={P + "tenant": "true"}, annotations={CDI: "x"})
    pods(annotations={CDI: "x"})


def test_a_replica_set_tells_what_to_delete(admin, space):
    meta = {"labels": {"app": "copied"}, "annotations": {GUARDED[0]: "GPU-1"}}
    obj = {"apiVersion": "apps/v1", "kind": "ReplicaSet",
           "metadata": {"name": "copied", "namespace": space},
           "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "copied"}},
                    "template": {"metadata": meta, "spec": pod("x", space)["spec"]}}}
    admin.create("replicasets", obj)
    try:
        def told():
            conditions = admin.get("replicasets", "copied", space)["status"].get("conditions", [])
            return any(AT_CREATE + GUARDED[0] in one["message"] for one in conditions)
        wait_until(told, 60, "the condition ReplicaFailure")
    finally:
        admin.delete("replicasets", "copied", space)


# UPDATE of the pod and of its status.

def test_thousands_of_annotations_on_a_tenant_stop_no_status(pods, admin, space):
    """Where the guard walked over all of them this took more than half a minute."""
    pods("huge", labels={P + "tenant": "true"}, annotations={"a%d" % i: "" for i in range(15000)})
    status = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    admin.patch("pods", "huge", status, space, sub="status")
    for key in (GUARDED[0], CDI):
        refused(AT_UPDATE + key + ELSE, admin.patch, "pods", "huge", notes(key), space)


@pytest.mark.parametrize("sub", [None, "status"])
@pytest.mark.parametrize("key", HELD)
def test_no_key_is_set(pods, admin, space, sub, key):
    pods()
    refused(AT_UPDATE + key + ELSE, admin.patch, "pods", "pod", notes(key), space, sub)


@pytest.mark.parametrize("sub", [None, "status"])
@pytest.mark.parametrize("value", ["x", "", None], ids=["changed", "emptied", "removed"])
def test_no_key_is_changed(tenant, admin, space, sub, value):
    for key in HELD + [CDI]:
        refused(AT_UPDATE + key + ELSE, admin.patch, "pods", "tenant", notes(key, value=value),
                space, sub)
    refused(AT_UPDATE + P + "tenant" + ELSE, admin.patch, "pods", "tenant",
            labels(P + "tenant", value=value), space, sub)


@pytest.mark.parametrize("sub", [None, "status"])
def test_whole_maps_are_not_removed(tenant, admin, space, sub):
    refused(AT_UPDATE + ", ".join(HELD + [CDI]) + ELSE, admin.patch, "pods", "tenant",
            {"metadata": {"annotations": None}}, space, sub)
    refused(AT_UPDATE + P + "tenant" + ELSE, admin.patch, "pods", "tenant",
            {"metadata": {"labels": None}}, space, sub)


def test_a_stale_put_is_refused(tenant, controller, admin, space):
    controller.patch("pods", "tenant", notes(GUARDED[2], value="500"), space)
    stale = admin.get("pods", "tenant", space)
    del stale["metadata"]["resourceVersion"]
    stale["metadata"]["annotations"][GUARDED[2]] = "250"
    refused(AT_UPDATE + GUARDED[2] + ELSE, admin.replace, "pods", stale)


def test_nobody_makes_a_tenant_of_a_running_pod(pods, admin, space):
    pods()
    for sub in (None, "status"):
        refused(AT_UPDATE + P + "tenant" + ELSE, admin.patch, "pods", "pod",
                labels(P + "tenant"), space, sub)


def test_a_cdi_key_is_not_added_to_a_tenant(tenant, admin, space):
    other = "nvidia.cdi.k8s.io/container.sidecar"
    refused(AT_UPDATE + other + ELSE, admin.patch, "pods", "tenant", notes(other), space)


def test_the_gate_is_ours(tenant, controller, admin, space):
    refused(AT_GATE, admin.patch, "pods", "tenant", {"spec": {"schedulingGates": []}}, space)
    controller.patch("pods", "tenant", {"spec": {"schedulingGates": []}}, space)
    assert not admin.get("pods", "tenant", space)["spec"].get("schedulingGates")


def test_other_gates_are_not(pods, admin, space):
    pods(gates=[GATE, "example.com/quota"])
    admin.patch("pods", "pod", {"spec": {"schedulingGates": [{"name": GATE}]}}, space)


@pytest.mark.parametrize("sub, body", [
    ("ephemeralcontainers", {"spec": {"ephemeralContainers": [
        {"name": "debug", "image": "none", "env": [
            {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]}]}}),
    ("resize", {"spec": {"containers": [{"name": "main", "resources": {
        "requests": {"cpu": "2m"}}}]}})])
def test_other_subresources_cannot_carry_keys(tenant, admin, space, sub, body):
    body["metadata"] = {"annotations": {GUARDED[0]: "forged", "example.com/a": "b"},
                        "labels": {P + "tenant": None}}
    before = admin.get("pods", "tenant", space)["metadata"]
    admin.patch("pods", "tenant", body, space, sub, kind="strategic")
    after = admin.get("pods", "tenant", space)["metadata"]
    assert after["annotations"] == before["annotations"]
    assert after["labels"] == before["labels"]


# Containers that are added.

DEVICES = "NVIDIA_VISIBLE_DEVICES"
UNSEEN = {"name": DEVICES, "value": "void"}


def added(name, *env):
    return {"spec": {"ephemeralContainers": [{"name": name, "image": "none", "env": list(env)}]}}


@pytest.mark.parametrize("env", [
    [], [{"name": "A", "value": "void"}], [{"name": DEVICES, "value": "all"}], [{"name": DEVICES}],
    [{"name": DEVICES, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
    [UNSEEN, {"name": DEVICES, "value": "all"}]], ids=str)
def test_k30_a_debugger_of_a_tenant_that_could_see_gpus_is_refused(tenant, admin, space, env):
    refused("a container added to a pod that shares a GPU could see every GPU of the node; "
            "Aliquot, which prevents that, did not answer: set NVIDIA_VISIBLE_DEVICES to void "
            "yourself (kubectl debug --env=NVIDIA_VISIBLE_DEVICES=void) in debug", admin.patch,
            "pods", "tenant", dict(added("debug", *env), metadata={"labels": {P + "tenant": None}}),
            space, "ephemeralcontainers", "strategic")


def test_k30_a_debugger_that_sees_none_is_added_beside_one_that_was_there(pods, controller, admin,
                                                                           space):
    pods()
    admin.patch("pods", "pod", added("plain"), space, "ephemeralcontainers", "strategic")
    controller.patch("pods", "pod", labels(P + "tenant"), space)
    admin.patch("pods", "pod", added("void", UNSEEN), space, "ephemeralcontainers", "strategic")
    spec = admin.get("pods", "pod", space)["spec"]
    assert {one["name"] for one in spec["ephemeralContainers"]} == {"plain", "void"}


# Bindings.

def binding(name, **meta):
    return {"apiVersion": "v1", "kind": "Binding", "metadata": dict(meta, name=name),
            "target": {"apiVersion": "v1", "kind": "Node", "name": "nowhere"}}


@pytest.mark.parametrize("key", HELD + [CDI])
def test_a_binding_carries_no_key(pods, admin, space, key):
    pods()
    refused(AT_BINDING + key, admin.create, "pods", binding("pod", annotations={key: "x"}), space,
            "binding", "pod")
    refused(AT_BINDING + key, admin.create, "bindings", binding("pod", annotations={key: "x"}),
            space)


def test_a_binding_carries_no_tenant_label(pods, admin, space):
    pods()
    refused(AT_BINDING + P + "tenant", admin.create, "pods",
            binding("pod", labels={P + "tenant": "true"}), space, "binding", "pod")


def test_an_ordinary_binding_binds(pods, admin, space):
    pods()
    admin.create("pods", binding("pod", annotations={"example.com/a": "b"}), space, "binding",
                 "pod")
    bound = admin.get("pods", "pod", space)
    assert bound["spec"]["nodeName"] == "nowhere"
    assert bound["metadata"]["annotations"] == {"example.com/a": "b"}


# Our own account.

def test_the_controller_writes_all_of_it(tenant, controller, admin, space):
    controller.patch("pods", "tenant", notes(*HELD, CDI, value="2"), space)
    controller.patch("pods", "tenant", {"status": {"conditions": [
        {"type": P + "Placed", "status": "False", "reason": "NoRoom", "message": "no room"}]}},
        space, "status", "strategic")
    controller.patch("pods", "tenant", notes(*HELD, CDI, value=None), space)
    after = admin.get("pods", "tenant", space)
    assert "annotations" not in after["metadata"]
    assert P + "Placed" in [one["type"] for one in after["status"]["conditions"]]


def test_the_binder_of_a_tenant_is_the_scheduler(tenant, controller, admin, space):
    """What the scheduler writes on a tenant passes."""
    controller.patch("pods", "tenant", {"spec": {"schedulingGates": []}}, space)
    admin.patch("pods", "tenant", {"status": {"conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}}, space, "status",
        "strategic")
    admin.create("pods", binding("tenant"), space, "binding", "tenant")
    admin.patch("pods", "tenant", {"status": {"phase": "Running"}}, space, "status")


# Ordinary pods.

def test_ordinary_pods_are_left_alone(pods, admin, jane, space):
    """Every way in which other people's pods change, with no key of ours."""
    pods(client=jane, labels={"a": "b"})
    for client in (admin, jane):
        client.patch("pods", "pod", notes(P + "gpu-fraction", P + "policy", "example.com/x"), space)
        client.patch("pods", "pod", {"metadata": {"annotations": None, "labels": {"c": "d"}}},
                     space)
        client.patch("pods", "pod", {"metadata": {"labels": None}}, space)
    admin.patch("pods", "pod", {"status": {"phase": "Running"}}, space, "status")
    jane.delete("pods", "pod", space, grace=0)


def test_a_pod_of_the_largest_size_is_judged_too(pods, admin, space):
    """256 KiB of annotations must not make an expression too dear, which would stop the pod."""
    many = {"example.com/%05d" % i: "" for i in range(14000)}
    pods(annotations=many)
    admin.patch("pods", "pod", notes("example.com/one-more"), space)
    refused(AT_UPDATE + P + "tenant" + ELSE, admin.patch, "pods", "pod", labels(P + "tenant"),
            space)
    cdi = {"nvidia.cdi.k8s.io/container.%05d" % i: "" for i in range(6000)}
    cdi[CDI] = ""
    refused(AT_CREATE + CDI, pods, "cdi", labels={P + "tenant": "true"}, annotations=cdi)
    some = dict(list(cdi.items())[:900])
    error = refusal(pods, "cdi", labels={P + "tenant": "true"}, annotations=some)
    assert error.status == 403 and "only Aliquot writes" in error.message


def test_expressions_are_well_typed(admin):
    for name in ("aliquot-guard", "aliquot-term", "aliquot-canary"):
        def checked(name=name):
            status = admin.get("validatingadmissionpolicies", name).get("status", {})
            return status.get("typeChecking") is not None and status
        status = wait_until(checked, 60, "the type check of " + name)
        assert status["typeChecking"] == {}


# Capacity pods: pods of aliquot-system with the label.

HOME = "aliquot-system"


@pytest.fixture
def capacity(pods, controller):
    return pods("capacity-0-0", HOME, controller, labels={P + "capacity": "true",
                                                          P + "in-use": "false"})


@pytest.mark.parametrize("key", ["capacity", "in-use", "probe"])
def test_only_the_controller_makes_capacity_pods(pods, key):
    refused(AT_CREATE + P + key, pods, "forged", HOME, labels={P + key: "true"})


def test_nobody_makes_a_capacity_pod_of_another(pods, admin):
    pods("other", HOME)
    for sub in (None, "status"):
        for body, key in ((labels(P + "capacity"), "capacity"), (labels(P + "in-use"), "in-use"),
                          (notes(P + "grants"), "grants"), (labels(P + "probe"), "probe"),
                          (notes(P + "injection"), "injection")):
            refused(AT_UPDATE + P + key + ELSE, admin.patch, "pods", "other", body, HOME, sub)


@pytest.mark.usefixtures("capacity")
def test_the_ledger_is_ours(controller, admin):
    controller.patch("pods", "capacity-0-0", dict(metadata={
        "annotations": {P + "grants": "{}"}, "labels": {P + "in-use": "true"}}), HOME)
    for sub in (None, "status"):
        refused(AT_UPDATE + P + "grants" + ELSE, admin.patch, "pods", "capacity-0-0",
                notes(P + "grants", value=None), HOME, sub)
        refused(AT_UPDATE + P + "in-use" + ELSE, admin.patch, "pods", "capacity-0-0",
                labels(P + "in-use", value="false"), HOME, sub)
        refused(AT_UPDATE + P + "capacity" + ELSE, admin.patch, "pods", "capacity-0-0",
                labels(P + "capacity", value=None), HOME, sub)
    error = refusal(admin.create, "pods", binding("capacity-0-0", annotations={P + "grants": ""}),
                    HOME, "binding", "capacity-0-0")
    assert error.message.endswith(AT_BINDING + P + "grants")


# The canary's namespace.

def test_the_canary_namespace_takes_dry_runs_only(controller, admin):
    sentence = ("ValidatingAdmissionPolicy 'aliquot-canary' with binding 'aliquot-canary' denied "
                "request: the namespace aliquot-canary is only for dry runs, with which Aliquot "
                "tests its webhook; create this pod in another namespace")
    for client in (controller, admin):
        error = refusal(client.create, "pods", pod("canary", "aliquot-canary"))
        assert (error.status, error.message.endswith(sentence)) == (403, True), error
        made = client.create("pods", pod("canary", "aliquot-canary"), dryRun="All")
        assert made["metadata"]["name"] == "canary"
    assert admin.list("pods", "aliquot-canary") == []


def test_the_canary_may_ask_for_a_fraction(controller):
    obj = pod("canary", "aliquot-canary", annotations={P + "gpu-fraction": "0.25"})
    obj["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    controller.create("pods", obj, dryRun="All")
