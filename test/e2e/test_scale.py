"""C14, kai case 39: for a tenant that fits nowhere a pod waits for a node, with its constraints, its CPU and memory; when a
node comes that it fits, it runs there."""

from helpers import note, on, placed
from waiting import wait_until

STACK = {"nodes": [("small-0", 1), ("grown-0", 1), ("pair-0", 2)],
         "arguments": ["--scale-up-seconds=1", "--idle-grace-seconds=1"]}
POOL = "example.com/pool"


def companions(stack):
    return stack.api.list("pods", namespace="aliquot-system", labelSelector="aliquot.dev/companion=true")


def waiting(stack):
    return [pod for pod in companions(stack) if not pod["spec"].get("nodeName")
            and not pod["metadata"].get("deletionTimestamp")]


def label(stack, value):
    stack.api.patch("nodes", "grown-0", {"metadata": {"labels": {POOL: value}}})


def test_c14_k39_pods_that_stand_in_ask_for_nodes(stack, name):
    first, second = name(), name()
    for pod, fraction in ((first, "0.6"), (second, "0.7")):
        stack.create_pod(pod, fraction=fraction, nodeSelector={POOL: "large"})
    found = wait_until(lambda: len(waiting(stack)) == 2 and waiting(stack), 60, lambda: "two of them\n" + stack.logs())
    for pod in found:
        assert pod["spec"]["nodeSelector"] == {POOL: "large"} and "affinity" not in pod["spec"], pod["spec"]
        resources = pod["spec"]["containers"][0]["resources"]
        assert resources["limits"]["nvidia.com/gpu"] == "1" and resources["requests"]["cpu"] == "110m", resources
        assert pod["spec"]["priority"] == -5 and pod["spec"]["preemptionPolicy"] == "Never"
    # Nobody else waits for that.
    other = name()
    stack.create_pod(other, fraction="0.5", **on("small-0"))
    stack.wait_running(other)
    said = stack.wait_pod(first, lambda p: "waits for a node" in placed(p).get("message", ""), 75, what="a word")
    assert placed(said)["status"] == "False"
    # A node comes: one of the two runs, and the rest goes on waiting.
    stack.api.delete("pods", second, "default", grace=1)
    wait_until(lambda: len(waiting(stack)) == 1, 60, "the one that nobody needs to go")
    label(stack, "large")
    try:
        pod = stack.wait_running(first, 60)
        assert pod["spec"]["nodeName"] == "grown-0" and note(pod, "gpu-uuid")
        wait_until(lambda: not companions(stack), 60, "what stood in to go")
        stack.api.delete("pods", first, "default", grace=1)
    finally:
        label(stack, None)


def take_away(stack, node):
    """As if it had not come yet: the object that makes it come."""
    obj = stack.api.get("nodes", node)
    stack.api.delete("nodes", node)
    for key in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
        obj["metadata"].pop(key, None)
    obj["spec"].pop("taints", None)
    return obj


def bring(stack, obj, **labels):
    obj["metadata"]["labels"].update(labels)
    stack.api.create("nodes", obj)
    stack.api.patch("nodes", obj["metadata"]["name"], {"status": obj["status"]}, sub="status")


def test_c14_tenants_of_several_gpus_ask_for_a_node_that_has_all(stack, name):
    pod = name()
    node = take_away(stack, "pair-0")
    try:
        stack.create_pod(pod, fraction="0.6", gpus=2, nodeSelector={POOL: "pairs"})
        asked = wait_until(lambda: companions(stack), 60, lambda: "what stands in\n" + stack.logs())
        assert len(asked) == 1, asked
        assert asked[0]["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] == "2"
        assert asked[0]["spec"]["nodeSelector"] == {POOL: "pairs"}
        # The scheduler is faster than we are, so that it lands there.
        stack.controllers[0].pause()
        try:
            bring(stack, node, **{POOL: "pairs"})
            wait_until(lambda: companions(stack)[0]["spec"].get("nodeName") == "pair-0", 60, "it to land")
        finally:
            stack.controllers[0].resume()
        there = stack.wait_running(pod, 60)
        assert there["spec"]["nodeName"] == "pair-0" and len(set(note(there, "gpu-uuid").split(","))) == 2
        wait_until(lambda: not companions(stack), 60, "what stands in to go")
        stack.api.delete("pods", pod, "default", grace=1)
    finally:
        if stack.api.find("nodes", "pair-0", None) is None:
            bring(stack, node)
