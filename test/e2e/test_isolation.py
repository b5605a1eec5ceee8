"""What a policy's isolation comes to: clients of MPS and their GPUs, where MPS cannot be, and that modes never share."""

import pytest

from asking import create_warned, namespace
from helpers import P, allow_mps, capacity_on, environment, events, note, on, placed, wait_policy
from waiting import wait_until

BASELINE = "isolation-baseline"


@pytest.fixture(name="policy")
def fixture_policy(stack):
    name = "isolates"
    if name not in [one["metadata"]["name"] for one in stack.api.list("gpupolicies")]:
        stack.api.create("gpupolicies", {
            "apiVersion": P + "v1alpha1", "kind": "GPUPolicy", "metadata": {"name": name},
            "spec": {"selector": {"podSelector": {"matchLabels": {"walled": "yes"}}},
                     "sharing": {"isolation": "MPS", "idleGraceSeconds": 2}}})
    wait_policy(stack, name)
    allow_mps(stack, name)
    return name


@pytest.fixture(name="baseline")
def fixture_baseline(stack):
    stack.api.create("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": BASELINE, "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}})
    wait_until(lambda: stack.api.find("serviceaccounts", "default", BASELINE), 60, "the account")
    yield BASELINE
    stack.api.delete("namespaces", BASELINE)


def walled(stack, where, name, policy, **options):
    return stack.pod(name, fraction="0.25", labels={"walled": "yes"},
                     annotations={P + "policy": policy}, **{**on(where), **options})


def mounts(pod, container=0):
    return {one["mountPath"]: one for one in pod["spec"]["containers"][container].get("volumeMounts", [])}


def test_a_client_is_told_its_limits_and_finds_the_daemon_of_its_gpu(stack, node, name, policy):
    where, title = node(), name()
    obj = walled(stack, where, title, policy)
    main = obj["spec"]["containers"][0]
    obj["spec"]["volumes"] = [{"name": "own", "emptyDir": {"medium": "Memory"}}]
    main["volumeMounts"] = [{"name": "own", "mountPath": "/dev/shm"}]
    obj["spec"]["containers"].append(dict(main, name="side", resources={}))
    stack.api.create("pods", obj)
    pod = stack.wait_running(title, 60)
    env, memory = environment(stack, pod), note(pod, "memory-mib")
    assert note(pod, "isolation") == "MPS"
    assert env["CUDA_MPS_PIPE_DIRECTORY"] == "/run/aliquot/mps"
    assert env["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] == "25"
    assert env["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] == "0=%sM" % memory
    assert mounts(pod)["/run/aliquot/mps"]["subPathExpr"] == "$(ALIQUOT_GPU_UUID)/pipe"
    volumes = {one["name"]: one for one in pod["spec"]["volumes"]}
    shm = volumes[mounts(pod)["/dev/shm"]["name"]]
    assert shm["hostPath"] == {"path": "/dev/shm/aliquot-mps", "type": "Directory"}
    assert mounts(pod, 1)["/dev/shm"]["name"] == "own", "the others keep what they have"
    assert "CUDA_MPS_PIPE_DIRECTORY" not in environment(stack, pod, "side")
    holder, = capacity_on(stack, where)
    assert note(holder, "isolation") == "MPS" and holder["spec"]["hostPID"]
    told = wait_until(lambda: events(stack, pod, "Placed"), 60, "the event")
    assert not told[0]["message"].count("isolation None")


def test_a_namespace_that_says_nothing_has_no_mps(stack, node, name, policy):
    """The cluster may forbid directories of the node there, and then the pod would not be created."""
    with namespace(stack) as space:
        obj = walled(stack, node(), name(), policy, namespace=space)
        wait_until(lambda: note(create_warned(stack.api, obj, dryRun="All")[0], "isolation"), 60, "it to be known")
        stored, said = create_warned(stack.api, obj, dryRun="All")
    assert any("has no label pod-security.kubernetes.io/enforce=privileged" in line for line in said), said
    assert note(stored, "isolation") == "None" and not [
        one for one in stored["spec"].get("volumes", []) if "hostPath" in one]


def test_c28_where_pod_security_forbids_it_there_is_none_and_that_is_said(stack, node, name, policy, baseline):
    where, title = node(), name()
    wait_until(lambda: note(create_warned(
        stack.api, walled(stack, where, title, policy, namespace=baseline), dryRun="All")[0], "isolation"),
        60, "the namespace to be known")
    stored, said = create_warned(stack.api, walled(stack, where, title, policy, namespace=baseline))
    assert any("enforces Pod Security baseline" in line for line in said), said
    assert note(stored, "isolation") == "None"
    pod = stack.wait_running(title, 60, namespace=baseline)
    env = environment(stack, pod)
    assert env["CUDA_MPS_PIPE_DIRECTORY"] == "/run/aliquot/no-mps"
    assert not [key for key in env if key.startswith("CUDA_MPS_") and key != "CUDA_MPS_PIPE_DIRECTORY"]
    assert not pod["spec"].get("volumes") or not [v for v in pod["spec"]["volumes"] if "hostPath" in v]
    wait_until(lambda: events(stack, pod, "Placed"), 60, "the event")
    assert "isolation None, not MPS: its namespace or aliquot-system does not allow it" in events(stack, pod, "Placed")[0]["message"]
    holder, = capacity_on(stack, where)
    assert note(holder, "isolation") is None and not holder["spec"].get("hostPID")


def test_modes_never_share_a_gpu(stack, node, name, policy):
    where = node(2)
    made = []
    for mode in ("", "MPS", "", "MPS"):
        title = name()
        stack.api.create("pods", walled(stack, where, title, policy) if mode else
                         stack.pod(title, fraction="0.25", **on(where)))
        made.append((mode, note(stack.wait_running(title, 60), "gpu-uuid")))
    gpus = {mode: {uuid for one, uuid in made if one == mode} for mode in ("", "MPS")}
    assert len(gpus[""]) == len(gpus["MPS"]) == 1 and gpus[""] != gpus["MPS"], made
    assert sorted(note(one, "isolation") or "" for one in capacity_on(stack, where)) == ["", "MPS"]


def test_an_idle_gpu_changes_its_mode_for_who_waits(stack, node, name, policy):
    """And one that is used does not: who waits is told why."""
    where, first, second = node(), name(), name()
    stack.create_pod(first, fraction="0.25", **on(where))
    stack.wait_running(first, 60)
    stack.api.create("pods", walled(stack, where, second, policy))
    waiting = stack.wait_pod(second, lambda pod: placed(pod).get("reason") == "Exclusive", 60)
    assert "isolation MPS, the GPUs with room have tenants with isolation None" in placed(waiting)["message"]
    stack.api.delete("pods", first, "default", grace=1)
    pod = stack.wait_running(second, 60)
    assert note(pod, "isolation") == "MPS"
