"""What the kinds show, and what of them never changes."""

import pytest

from apisuite import EVERY_POD, RESOURCE, TARGET, VERSION, make, refusal


@pytest.mark.parametrize("kind, spec, change, sentence", [
    ("GPURecommendation", {"targetRef": TARGET}, {"targetRef": {"name": "other"}},
     "targetRef cannot change: delete this GPURecommendation, and Aliquot makes one for the other "
     "workload"),
    ("GPUUsageCheckpoint", {"recommendationName": "a", "containerName": "b"},
     {"containerName": "c"}, "the history of one container is not that of another: delete this "
     "GPUUsageCheckpoint instead of changing its spec"),
])
def test_what_is_set_once_stays(admin, kind, spec, change, sentence):
    obj = make(kind, spec, "stays")
    admin.create(RESOURCE[kind], obj)
    try:
        error = refusal(admin.patch, RESOURCE[kind], "stays", {"spec": change}, "default")
        assert (error.status, sentence in error.message) == (422, True), error.message
        admin.patch(RESOURCE[kind], "stays", {"metadata": {"labels": {"a": "b"}}}, "default")
    finally:
        admin.delete(RESOURCE[kind], "stays", "default")


CONDITION = {"type": "Ready", "status": "True", "reason": "AsPlanned", "message": "all is well",
             "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": 1}
# kind -> (spec, status, columns without Age: name -> value)
SHOWN = {
    "GPUPolicy": (
        {"selector": EVERY_POD, "mode": "Automate"},
        {"observedGeneration": 1, "matchedWorkloads": 7, "automatedWorkloads": 5,
         "conditions": [CONDITION, dict(CONDITION, type="Accepted"),
                        dict(CONDITION, type="Overlapping", status="False")]},
        {"Mode": "Automate", "Priority": 100, "Workloads": 7, "Automated": 5, "Ready": "True"}),
    "GPURecommendation": (
        {"targetRef": TARGET},
        {"observedGeneration": 1, "revision": 17, "workloadType": "InferenceRealTime",
         "policy": {"name": "realtime", "generation": 3, "source": "Selector"},
         "summary": {"compute": "30%", "memory": "7Gi", "allocatedCompute": "30%",
                     "allocatedMemory": "7Gi", "pods": "1/1"},
         "containers": [{
             "name": "server", "original": {"computePercent": 100},
             "allocated": {"computePercent": 30, "memory": "7Gi", "pods": 1},
             "target": {"computePercent": 30, "memory": "7Gi"},
             "uncappedTarget": {"computePercent": 30, "memory": "7Gi"},
             "lowerBound": {"computePercent": 20}, "upperBound": {"computePercent": 40},
             "usage": {"computeP50": 12, "computeTarget": 21, "memoryPeak": "6Gi",
                       "lastSampleTime": "2026-01-02T03:04:05Z"}, "cappedBy": "None"}],
         "history": {"firstSampleTime": "2026-01-01T03:04:05Z", "samples": 5760,
                     "coveragePercent": 14},
         "pods": {"total": 1, "upToDate": 1, "pending": 0}, "savings": {"gpuMilli": 700},
         "lastUpdate": {"time": "2026-01-02T03:04:05Z", "result": "Succeeded", "reason": "Target"},
         "conditions": [CONDITION]},
        {"Kind": "Deployment", "Workload": "llm", "Policy": "realtime", "Compute": "30%",
         "Memory": "7Gi", "Alloc-C": "30%", "Alloc-M": "7Gi", "Pods": "1/1", "Ready": "True",
         "Blocked": None, "Healing": None, "Coverage": 14, "Reason": "AsPlanned"}),
    "GPUWorkloadGroup": (
        {"rules": [{"imageRegex": "vllm"}], "defaultPolicyRef": {"name": "batch"}},
        {"matchedPods": 12, "groups": 1, "conditions": [dict(CONDITION, type="Accepted")]},
        {"State": "Enabled", "Groups": 1, "Pods": 12, "Policy": "batch", "Accepted": "True"}),
    "GPUUsageCheckpoint": (
        {"recommendationName": "deployment-llm", "containerName": "server"},
        {"version": "v1", "samples": 5760, "lastUpdateTime": "2026-01-02T03:04:05Z",
         "data": "AAECAw=="},
        {"Recommendation": "deployment-llm", "Container": "server", "Version": "v1",
         "Samples": 5760}),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_status_is_written_apart_and_shows_in_columns(admin, kind):
    spec, status, wanted = SHOWN[kind]
    obj = dict(make(kind, spec, "shown"), status=status)
    where = obj["metadata"].get("namespace")
    admin.create(RESOURCE[kind], obj)
    try:
        assert "status" not in admin.get(RESOURCE[kind], "shown", where)
        stored = admin.patch(RESOURCE[kind], "shown", {
            "apiVersion": VERSION, "kind": kind, "status": status}, where, "status", "apply",
            fieldManager="aliquot", fieldValidation="Strict")
        assert stored["status"] == status
        assert stored["metadata"]["generation"] == 1
        table = as_table(admin, RESOURCE[kind], "shown", where)
    finally:
        admin.delete(RESOURCE[kind], "shown", where)
    assert table.pop("Name") == "shown"
    assert table.pop("Age")
    for name in ("Last-Update", "Updated"):
        if name in table:
            assert table.pop(name)
    assert table == wanted


def as_table(api, resource, name, namespace):
    """Column name -> cell, as `kubectl get` would print one object."""
    headers = api._headers  # pylint: disable=protected-access
    api._headers = lambda *args: dict(headers(*args), Accept="application/json;as=Table;"
                                      "v=v1;g=meta.k8s.io")
    try:
        table = api.get(resource, name, namespace)
    finally:
        api._headers = headers
    names = [column["name"] for column in table["columnDefinitions"]]
    row, = table["rows"]
    return dict(zip(names, row["cells"]))


def test_a_condition_is_a_whole_one(admin):
    admin.create("gpupolicies", make("GPUPolicy", {"isDefault": "Fallback"}, "conditions"))
    try:
        error = refusal(admin.patch, "gpupolicies", "conditions", {"status": {"conditions": [
            {"type": "Ready", "status": "Yes", "reason": "Because it is"}]}}, sub="status")
    finally:
        admin.delete("gpupolicies", "conditions")
    for said in ("lastTransitionTime: Required value", "message: Required value",
                 'Unsupported value: "Yes"', "conditions[0].reason"):
        assert said in error.message


@pytest.mark.parametrize("kind, short", [("GPUPolicy", "gpol"), ("GPURecommendation", "grec"),
                                         ("GPUWorkloadGroup", "gwg"),
                                         ("GPUUsageCheckpoint", "gcp")])
def test_names(admin, kind, short):
    listed = admin.request("GET", "/apis/" + VERSION)["resources"]
    found = {item["name"]: item for item in listed}
    one = found[RESOURCE[kind]]
    assert (one["kind"], one["shortNames"], one["categories"]) == (kind, [short], ["aliquot"])
    assert one["namespaced"] == (kind in ("GPURecommendation", "GPUUsageCheckpoint"))
    assert set(found[RESOURCE[kind] + "/status"]["verbs"]) == {"get", "patch", "update"}
