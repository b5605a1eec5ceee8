"""Running pods of other owners than Deployments: DaemonSets, Jobs, Argo Rollouts, and what KEDA scales. Argo's and KEDA's
kinds are there without their controllers."""

import pytest

import manifests
from helpers import capacity_on, is_tenant, is_whole, note
from rolled import rolled_on, stack_of
from test_rolling import DAY, is_ready

WHERE = "own-0"
EACH = ["each-%d" % i for i in range(3)]
STACK = stack_of(9403, (WHERE, 8), *((one, 1) for one in EACH))
ROLLOUTS, SCALED = "rollouts.argoproj.io/v1alpha1", "scaledobjects.keda.sh/v1alpha1"


def kind(group, plural, name):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "%s.%s" % (plural, group)},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": name}, "versions": [{
                "name": "v1alpha1", "served": True, "storage": True, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


@pytest.fixture(name="kinds", scope="module", autouse=True)
def fixture_kinds(cp):
    """Before the controller starts: what is not there it asks for again minutes later."""
    kinds = [kind("argoproj.io", "rollouts", "Rollout"), kind("keda.sh", "scaledobjects", "ScaledObject")]
    manifests.install(cp.admin, kinds)
    yield
    for one in kinds:
        cp.admin.delete("customresourcedefinitions", one["metadata"]["name"])


@pytest.fixture(name="rolled")
def fixture_rolled(stack, name):
    if not stack.controllers[0].can_crash():
        pytest.skip("this build's policy time is the wall's; a sanitized one can be told")
    with rolled_on(stack, name, WHERE, *EACH) as rolled:
        yield rolled


@pytest.mark.timeout(400)
def test_u7_a_daemon_set_goes_node_by_node(rolled):
    """Three nodes of one GPU each, and a policy that asks for it: never two of them without their pod, and each pod's
    capacity pod is on the pod's node."""
    for one in EACH:
        # The only GPU there is back before its capacity pod comes, which is refused otherwise and tried again 10 s later.
        rolled.stack.kubelet.fault("free-delay", node=one, ms=0)
    rolled.policy(update={"byKind": [{"kind": "DaemonSet", "strategy": "Ongoing"}]})
    chosen, template = rolled.template("ds", nodeSelector={}, affinity={"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": EACH}]}]}}})
    rolled.create("daemonsets", "apps/v1", "DaemonSet", "ds", {"selector": {"matchLabels": chosen}, "template": template})
    rolled.wait_whole("ds", 3)
    with rolled.watched("ds"):
        rolled.wait_later(lambda: len(rolled.running("ds")) == 3 and all(is_tenant(p) for p in rolled.running("ds")),
                          "all three to have a share", 200)
    assert rolled.fewest == 2 and len(rolled.uids) == 6, (rolled.fewest, rolled.uids)
    pods = {p["spec"]["nodeName"]: p for p in rolled.running("ds")}
    assert sorted(pods) == EACH and rolled.shares("ds") == {("0.30", "7Gi")}
    for where, pod in pods.items():
        capacity, = capacity_on(rolled.stack, where)
        assert note(pod, "capacity-pod") == capacity["metadata"]["name"], (note(pod, "capacity-pod"), where)
    rolled.untouched("daemonsets", "ds")


def run(rolled, cron, name):
    """A Job as the CronJob's controller makes it, whose name ends with the minute that it is for."""
    template = rolled.template(name, restartPolicy="Never")[1]
    rolled.create("jobs", "batch/v1", "Job", name, {"template": template, "backoffLimit": 0}, ownerReferences=[{
        "apiVersion": "batch/v1", "kind": "CronJob", "name": cron["metadata"]["name"], "uid": cron["metadata"]["uid"],
        "controller": True}])
    rolled.wait(lambda: rolled.running(name), "the pod of %s to run" % name)
    pod, = rolled.running(name)
    return pod


@pytest.mark.timeout(300)
def test_u8_a_job_that_runs_is_left_alone_and_the_next_one_gets_it(rolled):
    """Even where a policy asks for it: its work would be lost. The recommendation is the CronJob's."""
    rolled.policy(update={"byKind": [{"kind": "CronJob", "strategy": "Ongoing"}, {"kind": "Job", "strategy": "Ongoing"}]})
    template = rolled.template("nightly", restartPolicy="Never")[1]
    cron = rolled.create("cronjobs", "batch/v1", "CronJob", "nightly", {
        "schedule": "0 3 * * *", "suspend": True, "jobTemplate": {"spec": {"template": template}}})
    first = run(rolled, cron, "nightly-29600000")
    assert is_whole(first)
    with rolled.watched("nightly-29600000"):
        rolled.learn("nightly", "cronjob")
        message = rolled.wait_blocked("nightly", "Unsupported", "cronjob")
        assert "its running pods would lose their work" in message, message
        rolled.forward(DAY)
        rolled.look()
    assert rolled.uids == {first["metadata"]["uid"]} and rolled.fewest == 1
    grec, = rolled.api.list("gpurecommendations", rolled.space)
    assert grec["spec"]["targetRef"] == {"group": "batch", "kind": "CronJob", "name": "nightly"}
    owner, = grec["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("CronJob", cron["metadata"]["uid"])
    run(rolled, cron, "nightly-29601440")
    assert rolled.shares("nightly-29601440") == {("0.30", "7Gi")}
    pod, = rolled.running("nightly-29600000")
    assert pod["metadata"]["uid"] == first["metadata"]["uid"] and is_whole(pod)
    assert len(rolled.api.list("gpurecommendations", rolled.space)) == 1
    rolled.untouched("jobs", "nightly-29600000")


HASH = "rollouts-pod-template-hash"


def enter(rolled, name, phase):
    """Its controller says where it is; None: it has not said anything yet."""
    rolled.api.patch(ROLLOUTS, name, {"status": {"phase": phase, "replicas": 3}}, rolled.space, sub="status")


def roll_out(rolled, name, replicas, phase):
    """An Argo Rollout and its ReplicaSet, as its controller leaves them."""
    chosen, template = rolled.template(name)
    rollout = rolled.create(ROLLOUTS, "argoproj.io/v1alpha1", "Rollout", name, {
        "replicas": replicas, "selector": {"matchLabels": chosen}, "template": template})
    enter(rolled, name, phase)
    hashed = {HASH: "7c9f6d8b5f"}
    template = {"metadata": {"labels": dict(template["metadata"]["labels"], **hashed)}, "spec": template["spec"]}
    rolled.create("replicasets", "apps/v1", "ReplicaSet", name + "-7c9f6d8b5f", {
        "replicas": replicas, "selector": {"matchLabels": dict(chosen, **hashed)}, "template": template}, ownerReferences=[{
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": name, "controller": True,
            "uid": rollout["metadata"]["uid"]}])
    rolled.wait_whole(name, replicas)


@pytest.mark.timeout(400)
def test_u9_a_rollout_at_its_own_steps_is_left_alone(rolled):
    """OnCreate, as it is for this kind: nobody goes, the pod that comes is sized. Ongoing: nobody goes while its phase is
    Progressing, or not told; once it is Healthy they go one at a time."""
    roll_out(rolled, "web", 3, "Progressing")
    with rolled.watched("web"):
        rolled.learn("web", "rollout")
        rolled.forward(3600)
        rolled.look()
    assert rolled.fewest == 3 and len(rolled.uids) == 3 and rolled.blocked("web", "rollout")[0] is None
    gone = rolled.running("web")[0]["metadata"]
    rolled.api.delete("pods", gone["name"], rolled.space, grace=0)
    rolled.wait(lambda: len(rolled.running("web")) == 3, "the third to come back")
    assert sorted(is_tenant(p) for p in rolled.running("web")) == [False, False, True]

    rolled.policy(update={"byKind": [{"kind": "Rollout", "strategy": "Ongoing"}]})
    with rolled.watched("web"):
        for phase in ("Progressing", None):
            enter(rolled, "web", phase)
            assert "its owner web" in rolled.wait_blocked("web", "OwnerRollout", "rollout")
            rolled.forward(3600)
            rolled.look()
    assert rolled.fewest == 3 and len(rolled.uids) == 3
    with rolled.watched("web"):
        enter(rolled, "web", "Healthy")
        rolled.wait_later(lambda: len(rolled.running("web")) == 3 and all(is_tenant(p) for p in rolled.running("web")),
                          "all three to have a share", 200)
    assert rolled.fewest == 2 and len(rolled.uids) == 5, (rolled.fewest, rolled.uids)
    assert rolled.shares("web") == {("0.30", "7Gi")}
    rolled.untouched(ROLLOUTS, "web")


def scaled(query):
    return {"scaleTargetRef": {"name": "web"}, "triggers": [{"type": "prometheus", "metadata": {
        "serverAddress": "http://prometheus:9090", "query": query, "threshold": "80"}}]}


@pytest.mark.timeout(300)
def test_u14_what_keda_scales_on_its_gpu_stays_whole(rolled):
    """The query of a ScaledObject names the GPU: it says so, and its pods stay as they are. Of a queue: they go."""
    rolled.api.create(SCALED, {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "spec": scaled(
        "avg(DCGM_FI_DEV_GPU_UTIL)"), "metadata": {"name": "by-use", "namespace": rolled.space}})
    rolled.deploy("web", 2)
    with rolled.watched("web"):
        message = rolled.wait_blocked("web", "HorizontalScalerOnGPU")
        assert "ScaledObject by-use" in message, message
        rolled.wait_later(lambda: rolled.condition("web", "HistorySufficient")[0] == "Sufficient", "enough history")
        rolled.forward(3600)
        rolled.look()
    assert rolled.fewest == 2 and len(rolled.uids) == 2 and all(is_whole(p) for p in rolled.running("web"))
    rolled.api.patch(SCALED, "by-use", {"spec": scaled("sum(vllm:num_requests_waiting)")}, rolled.space)
    rolled.wait_later(lambda: any(is_tenant(p) and is_ready(p) for p in rolled.pods(app="web")), "the first to go", 200)
    rolled.untouched("deployments", "web")
