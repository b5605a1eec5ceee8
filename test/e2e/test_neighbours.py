"""Pods in which somebody else has a say: Kueue's, ranks of parallel jobs, and what is applied again and again."""

import pytest

import asking
import manifests
from api import ApiError
from asking import NOWHERE, create_warned
from helpers import P, gates, is_tenant, is_whole, note, on, placed
from waiting import wait_until

STACK = asking.STACK
QUEUE = "kueue.x-k8s.io/"


def counted(stack, reason):
    return stack.leader().metric('aliquot_admission_total{verdict="whole",reason="%s"' % reason) or 0


@pytest.mark.parametrize("mark", [
    {"labels": {QUEUE + "queue-name": "team"}},
    {"labels": {QUEUE + "managed": "true"}},
    {"schedulingGates": [{"name": QUEUE + "admission"}]}], ids=["queue", "managed", "gate"])
def test_what_kueue_counts_stays_whole(stack, name, mark):
    """Kueue reads what a pod asks for once it is there: of a share it would count no GPU, and its quota held for none."""
    pod, told = create_warned(stack.api, stack.pod(name(), fraction="0.25", **mark, **NOWHERE))
    assert is_whole(pod) and P + "gpu" not in gates(pod)
    assert any("a queue counts what the pod asks for" in line for line in told), told
    stack.api.delete("pods", pod["metadata"]["name"], "default", grace=0)


def indexed(name, pod, ranks):
    pod["spec"]["restartPolicy"] = "Never"
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"}, "spec": {
        "completionMode": "Indexed", "completions": ranks, "parallelism": ranks,
        "template": {"metadata": {key: pod["metadata"][key] for key in ("labels", "annotations")}, "spec": pod["spec"]}}}


def pods_of(stack, job, count):
    def found():
        pods = stack.api.list("pods", "default", labelSelector="batch.kubernetes.io/job-name=" + job)
        return pods if len(pods) == count else None
    return wait_until(found, 60, "the pods of " + job)


@pytest.fixture(name="shared")
def fixture_shared(stack):
    """A namespace in which every pod with a GPU gets a share, unless something speaks against it."""
    def default(value):
        stack.api.patch("namespaces", "default", {"metadata": {"annotations": {P + "default-gpu-fraction": value}}})
    default("0.25")
    probe = {**stack.pod("probe", **NOWHERE), "metadata": {
        "name": "probe", "namespace": "default", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}]}}
    wait_until(lambda: is_tenant(stack.api.create("pods", probe, dryRun="All")), 60, "the default to be known")
    yield
    default(None)
    wait_until(lambda: is_whole(stack.api.create("pods", probe, dryRun="All")), 60, "the default to be gone")


def test_ranks_of_an_indexed_job_stay_whole(stack, name, shared):
    """Two ranks on one GPU are refused by NCCL: a namespace's default does not make shares of them."""
    assert shared is None
    job = name()
    before = counted(stack, "ParallelRank")
    stack.api.create("jobs", indexed(job, stack.pod(job, **NOWHERE), 2))
    pods = pods_of(stack, job, 2)
    assert all(is_whole(pod) for pod in pods)
    assert counted(stack, "ParallelRank") >= before + 2
    stack.api.delete("jobs", job, "default", propagationPolicy="Background")


def test_ranks_that_ask_go_to_gpus_of_their_own(stack, name):
    """The annotation on their template says that they may share; both would fit on one GPU."""
    job = name()
    stack.api.create("jobs", indexed(job, stack.pod(job, fraction="0.25", **on("wide-0")), 2))
    pods_of(stack, job, 2)

    def both():
        pods = pods_of(stack, job, 2)
        return pods if all(placed(pod).get("status") == "True" or note(pod, "gpu-uuid") for pod in pods) else None
    pods = wait_until(both, 60, "both ranks to be placed")
    assert all(is_tenant(pod) for pod in pods)
    assert len({note(pod, "gpu-uuid") for pod in pods}) == 2
    stack.api.delete("jobs", job, "default", propagationPolicy="Background")


def of_a_workload(stack, name, **fields):
    """A pod as a ReplicaSet makes it, that goes to no node."""
    pod = stack.pod(name, **fields, **NOWHERE)
    pod["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}]
    return pod


def spreads(app, *keys):
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": {"matchLabels": {"app": app}}} for key in keys]


def test_c36_what_nobody_can_judge_before_the_pin_stays_whole(stack, name, shared):
    """More hard spreads than are looked at, and one over pods without GPUs, whose places nobody here knows. Who asks for
    a share by an annotation wants that first."""
    assert shared is None
    app = name()
    zones = spreads(app, "topology.kubernetes.io/zone")
    many = spreads(app, *("example.com/key-%d" % i for i in range(9)))

    def dry(constraints, **fields):
        return stack.api.create("pods", of_a_workload(stack, app + "-dry", labels={"app": app}, **fields,
                                                      topologySpreadConstraints=constraints), dryRun="All")
    before = counted(stack, "NeighboursNotJudged")
    assert is_tenant(dry(zones)) and is_whole(dry(many)) and is_tenant(dry(many, fraction="0.25"))
    assert counted(stack, "NeighboursNotJudged") == before + 1
    front = stack.create_pod(app, gpus=0, labels={"app": app}, **NOWHERE)
    wait_until(lambda: is_whole(dry(zones)), 60, "the pod without a GPU to be known")
    assert is_tenant(dry(zones, fraction="0.25"))
    stack.api.delete("pods", front["metadata"]["name"], "default", grace=0)


DECLARED = [
    {"annotations": {"argocd.argoproj.io/tracking-id": "app:/Pod:default/p"}},
    {"labels": {"kustomize.toolkit.fluxcd.io/name": "apps"}},
    {"labels": {"helm.toolkit.fluxcd.io/name": "app"}},
    {"annotations": {"meta.helm.sh/release-name": "app"}}]


@pytest.mark.parametrize("mark", DECLARED, ids=["argo", "flux", "flux-helm", "helm"])
def test_a_bare_pod_that_is_declared_can_be_applied_again(stack, name, mark):
    """Of a pod without a controller the same manifest is applied every few minutes. A share would make it invalid."""
    pod = stack.pod(name(), fraction="0.25", **mark, **NOWHERE)
    made = stack.api.apply(pod)
    assert is_whole(made)
    again = stack.api.apply(pod)
    assert is_whole(again) and again["metadata"]["uid"] == made["metadata"]["uid"]
    stack.api.delete("pods", made["metadata"]["name"], "default", grace=0)


def test_a_bare_pod_that_nobody_declares_is_a_tenant_and_not_to_be_applied_again(stack, name):
    """What the documentation says of it: the second time the API server refuses it, and nothing changes."""
    pod = stack.pod(name(), fraction="0.25", **NOWHERE)
    made = stack.api.apply(pod)
    assert is_tenant(made)
    with pytest.raises(ApiError) as refused:
        stack.api.apply(pod)
    assert refused.value.status == 422 and "pod updates may not change fields" in str(refused.value)
    assert is_tenant(stack.get_pod(made["metadata"]["name"]))
    stack.api.delete("pods", made["metadata"]["name"], "default", grace=0)


CLIENT, PRESENT = "nvidia.com/gpu.deploy.client", "nvidia.com/gpu.present"


def test_agents_leave_for_an_upgrade_of_the_driver_and_come_back(stack, name):
    """By its label the GPU Operator asks for that: the agent's affinity, tried with the real controller of DaemonSets."""
    node, daemon = "narrow-15", name()
    agent = next(obj for obj in manifests.render() if obj["kind"] == "DaemonSet")
    labels = {"test": daemon}
    template = {"metadata": {"labels": labels}, "spec": {
        "affinity": agent["spec"]["template"]["spec"]["affinity"], "terminationGracePeriodSeconds": 0,
        "nodeSelector": {"kubernetes.io/hostname": node}, "containers": [{"name": "agent", "image": "app"}]}}

    def label(**labels):
        stack.api.patch("nodes", node, {"metadata": {"labels": {
            {"client": CLIENT, "present": PRESENT}[key]: value for key, value in labels.items()}}})

    def agents():
        return [pod for pod in stack.api.list("pods", "default", labelSelector="test=" + daemon)
                if not pod["metadata"].get("deletionTimestamp")]

    before = stack.api.get("nodes", node)["metadata"]["labels"].get(PRESENT)
    stack.api.create("daemonsets", {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {
        "name": daemon, "namespace": "default"}, "spec": {"selector": {"matchLabels": labels}, "template": template}})
    try:
        label(present="true")
        first, = wait_until(agents, 60, "an agent where the operator's label is not")
        label(client="true")
        label(client="paused-for-driver-upgrade")
        wait_until(lambda: not agents(), 60, "the agent to leave")
        label(client="true")
        second, = wait_until(agents, 60, "the agent to come back")
        assert first["metadata"]["uid"] != second["metadata"]["uid"]
    finally:
        label(client=None, present=before)
        stack.api.delete("daemonsets", daemon, "default", propagationPolicy="Background")
