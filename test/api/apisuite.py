"""Objects and helpers of the API suite."""

import pytest

from api import ApiError

CONTROLLER = "system:serviceaccount:aliquot-system:aliquot-controller"
VERSION = "aliquot.dev/v1alpha1"
RESOURCE = {"GPUPolicy": "gpupolicies", "GPURecommendation": "gpurecommendations",
            "GPUWorkloadGroup": "gpuworkloadgroups", "GPUUsageCheckpoint": "gpuusagecheckpoints"}
EVERY_POD = {"podSelector": {}}
TARGET = {"group": "apps", "kind": "Deployment", "name": "llm"}


def make(kind, spec, name="sample"):
    meta = {"name": name}
    if kind in ("GPURecommendation", "GPUUsageCheckpoint"):
        meta["namespace"] = "default"
    return {"apiVersion": VERSION, "kind": kind, "metadata": meta, "spec": spec}


def pod(name, namespace, gates=(), **meta):
    """A pod that would satisfy Pod Security restricted and never runs."""
    # At home the controller makes pods of that account alone.
    account = {"serviceAccountName": "aliquot-capacity"} if namespace == "aliquot-system" else {}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": dict(meta, name=name, namespace=namespace),
            "spec": {**account, "schedulingGates": [{"name": gate} for gate in gates],
                     "automountServiceAccountToken": False,
                     "securityContext": {"runAsNonRoot": True, "runAsUser": 65532,
                                         "seccompProfile": {"type": "RuntimeDefault"}},
                     "containers": [{"name": "main", "image": "none",
                                     "resources": {"requests": {"cpu": "1m"}},
                                     "securityContext": {"allowPrivilegeEscalation": False,
                                                         "capabilities": {"drop": ["ALL"]}}}]}}


def refusal(call, *args, **kwargs):
    """The ApiError that CALL must end in."""
    with pytest.raises(ApiError) as caught:
        call(*args, **kwargs)
    return caught.value
