"""Frameworks that take a GPU's memory at start: what their containers really read of their share (scenarios P4 and P5)."""

from asking import create_warned, told
from helpers import capacity_on, environment, is_tenant, is_whole, note, on, placed
from invariants import identity, ledger
from waiting import wait_until

CONTEXT_MIB = 512
VLLM = {"image": "vllm/vllm-openai:v0.10"}
SERVES = "example.com/serves"


def like(stack, where, pod_name, container, **options):
    """A pod whose GPU container is like this one."""
    obj = stack.pod(pod_name, **options, **on(where))
    obj["spec"]["containers"][0].update(container)
    return obj


def start(stack, *what, **options):
    return stack.api.create("pods", like(stack, *what, **options))


def command_line(stack, pod):
    return stack.kubelet.state()["pods"][pod["metadata"]["uid"]]["containers"]["main"]["argv"]


def fraction_of(pod, usable):
    """What it has to be told, in thousandths."""
    return (int(note(pod, "memory-mib")) - CONTEXT_MIB) * 1000 // usable


def test_three_on_one_gpu_are_told_what_adds_up_to_its_memory(stack, node, name):
    """vLLM reads it on its command line, JAX in its environment; PyTorch takes as it needs."""
    where = node()
    vllm, jax, torch = name(), name(), name()
    start(stack, where, vllm, {**VLLM, "args": ["--model", "org/model"]}, fraction="0.4")
    start(stack, where, jax, {"image": "ghcr.io/nvidia/jax:base", "command": ["python3", "train.py"]}, fraction="0.35")
    start(stack, where, torch, {"image": "pytorch/pytorch:2.4", "command": ["python3", "train.py"]}, memory="16Gi")
    pods = {one: stack.wait_running(one, 60) for one in (vllm, jax, torch)}
    capacity, = capacity_on(stack, where)
    assert {note(pod, "gpu-uuid") for pod in pods.values()} == {identity(capacity)["uuid"]}
    usable = identity(capacity)["memory"]
    parts = {one: fraction_of(pods[one], usable) for one in (vllm, jax)}
    assert command_line(stack, pods[vllm]) == [
        "--model", "org/model", "--gpu-memory-utilization=0.%03d" % parts[vllm]]
    assert environment(stack, pods[jax])["XLA_PYTHON_CLIENT_MEM_FRACTION"] == "0.%03d" % parts[jax]
    assert command_line(stack, pods[jax]) == ["python3", "train.py"]
    assert note(pods[vllm], "framework-memory") == "0.%03d" % parts[vllm]
    assert note(pods[torch], "framework-memory") is None
    assert "XLA_PYTHON_CLIENT_MEM_FRACTION" not in environment(stack, pods[torch])
    assert environment(stack, pods[torch])["ALIQUOT_MEMORY_MIB"] == str(16 * 1024)
    # What they take by what they read, a context each included, is at most what they have, and that at most all.
    takes = sum(usable * part / 1000 + CONTEXT_MIB for part in parts.values()) + 16 * 1024
    has = sum(int(note(pod, "memory-mib")) for pod in pods.values())
    assert has - 2 * usable / 1000 <= takes <= has <= usable, (takes, has, usable)


def test_every_way_of_telling_reaches_its_container(stack, node, name):
    where = node(8)
    sglang, script, tensorflow = name(), name(), name()
    start(stack, where, sglang, {"image": "lmsysorg/sglang:v0.4",
                                 "command": ["python3", "-m", "sglang.launch_server", "--port=80"]}, fraction="0.7")
    start(stack, where, script, {**VLLM, "command": ["sh", "-c"], "args": ["exec vllm serve org/model"]}, fraction="0.7")
    start(stack, where, tensorflow, {"image": "tensorflow/serving:2-gpu"}, fraction="0.7")
    pods = {one: stack.wait_running(one, 60) for one in (sglang, script, tensorflow)}
    usable = identity(capacity_on(stack, where)[0])["memory"]
    share = int(note(pods[sglang], "memory-mib")) - CONTEXT_MIB
    assert command_line(stack, pods[sglang])[-1] == "--mem-fraction-static=0.%03d" % (share * 850 // usable)
    assert command_line(stack, pods[script]) == ["sh", "-c", "exec vllm serve org/model --gpu-memory-utilization=0.%03d" %
                                                 fraction_of(pods[script], usable)]
    assert environment(stack, pods[tensorflow])["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
    assert note(pods[tensorflow], "framework-memory") is None


def test_p4_what_its_owner_says_is_not_overridden(stack, node, name):
    where = node()
    cases = [({**VLLM, "args": ["--model=m", "--gpu-memory-utilization=0.5"]}, "the pod sets gpu-memory-utilization"),
             ({"image": "nvidia/jax", "env": [{"name": "XLA_PYTHON_CLIENT_MEM_FRACTION", "value": ".5"}]},
              "the pod sets XLA_PYTHON_CLIENT_MEM_FRACTION"),
             (VLLM, "vLLM takes a GPU's memory at start"),
             ({"image": "nvcr.io/nvidia/tritonserver:24.08-py3"}, "TensorRT-LLM takes a GPU's memory at start")]
    for container, why in cases:
        whole, warnings = create_warned(stack.api, like(stack, where, name(), container, fraction="0.25"))
        assert is_whole(whole) and len(warnings) == 1 and why in warnings[0], (container, warnings)
        main = whole["spec"]["containers"][0]
        assert main.get("args") == container.get("args") and main.get("env") == container.get("env")


def test_p5_the_second_starts_once_the_first_is_ready(stack, node, name):
    where = node()
    first, second = name(), name()
    serve = {**VLLM, "args": ["--model=m"]}
    obj = like(stack, where, first, serve, fraction="0.4")
    obj["spec"]["readinessGates"] = [{"conditionType": SERVES}]
    stack.api.create("pods", obj)
    stack.wait_running(first, 60)
    start(stack, where, second, serve, fraction="0.4")
    waits = stack.wait_pod(second, lambda pod: placed(pod).get("reason") == "StartsInTurn", 60)
    assert "starts once default/%s on the same GPU is Ready" % first in told(waits, "StartsInTurn")
    # Its share is held while it waits.
    wait_until(lambda: waits["metadata"]["uid"] in ledger(capacity_on(stack, where)[0]), 60, "its entry")
    assert is_tenant(waits) and note(waits, "gpu-uuid") is None
    stack.api.patch("pods", first, {"status": {"conditions": [{"type": SERVES, "status": "True"}]}}, "default", "status",
                    "strategic")
    pod, before = stack.wait_running(second, 60), stack.get_pod(first)
    assert note(pod, "gpu-uuid") == note(before, "gpu-uuid")
    ready = next(c for c in before["status"]["conditions"] if c["type"] == "Ready")
    assert ready["status"] == "True" and ready["lastTransitionTime"] <= pod["status"]["startTime"]
