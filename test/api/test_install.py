"""Installing, installing again, and what the installed objects do by themselves."""

import base64
import copy

import pytest

import manifests
from apisuite import pod, refusal
from waiting import wait_until

HOME = "aliquot-system"


def stored(api):
    """Every object of manifests/ as the server has it."""
    found = {}
    for obj in manifests.render():
        resource, namespaced = api.resource_of(obj)
        where = obj["metadata"]["namespace"] if namespaced else None
        found[manifests.key_of(obj)] = api.get(resource, obj["metadata"]["name"], where)
    return found


def content(obj):
    """The object without its bookkeeping: entries of one second in managedFields change places."""
    meta = {key: value for key, value in obj["metadata"].items()
            if key not in ("managedFields", "resourceVersion")}
    return dict(obj, metadata=meta)


def settle(api):
    """Waits until the controllers of the control plane have said all they have to say."""
    # How many pods each budget is of: those that other modules made in this namespace are leaving.
    pods = {"aliquot-controller": 2, "aliquot-capacity": 0}

    def untold(obj):
        status, name = obj.get("status", {}), obj["metadata"]["name"]
        told = status.get("observedGeneration") == obj["metadata"].get("generation")
        if obj["kind"] == "Deployment":
            told = told and len(status.get("conditions", [])) == 2 and status.get("replicas") == 2
        elif obj["kind"] == "PodDisruptionBudget":
            told = told and status.get("expectedPods") == pods[name] and not [
                one for one in status.get("conditions", []) if one["reason"] == "SyncFailed"]
        elif obj["kind"] == "ValidatingAdmissionPolicy":
            told = told and "typeChecking" in status
        elif obj["kind"] != "DaemonSet":
            told = True
        return None if told else "%s %s: %s" % (obj["kind"], name, status)

    def missing():
        return [said for said in map(untold, stored(api).values()) if said]
    wait_until(lambda: not missing(), 60, lambda: "the status of %s" % missing())


@pytest.mark.parametrize("kind", ["apply", "strategic"])
def test_a_second_apply_changes_nothing(admin, controller, kind):
    """Nor does it take from the controller what it wrote into objects that are shipped empty."""
    settle(admin)
    data = {"ca.crt": base64.b64encode(b"ca").decode()}
    controller.patch("secrets", "aliquot-webhook", {"data": data}, HOME, fieldManager="aliquot")
    lease = controller.get("leases", "aliquot-controller", HOME)["metadata"]["resourceVersion"]
    controller.patch("leases", "aliquot-controller", {
        "metadata": {"resourceVersion": lease},
        "spec": {"holderIdentity": "suite", "leaseDurationSeconds": 12, "leaseTransitions": 1,
                 "acquireTime": "2026-01-02T03:04:05.000000Z",
                 "renewTime": "2026-01-02T03:04:05.000000Z"}}, HOME)
    bundle = base64.b64encode(authority(admin)).decode()
    controller.patch("mutatingwebhookconfigurations", "zz-aliquot", {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "webhooks": [{"name": "pods.aliquot.dev", "clientConfig": {"caBundle": bundle}}]},
        kind=kind, fieldManager="aliquot", **({"force": "true"} if kind == "apply" else {}))
    before = stored(admin)
    manifests.install(admin)
    after = stored(admin)
    assert [key for key in before if content(before[key]) != content(after[key])] == []
    assert after[("Secret", HOME, "aliquot-webhook")]["data"] == data
    assert after[("Lease", HOME, "aliquot-controller")]["spec"]["holderIdentity"] == "suite"
    webhook, = after[("MutatingWebhookConfiguration", "", "zz-aliquot")]["webhooks"]
    assert webhook["clientConfig"]["caBundle"] == bundle
    assert webhook["clientConfig"]["service"]["name"] == "aliquot-webhook"
    assert len(webhook["matchConditions"]) == 2


def authority(api):
    """Some certificate that a caBundle may hold: that of the control plane."""
    roots = wait_until(lambda: api.find("configmaps", "kube-root-ca.crt", HOME), 60,
                       "the control plane's certificate")
    return roots["data"]["ca.crt"].encode()


def test_the_controllers_pods_satisfy_restricted(admin):
    """C28: the namespace must not enforce restricted, but the controller would pass it."""
    name = "api-suite-restricted"
    admin.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {
        "pod-security.kubernetes.io/enforce": "restricted"}}})
    deployment = admin.get("deployments", "aliquot-controller", HOME)
    template = copy.deepcopy(deployment["spec"]["template"])
    template["spec"].pop("serviceAccountName")
    template["spec"].pop("serviceAccount", None)
    wait_until(lambda: admin.find("serviceaccounts", "default", name), 60, "the service account")
    obj = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "controller"},
           "spec": template["spec"]}
    admin.create("pods", obj, name, dryRun="All")
    template["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    error = refusal(admin.create, "pods", obj, name, dryRun="All")
    assert "violates PodSecurity" in error.message


def test_the_deployment_asks_for_two_pods_apart(admin):
    settle(admin)
    listed = admin.list("pods", HOME, labelSelector="app.kubernetes.io/component=controller")
    assert len(listed) == 2
    for one in listed:
        spec = one["spec"]
        assert spec["serviceAccountName"] == "aliquot-controller"
        term, = spec["affinity"]["podAntiAffinity"][
            "preferredDuringSchedulingIgnoredDuringExecution"]
        assert term["podAffinityTerm"]["topologyKey"] == "kubernetes.io/hostname"
        container, = spec["containers"]
        assert container["image"] == "aliquot:dev"
        assert any("serviceAccountToken" in source for volume in spec["volumes"]
                   for source in volume.get("projected", {}).get("sources", []))


def test_the_budget_holds_capacity_pods_of_a_config_map(admin, controller, pods):
    """C9: an integer budget, because it must count pods whose controller has no scale."""
    owner = controller.get("configmaps", "aliquot-capacity", HOME)["metadata"]["uid"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "aliquot-capacity",
                 "controller": True, "uid": owner}
    for index, used in enumerate(("true", "false", "movable")):
        name = "capacity-budget-%d" % index
        pods(name, HOME, controller, ownerReferences=[reference], labels={
            "aliquot.dev/capacity": "true", "aliquot.dev/in-use": used})
        admin.patch("pods", name, {"status": {"phase": "Running", "conditions": [
            {"type": "Ready", "status": "True"}]}}, HOME, "status", "strategic")

    def counted():
        status = admin.get("poddisruptionbudgets", "aliquot-capacity", HOME).get("status", {})
        return status if status.get("currentHealthy") == 1 else None
    status = wait_until(counted, 60, "the budget to count one pod")
    assert (status["expectedPods"], status["desiredHealthy"], status["disruptionsAllowed"]) == (
        1, 1000000, 0)
    assert not [one for one in status["conditions"] if one["reason"] == "SyncFailed"]
    error = refusal(admin.evict, "capacity-budget-0", HOME)
    assert (error.status, error.reason) == (429, "TooManyRequests")
    for index in (1, 2):
        admin.evict("capacity-budget-%d" % index, HOME, deleteOptions={"gracePeriodSeconds": 0})


def test_capacity_pods_have_no_token(admin, pods):
    """By their account, too, whatever the pod says."""
    obj = pod("capacity-token", HOME)
    del obj["spec"]["automountServiceAccountToken"]
    made = admin.create("pods", obj, dryRun="All")
    assert made["spec"].get("volumes", []) == []
