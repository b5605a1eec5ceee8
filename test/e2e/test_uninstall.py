"""Taking Aliquot away as docs/operating.md says, and what a bare deletion of the manifests leaves.

On a control plane of its own, because the kinds and the namespaces go.
"""

import contextlib
import os

import pytest

import controlplane
import manifests
from api import ApiError
from helpers import gates, is_tenant, is_whole, seen, told_of
from stack import IMAGE, Stack
from waiting import holds_for, wait_until

NODE = "leaving-0"
TENANTS = "aliquot.dev/tenant=true"


@pytest.fixture(scope="module")
def plane():
    with controlplane.ControlPlane.up(with_parent=os.getpid()) as found:
        yield found


@pytest.fixture
def stack(plane):  # pylint: disable=redefined-outer-name
    """Installed anew for each test: that it can be is part of a clean removal."""
    with Stack.up(plane, nodes=[(NODE, 4)]) as found:
        yield found
        for kind in ("deployments", "replicasets", "pods"):
            for obj in found.api.list(kind, namespace="default"):
                with contextlib.suppress(ApiError):
                    found.api.delete(kind, obj["metadata"]["name"], "default",
                                     **({"grace": 0} if kind == "pods" else {}))
        wait_until(lambda: not found.api.list("pods", namespace="default"), 60, "no pods")
    assert not found.findings(), found.findings()
    plane.admin.delete("nodes", NODE)


def workload(stack, name, replicas=1, **ask):
    """A Deployment of pods that ask for a share."""
    pod = stack.pod(name, **ask)
    template = {"metadata": {"labels": {"app": name},
                             "annotations": pod["metadata"]["annotations"]}, "spec": pod["spec"]}
    stack.api.create("deployments", {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                 "template": template}}, namespace="default")


def pods_of(stack, name):
    return [pod for pod in stack.api.list("pods", namespace="default", labelSelector="app=" + name)
            if not pod["metadata"].get("deletionTimestamp") and pod["status"]["phase"] != "Failed"]


def wait_pods(stack, name, count, condition, what):
    def holds():
        found = pods_of(stack, name)
        return found if len(found) == count and all(map(condition, found)) else None
    return wait_until(holds, 60, lambda: "%s: %s\n%s" % (name, what, stack.logs()))


def runs(pod):
    return pod["status"].get("phase") == "Running"


def waits(pod):
    return gates(pod) == ["aliquot.dev/gpu"]


def start(stack):
    """Two tenants on one GPU, and one pod that waits because no GPU is large enough."""
    workload(stack, "sharing", 2, fraction="0.5")
    workload(stack, "waiting", 1, fraction="0.5", memory="200Gi")
    wait_pods(stack, "sharing", 2, runs, "both halves run")
    wait_pods(stack, "waiting", 1, waits, "it waits")


def delete_manifests(stack):
    """`kubectl delete -k`: the Deployment's part is played by stopping the controller."""
    for controller in stack.controllers:
        controller.stop()
    for obj in manifests.render(image=IMAGE):
        if obj["kind"] == "Deployment":
            continue
        try:
            resource, namespaced = stack.api.resource_of(obj)
            stack.api.delete(resource, obj["metadata"]["name"],
                             obj["metadata"].get("namespace") if namespaced else None)
        except ApiError as error:
            if error.status != 404:
                raise


def left_over(stack):
    """What of Aliquot's own is still there: objects of the manifests and capacity pods."""
    found = []
    for obj in manifests.render(image=IMAGE):
        with contextlib.suppress(ApiError):
            resource, namespaced = stack.api.resource_of(obj)
            if stack.api.find(resource, obj["metadata"]["name"],
                              obj["metadata"].get("namespace") if namespaced else None):
                found.append(manifests.key_of(obj))
    return found + [pod["metadata"]["name"] for pod in stack.capacity_pods()]


def wait_nothing_left(stack, but=()):
    wait_until(lambda: not set(left_over(stack)) - set(but), 90, lambda: "these to go: %s" % left_over(stack))


def test_the_documented_way_leaves_nothing(stack):
    start(stack)
    api = stack.api
    # 1. The webhook goes: what is created from now on is whole.
    api.delete("mutatingwebhookconfigurations", "zz-aliquot")
    wait_until(lambda: not stack.converts(), 60, "the webhook to be forgotten")
    assert all(map(runs, pods_of(stack, "sharing"))), "tenants do not notice"
    # 2. and 3. Who has a share or waits for one is replaced, under its own rollout.
    api.patch("deployments", "sharing", {"spec": {"template": {"metadata": {"annotations": {
        "kubectl.kubernetes.io/restartedAt": "2026-01-02T03:04:05Z"}}}}}, "default")
    api.delete("pods", pods_of(stack, "waiting")[0]["metadata"]["name"], "default")
    for name, count in (("sharing", 2), ("waiting", 1)):
        wait_pods(stack, name, count, lambda pod: runs(pod) and is_whole(pod),
                  "back as they were written")
    wait_until(lambda: not api.list("pods", namespace="default", labelSelector=TENANTS), 60,
               "no tenant to be left")
    # 4. The rest. Who held the GPU has heard that nobody is left, and so ends at once.
    wait_until(lambda: all(told_of(stack, pod) == "false" for pod in stack.capacity_pods()), 60, "it to be idle")
    before = {pod["metadata"]["uid"] for pod in api.list("pods", namespace="default")}
    delete_manifests(stack)
    wait_nothing_left(stack)
    after = {pod["metadata"]["uid"]: pod for pod in api.list("pods", namespace="default")}
    assert set(after) == before and all(map(runs, after.values()))


def test_a_bare_deletion_is_what_the_text_warns_of(stack):
    start(stack)
    before = {pod["metadata"]["uid"]: seen(stack, pod) for pod in pods_of(stack, "sharing")}
    delete_manifests(stack)
    # C39: for ten minutes nothing happens to their GPU.
    held, = wait_until(lambda: [p for p in stack.capacity_pods() if p["metadata"].get("deletionTimestamp")], 60,
                       "its capacity pod to be deleted with the namespace")
    assert held["metadata"]["deletionGracePeriodSeconds"] == 600
    holds_for(lambda: stack.capacity_pods() and
              len(stack.kubelet.state()["nodes"][NODE]["free"]) == 3, 12, "the GPU is held")
    # Which are over.
    stack.api.delete("pods", held["metadata"]["name"], held["metadata"]["namespace"], grace=1)
    # Whoever deletes namespaces looks again only after half of the longest grace that he has met.
    wait_nothing_left(stack, but=[("Namespace", "", "aliquot-system")])
    tenants = pods_of(stack, "sharing")
    assert {pod["metadata"]["uid"]: seen(stack, pod) for pod in tenants} == before
    assert all(runs(pod) and is_tenant(pod) for pod in tenants), "their processes go on"
    gated = pods_of(stack, "waiting")[0]
    assert waits(gated), "nobody is left to place it"
    # What belongs to a workload comes back whole once it is deleted; nothing holds it back.
    stack.api.delete("pods", gated["metadata"]["name"], "default")
    wait_pods(stack, "waiting", 1, lambda pod: runs(pod) and is_whole(pod), "whole")
    # The GPU of the tenants is free in the books of Kubernetes: the danger that is described.
    # (A device comes back only some time after its pod has ended.)
    wait_until(lambda: len(stack.kubelet.state()["nodes"][NODE]["free"]) == 3, 60, "3 free GPUs")
    for i in range(3):
        stack.create_pod("whole-%d" % i)
    taken = [seen(stack, stack.wait_running("whole-%d" % i)) for i in range(3)]
    taken += [seen(stack, pod) for pod in pods_of(stack, "waiting")]
    shared = list(before.values())[0]
    assert shared in taken, "a whole-GPU pod has the GPU that tenants use"
