"""GPURecommendations of workloads that have no pod any more, and what was measured of them, as the controller writes them."""

import base64
import concurrent.futures
import os
import subprocess

import _ground

SPACE, WRITERS = "recommended", 8
STARTED, NOW = "2026-11-01T00:00:00Z", "2026-11-20T00:00:00Z"


def _status():
    """A week is known, and 30 percent are in force."""
    share = {"computePercent": 30, "memory": "7Gi"}
    return {"observedGeneration": 1, "revision": 4, "workloadType": "InferenceRealTime",
            "policy": {"name": "builtin-InferenceRealTime", "generation": 1, "source": "Detected"},
            "containers": [{"name": "main", "original": {"computePercent": 100, "memory": "80Gi"}, "target": share,
                            "uncappedTarget": share, "lowerBound": share, "upperBound": share, "cappedBy": "None",
                            "usage": {"computeP50": 18, "computeTarget": 21, "memoryPeak": "6Gi", "lastSampleTime": NOW}}],
            "history": {"firstSampleTime": STARTED, "samples": 40000, "coveragePercent": 100},
            "pods": {"total": 0, "upToDate": 0, "pending": 0},
            "conditions": [{"type": kind, "status": "True", "reason": kind, "message": "As it says.",
                            "lastTransitionTime": NOW} for kind in ("Ready", "HistorySufficient", "Recommended")]}


def _one(api, number, data):
    name = "app-%05d" % number
    own = "deployment-" + name
    made = api.create("gpurecommendations", {
        "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPURecommendation",
        "metadata": {"name": own, "namespace": SPACE, "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": "00000000-0000-0000-0000-%012d" % number}]},
        "spec": {"targetRef": {"group": "apps", "kind": "Deployment", "name": name}}})
    api.patch("gpurecommendations", own, {"status": _status()}, SPACE, sub="status")
    saved = own + ".main"
    api.create("gpuusagecheckpoints", {
        "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUUsageCheckpoint",
        "metadata": {"name": saved, "namespace": SPACE, "ownerReferences": [
            {"apiVersion": "aliquot.dev/v1alpha1", "kind": "GPURecommendation", "name": own, "uid": made["metadata"]["uid"]}]},
        "spec": {"recommendationName": own, "containerName": "main"}})
    api.patch("gpuusagecheckpoints", saved, {"status": {
        "version": "v1", "lastUpdateTime": NOW, "firstSampleTime": STARTED, "lastSampleTime": NOW, "samples": 40000,
        "data": data}}, SPACE, sub="status")


def _data():
    """What a full week comes to."""
    program = os.path.join(os.environ["ALIQUOT_BUILD"], "test", "bench", "aliquot-bench-rightsize")
    done = subprocess.run([program, "checkpoint"], check=True, stdout=subprocess.PIPE, text=True, timeout=60)
    return base64.b64encode(bytes.fromhex(done.stdout.strip())).decode()


def fill(api, count):
    """Nothing but an API server is there, so nobody collects what has no owner."""
    if api.find("namespaces", SPACE) is not None or not count:
        return
    api.create("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    data = _data()
    _ground.say("making %d GPURecommendations" % count)
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(_one, api, number, data) for number in range(count)]:
            done.result()
