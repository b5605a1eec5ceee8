"""Installing changes no pod: the manifests and two controllers come to a cluster that is in use.

On a control plane of its own, on which no manifest was ever applied.
"""

import os

import pytest

import controlplane
from helpers import P, gates, is_tenant, is_whole, note
from stack import IMAGE, Stack
from waiting import wait_until

NODES = [("home-0", 4), ("home-1", 4)]
HOME = "aliquot-system"
RUNTIME_CLASS = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass",
                 "metadata": {"name": "nvidia"}, "handler": "nvidia"}


def workload(stack, kind, name, replicas, **options):
    match = {"app": name}
    pod = stack.pod("x", **options)
    return {"apiVersion": "apps/v1", "kind": kind,
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": match},
                     "template": {"metadata": {"labels": match, "annotations":
                                               pod["metadata"]["annotations"]},
                                  "spec": pod["spec"]}}}


def populate(stack):
    """Running and waiting, with a GPU and without, owned and bare, one that even asks for a share,
    one that somebody else gated, and one that carries what looks like ours."""
    create = stack.api.create
    create("deployments", workload(stack, "Deployment", "whole", 2))
    create("deployments", workload(stack, "Deployment", "asks", 2, fraction="0.25"))
    create("deployments", workload(stack, "Deployment", "plain", 2, gpus=0))
    create("replicasets", workload(stack, "ReplicaSet", "waits", 2, nodeSelector={"no": "node"}))
    for name, options in {
            "bare": {}, "bare-asks": {"memory": "8Gi"}, "bare-plain": {"gpus": 0},
            "two": {"gpus": 2, "nodeSelector": {"no": "node"}},
            "gated": {"schedulingGates": [{"name": "example.com/x"}]},
            "looks-like-ours": {"labels": {P + "tenant": "true"}, "nodeSelector": {"no": "node"},
                                "annotations": {P + "gpu-uuid": "GPU-1", P + "share": "0.25"}},
            "malformed": {"fraction": "NaN", "nodeSelector": {"no": "node"}}}.items():
        stack.create_pod(name, **options)


def everything(api):
    """Every object that is not Aliquot's and that people call theirs, as it is stored."""
    return {(kind, obj["metadata"]["namespace"], obj["metadata"]["name"]): obj
            for kind in ("pods", "deployments", "replicasets", "limitranges")
            for obj in api.list(kind) if obj["metadata"]["namespace"] not in (HOME,)}


def at_rest(stack):
    """The picture, once it was the same twice and every pod is where it is going to be."""
    before = {}

    def still():
        now = everything(stack.api)
        pods = [obj for (kind, _, _), obj in now.items() if kind == "pods"]
        same = now == before.get("seen")
        before["seen"] = now
        owners = [obj for (kind, _, _), obj in now.items() if kind in ("deployments", "replicasets")]
        return (same and len(pods) == 15 and all(_at_rest(pod) for pod in pods) and len(owners) == 7 and
                all(_is_told(obj, pods) for obj in owners) and now)
    return wait_until(still, 60, lambda: "the cluster to be at rest\n" + stack.account(), every=0.5)


def _at_rest(pod):
    if pod["status"]["phase"] == "Running":
        return all(c.get("ready") for c in pod["status"].get("containerStatuses", [{}]))
    return any(c["type"] == "PodScheduled" and c["status"] == "False"
               for c in pod["status"].get("conditions", []))


def _is_told(obj, pods):
    """Whether its status says of its pods what is so: its controller writes that later than the kubelet theirs."""
    status, named = obj["status"], obj["spec"]["template"]["metadata"]["labels"]["app"]
    ready = sum(pod["status"]["phase"] == "Running" for pod in pods if pod["metadata"].get("labels", {}).get("app") == named)
    done = "strategy" not in obj["spec"] or any(
        c["type"] == "Progressing" and c.get("reason") == "NewReplicaSetAvailable" for c in status.get("conditions", []))
    return (status.get("observedGeneration") == obj["metadata"]["generation"] and status.get("replicas") == 2 and
            status.get("availableReplicas", 0) == ready and done)


@pytest.fixture(scope="module")
def used():
    """(stack, what was there before it was installed)"""
    with controlplane.ControlPlane.up(with_parent=os.getpid()) as plane:
        stack = Stack(plane, NODES, arguments=["--idle-grace-seconds=2"])
        try:
            stack.kubelet.start()
            plane.admin.create("runtimeclasses", RUNTIME_CLASS)
            populate(stack)
            before = at_rest(stack)
            stack.install()
            for _ in range(2):
                stack.add_controller()
            stack.wait_converting()
            yield stack, before
        finally:
            stack.down()
        assert not stack.findings(), stack.findings()


def test_installing_changes_no_pod(used):
    """Not one byte of any pod, Deployment or ReplicaSet, but the words on the two whose annotations
    cannot be meant: a condition through pods/status."""
    stack, before = used
    pods = [obj for obj in stack.api.list("pods")]
    for controller in stack.controllers:
        wait_until(lambda c=controller: c.dump()["pods"] >= len(pods), 60, "the view")
    # The policies' pass and every decision come after the view: a policy's status shows one.
    stack.api.create("gpupolicies", {
        "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUPolicy", "metadata": {"name": "seen"},
        "spec": {"selector": {"podSelector": {"matchLabels": {"app": "whole"}}}}})
    wait_until(lambda: stack.api.get("gpupolicies", "seen").get("status", {}).get(
        "matchedWorkloads") == 1, 60, "a pass over all pods")
    stack.api.delete("gpupolicies", "seen")
    wait_until(lambda: _told(stack, "malformed"), 60, "the words on the malformed one")
    after = everything(stack.api)
    assert after.keys() == before.keys()
    changed = sorted(key[2] for key, obj in after.items() if obj != before[key])
    assert set(changed) <= {"malformed", "looks-like-ours"}, changed
    for name in changed:
        was, now = before["pods", "default", name], after["pods", "default", name]
        assert now["spec"] == was["spec"]
        for key in ("annotations", "labels", "generation", "ownerReferences"):
            assert now["metadata"].get(key) == was["metadata"].get(key)
    assert stack.capacity_pods() == []


def _told(stack, name):
    return [c for c in stack.get_pod(name)["status"].get("conditions", [])
            if c["type"] == P + "Placed" and c["reason"] == "BadValue"]


def test_who_asked_before_gets_a_share_when_made_anew(used):
    """Its annotation was there all the time; the next incarnation is converted, none before."""
    stack, _ = used
    old = [pod for pod in stack.api.list("pods", "default", labelSelector="app=asks")]
    assert len(old) == 2 and not any(is_tenant(pod) for pod in old)
    stack.api.delete("pods", old[0]["metadata"]["name"], "default")

    def shares():
        now = stack.api.list("pods", "default", labelSelector="app=asks")
        return [pod for pod in now if note(pod, "gpu-uuid") and
                pod["status"]["phase"] == "Running" and len(now) == 2]
    new, = wait_until(shares, 60, lambda: "a pod that shares\n" + stack.logs())
    other, = [pod for pod in stack.api.list("pods", "default", labelSelector="app=asks")
              if pod["metadata"]["uid"] != new["metadata"]["uid"]]
    assert is_whole(other) and other["metadata"]["uid"] == old[1]["metadata"]["uid"]
    # C5: the class `nvidia` exists here, so tenants and capacity pods run in it.
    assert new["spec"]["runtimeClassName"] == "nvidia"
    # One that its kubelet refused may stand beside it: the device of the former pod comes back some time later.
    assert {pod["spec"].get("runtimeClassName") for pod in stack.capacity_pods()} == {"nvidia"}


def test_a_runtime_class_of_ones_own_stays(used):
    stack, _ = used
    stack.api.create("runtimeclasses", dict(RUNTIME_CLASS, metadata={"name": "mine"}))
    made = stack.api.create("pods", stack.pod("mine", fraction="0.5", runtimeClassName="mine"),
                            dryRun="All")
    assert is_tenant(made) and made["spec"]["runtimeClassName"] == "mine"


def test_the_conditions_of_living_in_a_namespace(used):
    """C7: a LimitRange on nvidia.com/gpu, and a quota of none, are met as if we were not there."""
    stack, _ = used
    api = stack.api
    api.create("namespaces", {"apiVersion": "v1", "kind": "Namespace",
                              "metadata": {"name": "limited"}})
    wait_until(lambda: api.find("serviceaccounts", "default", "limited"), 60, "the account")

    def probe():
        return api.create("pods", stack.pod("p", "limited", fraction="0.5"), dryRun="All")
    wait_until(lambda: is_tenant(probe()), 60, "the namespace to be known")
    api.create("limitranges", {"apiVersion": "v1", "kind": "LimitRange",
                               "metadata": {"name": "gpus", "namespace": "limited"},
                               "spec": {"limits": [{"type": "Container",
                                                    "max": {"nvidia.com/gpu": "4"}}]}})
    wait_until(lambda: is_whole(probe()), 60, "the LimitRange to be seen")
    api.delete("limitranges", "gpus", "limited")
    # Each of the two learns of it by itself: who is asked next may be the other one.
    wait_until(lambda: gates(probe()) == [P + "gpu"], 60, "the LimitRange to be gone")


def test_it_writes_nothing_but_what_it_says(used):
    """I6, shown by the API server: the account may not, and it did not try."""
    stack, _ = used
    manager = "aliquot"
    for kind in ("deployments", "replicasets", "nodes", "namespaces", "services", "configmaps",
                 "serviceaccounts", "runtimeclasses"):
        for obj in stack.api.list(kind):
            writers = {entry["manager"] for entry in obj["metadata"].get("managedFields", [])}
            assert manager not in writers, (kind, obj["metadata"]["name"])
    assert not [line for c in stack.controllers for line in c.log(1 << 20).splitlines()
                if "forbidden" in line.lower()]
    assert IMAGE == stack.capacity_pods()[0]["spec"]["containers"][0]["image"]
