"""Which pods meet the webhook, what it does to them and to nobody else (C1, C5, I6)."""

import concurrent.futures
import json
import signal
import time

import asking
from asking import NOWHERE, Meetings, create_warned
from helpers import (P, environment, events, gates, is_tenant, is_whole, note, on, placed, seen,
                     wait_gone)
from waiting import wait_until

STACK = asking.STACK
N = 40


def create_many(stack, objects):
    def create(i):
        obj = json.loads(json.dumps(objects[i % len(objects)]))
        obj["metadata"]["name"] += "-%d" % i
        return stack.api.create("pods", obj)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(create, range(N)))


def test_a_pod_without_a_gpu_never_meets_the_webhook(stack):
    """Counted by the controller and by the API server; GPU pods, counted alike, all meet it."""
    plain = [stack.pod("plain", gpus=0, **NOWHERE),
             stack.pod("noted", gpus=0, fraction="0.5", memory="8Gi", **NOWHERE),
             stack.pod("gated", gpus=0, schedulingGates=[{"name": "example.com/x"}], **NOWHERE),
             stack.pod("policy", gpus=0, annotations={P + "policy": "none"}, **NOWHERE)]
    mig = stack.pod("mig", gpus=0, **NOWHERE)
    mig["spec"]["containers"][0]["resources"]["limits"] = {"nvidia.com/mig-1g.10gb": "1"}
    met, server = Meetings(stack.leader()), asking.series(stack.api)
    made = create_many(stack, plain + [mig])
    passed = asking.series(stack.api)
    total, whole, canaries = met.since()
    assert whole == 0 and total <= canaries, (total, whole)
    excluded = "apiserver_admission_match_condition_exclusions_total"
    assert _sum(passed, excluded) - _sum(server, excluded) == N
    assert not [pod for pod in made if is_tenant(pod) or P + "gpu" in gates(pod)]

    met, server = Meetings(stack.leader()), asking.series(stack.api)
    made = create_many(stack, [stack.pod("with", **NOWHERE)])
    passed = asking.series(stack.api)
    # Asked last, so that it allows for each canary that was counted before.
    total, whole, canaries = met.since()
    assert whole == N and N <= total <= N + canaries, (total, whole)
    calls = "apiserver_admission_webhook_request_total"
    assert N <= _sum(passed, calls) - _sum(server, calls) <= N + canaries
    assert _sum(passed, excluded) == _sum(server, excluded)
    # Nobody asked for a share: they are as they were written, and nobody is told anything.
    assert all(is_whole(pod) for pod in made)
    assert create_warned(stack.api, stack.pod("quiet"), dryRun="All")[1] == []
    for pod in stack.api.list("pods", "default"):
        if "aliquot.test/no-such-node" in pod["spec"].get("nodeSelector", {}):
            stack.api.delete("pods", pod["metadata"]["name"], "default", grace=0)


def _sum(values, prefix):
    return sum(value for name, value in values.items() if name.startswith(prefix))


def test_a_dry_run_changes_nothing(stack, node, name):
    """The answer shows the tenant that it would be; nothing is opened, granted or told."""
    where, pod_name = node(), name()
    # Others may be there that tests before have left, with a grant or without.
    before, had = asking.books(stack), {pod["metadata"]["name"] for pod in stack.capacity_pods()}
    created = stack.leader().metric("aliquot_action")
    for _ in range(5):
        made = stack.api.create("pods", stack.pod(pod_name, fraction="0.25", **on(where)),
                                dryRun="All")
        assert is_tenant(made) and gates(made) == [P + "gpu"]
    # A real tenant that comes after it is placed: whatever the dry runs did would show by then.
    other = node()
    real = name()
    stack.create_pod(real, fraction="0.25", **on(other))
    wait_until(lambda: asking.books(stack)[0].get(("default", real), [None, None, None, True])[3] is False, 60, "the real one to be placed")
    tenants, ledgers = asking.books(stack)
    assert len(set(tenants) - set(before[0])) == 1 and ("default", pod_name) not in tenants
    assert stack.api.find("pods", pod_name, "default") is None
    opened = [pod for pod in stack.capacity_pods() if pod["metadata"]["name"] not in had]
    assert [pod["spec"]["nodeName"] for pod in opened] == [other], ledgers
    assert not [event for event in stack.api.list("events", "default")
                if event["involvedObject"].get("name") == pod_name]
    assert created == 0 or stack.leader().metric("aliquot_action") > created


def test_the_webhook_is_stopped_and_comes_back(stack, node, name):
    """Nobody behind the Service: pods start whole, at once. Back: the next one is converted."""
    where, controller = node(), stack.leader()
    assert controller.stop() == 0
    try:
        began = time.monotonic()
        whole = name()
        made, warnings = create_warned(stack.api, stack.pod(whole, fraction="0.25", **on(where)))
        assert is_whole(made) and time.monotonic() - began < 2.5, warnings
        assert is_whole(stack.wait_running(whole))
    finally:
        controller.start()
    stack.wait_converting()
    stack.api.delete("pods", whole, "default", grace=0)
    wait_gone(stack, whole)
    shared = name()
    assert is_tenant(stack.create_pod(shared, fraction="0.25", **on(where)))
    stack.wait_running(shared, 60)


def test_a_webhook_that_hangs_costs_two_seconds(stack, node, name):
    """C1: timeoutSeconds 2, failurePolicy Ignore."""
    where, whole, controller = node(), name(), stack.leader()
    controller.signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        made = stack.create_pod(whole, fraction="0.25", **on(where))
        took = time.monotonic() - began
    finally:
        controller.signal(signal.SIGCONT)
    assert is_whole(made) and 1.5 < took < 6, took
    stack.wait_running(whole)
    stack.wait_converting()


def workload(stack, kind, name, **spec):
    meta = {"labels": {"app": name}, "annotations": {P + "gpu-fraction": "0.25"}}
    api = {"Job": "batch/v1"}.get(kind, "apps/v1")
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "default"},
            "spec": dict(spec, template={"metadata": meta, "spec": spec.pop("pod")})}


def test_owners_and_templates_are_never_written(stack, node, name):
    """I6: Deployment, StatefulSet, DaemonSet and Job keep what they have while their pods share."""
    where, base = node(), name()
    match = {"selector": {"matchLabels": {"app": ""}}}
    pod = stack.pod("x", **on(where))["spec"]
    made = {}
    for kind, more in (("Deployment", dict(match, replicas=1)),
                       ("StatefulSet", dict(match, replicas=1, serviceName="none")),
                       ("DaemonSet", match), ("Job", {})):
        of_it = dict(pod, restartPolicy="Never") if kind == "Job" else pod
        obj = workload(stack, kind, "%s-%s" % (base, kind.lower()), pod=of_it,
                       **json.loads(json.dumps(more)))
        if kind != "Job":
            obj["spec"]["selector"]["matchLabels"]["app"] = obj["metadata"]["name"]
        made[kind] = stack.api.create(kind.lower() + "s", obj)
    try:
        def placed_pods():
            pods = [p for p in stack.api.list("pods", "default")
                    if p["metadata"].get("labels", {}).get("app", "").startswith(base)]
            return len(pods) == 4 and all(p["status"].get("phase") == "Running" and
                                          note(p, "gpu-uuid") for p in pods) and pods
        pods = wait_until(placed_pods, 60, lambda: "all four to share: %s" % [
            (p["metadata"]["name"], p["status"].get("phase"), placed(p))
            for p in stack.api.list("pods", "default")])
        assert {note(p, "gpu-uuid") for p in pods} == {note(pods[0], "gpu-uuid")}
        for kind, before in made.items():
            now = stack.api.get(kind.lower() + "s", before["metadata"]["name"], "default")
            assert now["metadata"]["generation"] == 1 and now["spec"] == before["spec"], kind
            assert now["metadata"].get("annotations", {}).keys() <= {
                "deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"}
        for kind in ("deployments", "replicasets", "statefulsets", "daemonsets", "jobs",
                     "controllerrevisions"):
            for obj in stack.api.list(kind, "default"):
                assert _writers(obj) <= {"aliquot-test", "kube-controller-manager",
                                         "python-requests"}, (kind, _writers(obj))
        assert _writers(pods[0]) & {"aliquot"}
    finally:
        for kind, obj in made.items():
            stack.api.delete(kind.lower() + "s", obj["metadata"]["name"], "default",
                             propagationPolicy="Background")
    wait_until(lambda: not placed_left(stack, base), 60, "their pods to go")


def placed_left(stack, base):
    return [p for p in stack.api.list("pods", "default")
            if p["metadata"].get("labels", {}).get("app", "").startswith(base)]


def _writers(obj):
    return {entry["manager"] for entry in obj["metadata"].get("managedFields", [])}


def test_every_container_sees_what_it_should(stack, node, name):
    """C5: ours are replaced in place; all others see no GPU even where their image says `all`."""
    where, pod_name = node(), name()
    env = [{"name": "BEFORE", "value": "1"}, {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
           {"name": "CUDA_VISIBLE_DEVICES", "value": "0"},
           {"name": "CUDA_MPS_PIPE_DIRECTORY", "value": "/tmp/mps"},
           {"name": "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "value": "90"},
           {"name": "AFTER", "value": "$(NVIDIA_VISIBLE_DEVICES)"}]
    obj = stack.pod(pod_name, fraction="0.25", **on(where), annotations={
        "fake.kubelet/image-visible-devices": "all", "fake.kubelet/init.exit-code": "0"})
    obj["spec"]["containers"][0]["env"] = env
    small = {"requests": {"cpu": "10m"}}
    obj["spec"]["containers"].append({"name": "sidecar", "image": "cuda", "resources": small})
    obj["spec"]["initContainers"] = [{"name": "init", "image": "cuda", "resources": small}]
    made, warnings = create_warned(stack.api, obj)
    assert is_tenant(made) and not warnings, warnings
    pod = stack.wait_running(pod_name, 60)
    uuid = note(pod, "gpu-uuid")
    assert seen(stack, pod) == [uuid] and seen(stack, pod, "sidecar") == []
    got = environment(stack, pod)
    assert (got["BEFORE"], got["NVIDIA_VISIBLE_DEVICES"], got["AFTER"]) == ("1", uuid, uuid)
    assert got["CUDA_VISIBLE_DEVICES"] == uuid and "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE" not in got
    assert got["CUDA_MPS_PIPE_DIRECTORY"] != "/tmp/mps"
    in_place = [entry["name"] for entry in pod["spec"]["containers"][0]["env"]]
    assert [one for one in in_place if one in {e["name"] for e in env}] == [
        e["name"] for e in env if e["name"] in in_place]
    for name_, env_ in ((c["name"], c.get("env", [])) for c in pod["spec"]["containers"] +
                        pod["spec"]["initContainers"]):
        names = [entry["name"] for entry in env_]
        assert len(names) == len(set(names)), env_
        if name_ != "main":
            assert {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"} in env_
    assert [t for t in pod["spec"]["tolerations"] if t.get("key") == "nvidia.com/gpu"]


def test_a_copy_of_a_live_tenant_is_a_new_pod(stack, node, name):
    """Case 31: stale keys are stripped; it gets a share and a GPU of its own."""
    first, second, where, other = name(), name(), node(), node()
    stack.create_pod(first, fraction="0.25", **on(where))
    live = stack.wait_running(first)
    meta, spec = live["metadata"], dict(live["spec"], nodeSelector=on(other)["nodeSelector"])
    del spec["nodeName"]
    copied = {"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": {
        "name": second, "namespace": "default", "labels": meta["labels"],
        "annotations": meta["annotations"]}}
    made, _ = create_warned(stack.api, copied)
    assert is_tenant(made) and gates(made) == [P + "gpu"] and note(made, "gpu-uuid") is None
    assert note(made, "original") == note(live, "original")
    pod = stack.wait_running(second, 60)
    assert pod["spec"]["nodeName"] == other and note(pod, "gpu-uuid") != note(live, "gpu-uuid")
    assert seen(stack, pod) == [note(pod, "gpu-uuid")]


def test_a_gate_that_is_not_ours_to_take(stack, node, name):
    """C19, case 35: our gate goes when it is the last one; without `original` it never goes."""
    where, odd, forged, waits = node(), name(), name(), name()
    made, warnings = create_warned(stack.api, stack.pod(
        odd, schedulingGates=[{"name": P + "gpu"}], gpus=0, labels={P + "tenant": "true"}))
    assert "carries our gate" in "".join(warnings) and gates(made) == [P + "gpu"], warnings
    # Nor one of which nobody can read what it was.
    stack.api.create("pods", stack.pod(forged, schedulingGates=[{"name": P + "gpu"}], gpus=0,
                                       labels={P + "tenant": "true"}, **on(where),
                                       annotations={P + "original": "nonsense", P + "share": "0.25"}))
    stack.create_pod(waits, fraction="0.25", schedulingGates=[{"name": "example.com/quota"}],
                     **on(where))
    for stranger in (odd, forged):
        pod = stack.wait_pod(stranger, placed, 60, what="a condition")
        assert (placed(pod)["status"], placed(pod)["reason"]) == ("False", "NotOurs")
        assert gates(pod) == [P + "gpu"] and note(pod, "gpu-uuid") is None
        stack.api.delete("pods", stranger, "default", grace=0)
    pod = stack.wait_pod(waits, placed, 60, what="a condition")
    assert placed(pod)["reason"] == "OtherGates" and "example.com/quota" in placed(pod)["message"]
    assert sorted(gates(pod)) == [P + "gpu", "example.com/quota"]
    assert note(pod, "gpu-uuid") is None
    stack.api.patch("pods", waits, {"spec": {"schedulingGates": [{"name": P + "gpu"}]}}, "default")
    pod = stack.wait_running(waits, 60)
    assert gates(pod) == [] and seen(stack, pod) == [note(pod, "gpu-uuid")]
    wait_until(lambda: events(stack, pod, "Placed"), 60, "the event")
