"""What the controller's account may do: exactly this, and nothing to spare."""

import pytest

from api import ApiError
from apisuite import CONTROLLER, pod, refusal
from waiting import wait_until

HOME = "aliquot-system"
CANARY = "aliquot-canary"

# (verbs, group, resource, names), as `kubectl auth can-i --list` shows them.
EVERYWHERE = [
    ("get list watch patch", "", "pods", ""),
    ("patch", "", "pods/status", ""),
    ("create", "", "pods/eviction", ""),
    ("get list watch", "", "nodes", ""),
    ("get list watch", "", "namespaces", ""),
    ("get list watch", "", "limitranges", ""),
    ("get list watch", "", "resourcequotas", ""),
    ("list watch", "resource.k8s.io", "resourceslices", ""),
    ("get", "", "persistentvolumeclaims", ""),
    ("get", "", "persistentvolumes", ""),
    ("get", "storage.k8s.io", "storageclasses", ""),
    ("get", "batch", "jobs", ""),
    ("get", "apps", "deployments", ""),
    ("get", "apps", "statefulsets", ""),
    ("get", "apps", "daemonsets", ""),
    ("get", "apps", "replicasets", ""),
    ("get", "batch", "cronjobs", ""),
    ("get", "argoproj.io", "rollouts", ""),
    ("get", "apps.openshift.io", "deploymentconfigs", ""),
    ("get", "jobset.x-k8s.io", "jobsets", ""),
    ("get", "ray.io", "rayclusters", ""),
    ("get", "argoproj.io", "workflows", ""),
    ("get", "tekton.dev", "taskruns", ""),
    ("get", "tekton.dev", "pipelineruns", ""),
    ("get", "serving.knative.dev", "revisions", ""),
    ("get", "serving.knative.dev", "configurations", ""),
    ("get", "sparkoperator.k8s.io", "sparkapplications", ""),
    ("get", "actions.github.com", "ephemeralrunners", ""),
    ("get", "actions.github.com", "ephemeralrunnersets", ""),
    ("get", "actions.summerwind.dev", "runners", ""),
    ("get", "actions.summerwind.dev", "runnerreplicasets", ""),
    ("list watch", "autoscaling", "horizontalpodautoscalers", ""),
    ("list watch", "keda.sh", "scaledobjects", ""),
    ("list watch", "policy", "poddisruptionbudgets", ""),
    ("list watch", "scheduling.k8s.io", "podgroups", ""),
    ("get list watch", "node.k8s.io", "runtimeclasses", ""),
    ("get list watch", "aliquot.dev", "gpupolicies", ""),
    ("patch", "aliquot.dev", "gpupolicies/status", ""),
    ("get list watch", "aliquot.dev", "gpuworkloadgroups", ""),
    ("patch", "aliquot.dev", "gpuworkloadgroups/status", ""),
    ("get list watch create delete", "aliquot.dev", "gpurecommendations", ""),
    ("patch", "aliquot.dev", "gpurecommendations/status", ""),
    ("get list watch create", "aliquot.dev", "gpuusagecheckpoints", ""),
    ("patch", "aliquot.dev", "gpuusagecheckpoints/status", ""),
    ("create patch", "events.k8s.io", "events", ""),
    ("list watch", "certificates.k8s.io", "certificatesigningrequests", ""),
    ("patch", "certificates.k8s.io", "certificatesigningrequests/approval", ""),
    ("patch", "certificates.k8s.io", "certificatesigningrequests/status", ""),
    ("approve sign", "certificates.k8s.io", "signers", "aliquot.dev/agent"),
    ("get patch", "admissionregistration.k8s.io", "mutatingwebhookconfigurations", "zz-aliquot"),
]
AT_HOME = EVERYWHERE + [
    ("create delete", "", "pods", ""),
    ("get patch", "coordination.k8s.io", "leases", "aliquot-controller"),
    ("get patch create", "coordination.k8s.io", "leases", "aliquot-term"),
    ("get list watch patch", "", "secrets", "aliquot-webhook"),
    ("get patch", "", "secrets", "aliquot-agent"),
    ("get", "", "configmaps", "aliquot-capacity"),
]
OF_AN_AGENT = [("get list watch", "", "pods", ""),
               ("create get", "certificates.k8s.io", "certificatesigningrequests", "")]
IN_CANARY = EVERYWHERE + [("create", "", "pods", "")]


def rights(rows):
    return {(verb, group, resource, name) for verbs, group, resource, name in rows
            for verb in verbs.split()}


def granted(api, namespace):
    """Every right of the account in a namespace, less those that any account has."""
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview",
            "spec": {"namespace": namespace}}
    status = api.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                         body)["status"]
    assert not status.get("incomplete")
    found = set()
    for rule in status["resourceRules"]:
        for verb in rule["verbs"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    for name in rule.get("resourceNames") or [""]:
                        found.add((verb, group, resource, name))
    return {right for right in found
            if right[1] not in ("authorization.k8s.io", "authentication.k8s.io")}


@pytest.mark.parametrize("namespace, rows", [
    ("default", EVERYWHERE), ("kube-system", EVERYWHERE), (HOME, AT_HOME), (CANARY, IN_CANARY)])
def test_the_rights_are_exactly_these(controller, namespace, rows):
    assert granted(controller, namespace) == rights(rows)


@pytest.mark.parametrize("namespace", ["default", HOME, CANARY])
def test_an_agent_reads_pods_and_asks_for_its_certificate_and_nothing_else(agent, namespace):
    assert granted(agent, namespace) == rights(OF_AN_AGENT)


@pytest.mark.parametrize("verb, path", [
    ("GET", "/api/v1/namespaces/aliquot-system/secrets/aliquot-agent"),
    ("GET", "/api/v1/namespaces/aliquot-system/secrets/aliquot-webhook"),
    ("PATCH", "/api/v1/namespaces/default/pods/any"),
    ("PATCH", "/api/v1/namespaces/default/pods/any/status"),
    ("GET", "/api/v1/nodes"),
    ("GET", "/apis/certificates.k8s.io/v1/certificatesigningrequests"),
    ("PATCH", "/apis/certificates.k8s.io/v1/certificatesigningrequests/any/approval"),
    ("PATCH", "/apis/certificates.k8s.io/v1/certificatesigningrequests/any/status"),
])
def test_what_an_agent_may_not(agent, verb, path):
    error = refusal(agent.request, verb, path, {} if verb != "GET" else None,
                    content_type="application/merge-patch+json" if verb == "PATCH" else "application/json")
    assert error.status == 403


@pytest.mark.parametrize("verb, path", [
    ("POST", "/api/v1/namespaces/default/pods"),
    ("DELETE", "/api/v1/namespaces/default/pods/any"),
    ("DELETE", "/api/v1/namespaces/aliquot-canary/pods/any"),
    ("PUT", "/api/v1/namespaces/aliquot-system/pods/any"),
    ("PATCH", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/any"),
    ("PATCH", "/apis/apps/v1/namespaces/default/replicasets/any"),
    ("GET", "/apis/apps/v1/statefulsets"),
    ("PATCH", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/any"),
    ("POST", "/api/v1/namespaces/default/pods/any/binding"),
    ("PUT", "/api/v1/nodes/any"),
    ("PATCH", "/api/v1/nodes/any"),
    ("PATCH", "/api/v1/nodes/any/status"),
    ("PATCH", "/api/v1/namespaces/default"),
    ("GET", "/api/v1/persistentvolumeclaims"),
    ("GET", "/api/v1/persistentvolumes"),
    ("GET", "/apis/storage.k8s.io/v1/storageclasses"),
    ("GET", "/apis/batch/v1/jobs"),
    ("PATCH", "/apis/batch/v1/namespaces/default/jobs/any"),
    ("GET", "/api/v1/secrets"),
    ("GET", "/api/v1/namespaces/aliquot-system/secrets"),
    ("GET", "/api/v1/namespaces/aliquot-system/secrets/other"),
    ("GET", "/api/v1/namespaces/default/secrets/aliquot-webhook"),
    ("POST", "/api/v1/namespaces/aliquot-system/secrets"),
    ("GET", "/api/v1/namespaces/aliquot-system/configmaps"),
    ("PATCH", "/api/v1/namespaces/aliquot-system/configmaps/aliquot-capacity"),
    ("POST", "/apis/coordination.k8s.io/v1/namespaces/aliquot-system/leases"),
    ("PATCH", "/apis/coordination.k8s.io/v1/namespaces/aliquot-system/leases/other"),
    ("DELETE", "/apis/coordination.k8s.io/v1/namespaces/aliquot-system/leases/aliquot-controller"),
    ("DELETE", "/apis/coordination.k8s.io/v1/namespaces/aliquot-system/leases/aliquot-term"),
    ("PUT", "/api/v1/namespaces/aliquot-system/secrets/aliquot-webhook"),
    ("PUT", "/api/v1/namespaces/aliquot-system/secrets/aliquot-agent"),
    ("DELETE", "/api/v1/namespaces/aliquot-system/secrets/aliquot-agent"),
    ("PATCH", "/apis/apps/v1/namespaces/default/deployments/any"),
    ("PATCH", "/apis/apps/v1/namespaces/aliquot-system/deployments/aliquot-controller"),
    ("PATCH", "/apis/aliquot.dev/v1alpha1/gpupolicies/any"),
    ("POST", "/apis/aliquot.dev/v1alpha1/gpupolicies"),
    ("PATCH", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/other"),
    ("DELETE", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/zz-aliquot"),
    ("PATCH", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/aliquot-guard"),
    ("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests"),
    ("DELETE", "/apis/certificates.k8s.io/v1/certificatesigningrequests/any"),
    ("PATCH", "/apis/rbac.authorization.k8s.io/v1/clusterroles/aliquot-controller"),
])
def test_what_is_not_ours_is_forbidden(controller, verb, path):
    error = refusal(controller.request, verb, path, {} if verb != "GET" else None,
                    content_type="application/merge-patch+json" if verb == "PATCH"
                    else "application/json")
    assert error.status == 403
    assert "cannot " in error.message, error.message


def test_it_reads_its_secret_by_name_and_by_watch(controller):
    only = "metadata.name=aliquot-webhook"
    controller.get("secrets", "aliquot-webhook", HOME)
    listed = controller.list_raw("secrets", HOME, fieldSelector=only)
    assert [item["metadata"]["name"] for item in listed["items"]] == ["aliquot-webhook"]
    version = listed["metadata"]["resourceVersion"]
    assert not list(controller.watch("secrets", HOME, version, timeout=1, fieldSelector=only))


def test_it_makes_and_removes_a_capacity_pod(controller, admin):
    """With the owner of C9, which needs the ConfigMap's uid and no right on its finalizers."""
    owner = controller.get("configmaps", "aliquot-capacity", HOME)
    obj = pod("capacity-rights", HOME, labels={"aliquot.dev/capacity": "true"}, ownerReferences=[
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "aliquot-capacity", "controller": True,
         "uid": owner["metadata"]["uid"]}])
    obj["spec"].update(serviceAccountName="aliquot-capacity", priorityClassName="aliquot-capacity")
    made = controller.create("pods", obj)
    assert made["spec"]["priority"] == 1000000000
    assert made["spec"]["preemptionPolicy"] == "Never"
    controller.delete("pods", "capacity-rights", HOME, grace=0, uid=made["metadata"]["uid"])
    assert admin.find("pods", "capacity-rights", HOME) is None


def test_it_writes_events_where_pods_are(controller, space):
    controller.create("events.events.k8s.io/v1", {
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {
            "name": "sample", "namespace": space}, "eventTime": "2026-01-02T03:04:05.000000Z",
        "reason": "Placed", "action": "Place", "type": "Normal", "note": "seen by the suite",
        "reportingController": "aliquot.dev/controller", "reportingInstance": "suite",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": space, "name": "any"}})


def test_it_writes_the_status_of_a_policy_and_nothing_else(controller, admin):
    admin.create("gpupolicies", {"apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUPolicy",
                                 "metadata": {"name": "rights"}, "spec": {"isDefault": "Fallback"}})
    try:
        controller.patch("gpupolicies", "rights", {"status": {"matchedWorkloads": 3},
                                                   "spec": {"priority": 5}}, sub="status")
        stored = admin.get("gpupolicies", "rights")
        assert stored["status"] == {"matchedWorkloads": 3}
        assert stored["spec"]["priority"] == 100
    finally:
        admin.delete("gpupolicies", "rights")


def test_viewers_see_recommendations(jane, space):
    # The role view gathers its rules a moment after ours is there.
    wait_until(lambda: jane.list("gpurecommendations", space) == [], 60,
               "the role view to include recommendations", ignore=(ApiError,))
    error = refusal(jane.create, "gpurecommendations", {
        "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPURecommendation",
        "metadata": {"name": "a"}, "spec": {"targetRef": {"group": "", "kind": "a", "name": "a"}}},
        space)
    assert error.status == 403


def test_the_suite_speaks_as_the_manifests_account(controller):
    answer = controller.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    assert answer["status"]["userInfo"]["username"] == CONTROLLER
