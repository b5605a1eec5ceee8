"""The overlay `restricted`: what the controller makes at home is held to Pod Security's `restricted` (C28)."""

import os

import pytest

import manifests
from api import ApiError
from apisuite import pod, refusal
from waiting import wait_until

HOME = "aliquot-system"
P = "aliquot.dev/"


def mps():
    obj = pod("capacity-mps", HOME, labels={P + "capacity": "true"}, annotations={P + "isolation": "MPS"})
    root = {"runAsNonRoot": False, "runAsUser": 0, "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}}
    obj["spec"].update(hostPID=True, volumes=[{"name": "mps", "hostPath": {"path": "/run/aliquot/mps"}}])
    obj["spec"]["containers"][0]["securityContext"] = root
    return obj


@pytest.fixture
def overlay(admin, controller):
    controller.create("pods", mps(), dryRun="All")
    objects = manifests.render(os.path.join(manifests.MANIFESTS, "overlays", "restricted"))
    for obj in objects:
        admin.apply(obj)

    def refused():
        try:
            controller.create("pods", mps(), dryRun="All")
        except ApiError as error:
            return "'aliquot-restricted'" in error.message
        return False
    wait_until(refused, 60, "the overlay to be known")
    yield objects
    for obj in objects:
        admin.delete({"ValidatingAdmissionPolicy": "validatingadmissionpolicies"}.get(
            obj["kind"], "validatingadmissionpolicybindings"), obj["metadata"]["name"])
    wait_until(lambda: controller.create("pods", mps(), dryRun="All"), 60, "the overlay to be forgotten", ignore=(ApiError,))


@pytest.mark.usefixtures("overlay")
def test_c28_nothing_more_than_restricted_is_made_at_home(admin, controller):
    """And what is made is what Pod Security itself would let pass: the same pod in a namespace that enforces it."""
    obj = pod("capacity-none", HOME, labels={P + "capacity": "true"})
    controller.create("pods", obj, dryRun="All")
    for change in ({"hostPID": True}, {"volumes": [{"name": "mps", "hostPath": {"path": "/run/aliquot/mps"}}]}):
        one = pod("capacity-none", HOME, labels={P + "capacity": "true"}, annotations={P + "isolation": "MPS"})
        one["spec"].update(change)
        error = refusal(controller.create, "pods", one, dryRun="All")
        assert "'aliquot-restricted'" in error.message and "MPS" in error.message, error
    space = "restricted-suite"
    admin.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": space, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
    wait_until(lambda: admin.find("serviceaccounts", "default", space), 60, "the default service account")
    admin.create("pods", pod("capacity-none", space), dryRun="All")
    other = dict(mps(), metadata={"name": "capacity-mps", "namespace": space})
    del other["spec"]["serviceAccountName"]
    error = refusal(admin.create, "pods", other, dryRun="All")
    assert "PodSecurity" in error.message, error
    admin.delete("namespaces", space)
