"""Pods that go around Aliquot: they name GPUs of the node that were given to others (manifests/around.yaml).

The policy warns, and can be made to refuse; here it refuses, by a binding of the suite's own for one namespace.
"""

import pytest

from api import ApiError
from apisuite import pod
from waiting import wait_until

P = "aliquot.dev/"
DEVICES = "NVIDIA_VISIBLE_DEVICES"
SPACE = "around-suite"
OURS = {"fieldRef": {"fieldPath": "metadata.annotations['aliquot.dev/visible-devices']"}}


def asking(name, env=(), container="containers", **meta):
    obj = pod(name, meta.pop("namespace", SPACE), **meta)
    extra = dict(obj["spec"]["containers"][0], name="other", env=list(env))
    obj["spec"].setdefault(container, []).append(extra)
    return obj


def naming(value):
    return [{"name": DEVICES, "value": value}]


@pytest.fixture(scope="session")
def strict(admin):
    """The namespace in which it is refused."""
    binding = "aliquot-around-of-the-suite"
    admin.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    wait_until(lambda: admin.find("serviceaccounts", "default", SPACE), 60, "the default service account")
    admin.apply({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
                 "metadata": {"name": binding}, "spec": {
                     "policyName": "aliquot-around", "validationActions": ["Deny"], "matchResources": {
                         "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": SPACE}}}}})

    def refused():
        try:
            admin.create("pods", asking("probe", naming("all")), dryRun="All")
        except ApiError as error:
            return "'aliquot-around'" in error.message
        return False
    wait_until(refused, 60, "the binding to be known")
    yield admin
    admin.delete("validatingadmissionpolicybindings", binding)
    admin.delete("namespaces", SPACE)


def refused(call, *args, **kwargs):
    with pytest.raises(ApiError) as caught:
        call(*args, **kwargs)
    assert caught.value.status == 403 and "'aliquot-around'" in caught.value.message, caught.value
    return caught.value.message


@pytest.mark.parametrize("container", ["containers", "initContainers"])
@pytest.mark.parametrize("value", ["GPU-8f6d2b3a", "0", "0,1", "all", "nvidia.com/gpu=GPU-1", "MIG-1", "$(OTHER)"])
def test_a_pod_that_names_gpus_is_refused(strict, value, container):
    message = refused(strict.create, "pods", asking("names", naming(value), container), dryRun="All")
    assert message.endswith("It is set in: other"), message


def test_a_forged_label_does_not_help(strict):
    refused(strict.create, "pods", asking("forged", naming("GPU-1"), labels={P + "tenant": "true"}), dryRun="All")


@pytest.mark.parametrize("source", [
    {"fieldRef": {"fieldPath": "metadata.annotations['mine']"}},
    {"configMapKeyRef": {"name": "mine", "key": "gpu"}}, {"secretKeyRef": {"name": "mine", "key": "gpu"}}], ids=str)
def test_nor_does_a_value_from_elsewhere(strict, source):
    refused(strict.create, "pods", asking("elsewhere", [{"name": DEVICES, "valueFrom": source}]), dryRun="All")


def test_nor_does_a_last_entry_that_looks_well(strict):
    refused(strict.create, "pods", asking("twice", naming("GPU-1") + naming("void")), dryRun="All")


@pytest.mark.parametrize("key", ["nvidia.cdi.k8s.io/container.main", "nvidia.cdi.k8s.io/pod", "cdi.k8s.io/mine",
                                 "management.nvidia.com/gpu"])
def test_nor_does_an_annotation_at_once_or_later(strict, key):
    refused(strict.create, "pods", asking("noted", annotations={key: "nvidia.com/gpu=all"}), dryRun="All")
    strict.create("pods", asking("later"))
    try:
        refused(strict.patch, "pods", "later", {"metadata": {"annotations": {key: "nvidia.com/gpu=all"}}}, SPACE)
    finally:
        strict.delete("pods", "later", SPACE, grace=0)


def test_nor_does_a_mount_or_a_debugger(strict):
    obj = asking("mounts")
    obj["spec"]["volumes"] = [{"name": "null", "emptyDir": {}}]
    obj["spec"]["containers"][1]["volumeMounts"] = [
        {"name": "null", "mountPath": "/var/run/nvidia-container-devices/GPU-1"}]
    refused(strict.create, "pods", obj, dryRun="All")
    strict.create("pods", asking("debugged"))
    try:
        added = {"name": "debug", "image": "none", "env": naming("all")}
        refused(strict.patch, "pods", "debugged", {"spec": {"ephemeralContainers": [added]}}, SPACE,
                "ephemeralcontainers", "strategic")
        added["env"] = naming("void")
        strict.patch("pods", "debugged", {"spec": {"ephemeralContainers": [added]}}, SPACE, "ephemeralcontainers",
                     "strategic")
    finally:
        strict.delete("pods", "debugged", SPACE, grace=0)


@pytest.mark.parametrize("env", [
    [], naming("void"), naming("none"), naming(""), [{"name": DEVICES, "valueFrom": OURS}],
    [{"name": "OTHER", "value": "all"}]], ids=str)
def test_others_and_what_the_webhook_makes_of_tenants_pass(strict, env):
    strict.create("pods", asking("well", env, labels={P + "tenant": "true"}), dryRun="All")
    strict.create("pods", asking("well", env, "initContainers", annotations={"a": "b"}), dryRun="All")


def test_a_pod_of_the_largest_size_passes(strict):
    many = {"example.com/%05d" % i: "" for i in range(14000)}
    # The expressions look at each, for seconds, and others compute meanwhile.
    strict.request("POST", strict.path("pods", namespace=SPACE), asking("largest", annotations=many), {"dryRun": "All"},
                   timeout=90)


def warnings(admin, obj):
    """What the API server says beside its answer, as kubectl would show it."""
    return admin.warnings("POST", "/api/v1/namespaces/%s/pods?dryRun=All" % obj["metadata"]["namespace"], obj)


def test_in_the_default_install_it_warns(admin, space):
    obj = asking("warned", naming("all"), namespace=space)

    def warned():
        said = warnings(admin, obj)
        return [one for one in said if "aliquot-around" in one and "It is set in: other" in one]
    assert wait_until(warned, 60, "a warning")
    assert not [one for one in warnings(admin, asking("well", namespace=space)) if "aliquot-around" in one]


@pytest.mark.parametrize("namespace", ["aliquot-system", "kube-system"])
def test_where_operators_are_it_does_not(admin, namespace):
    assert not [one for one in warnings(admin, asking("ours", naming("all"), namespace=namespace)) if "aliquot-around" in one]


def test_expressions_are_well_typed(admin):
    def checked():
        status = admin.get("validatingadmissionpolicies", "aliquot-around").get("status", {})
        return status.get("typeChecking") is not None and status
    assert wait_until(checked, 60, "the type check")["typeChecking"] == {}
