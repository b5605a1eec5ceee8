"""Tenants on nodes that an autoscaler makes and takes away, for its end-to-end tests."""

import concurrent.futures
import contextlib

from api import ApiError
from invariants import Picture
from waiting import wait_until

# The label of a pool's nodes.
POOL = "example.com/pool"


def selector(pool):
    return {POOL: pool}


def of_pool(objects, pool):
    """Of nodes or Karpenter's claims of them those of that pool."""
    return [each for each in objects if each["metadata"]["labels"].get(POOL) == pool]


def deploy(stack, name, replicas, fraction, pool="shared", allowed=1, annotations=None, **spec):
    """A Deployment of shares whose budget lets so many go at a time."""
    labels = {"of": name}
    pod = stack.pod("any", fraction=fraction, labels=labels, annotations=annotations, nodeSelector=selector(pool), **spec)
    stack.api.create("poddisruptionbudgets", {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
        "spec": {"maxUnavailable": allowed, "selector": {"matchLabels": labels}}}, namespace="default")
    stack.api.create("deployments", {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels, "annotations": pod["metadata"]["annotations"]}, "spec": pod["spec"]}}},
        namespace="default")


def scale(stack, name, replicas):
    stack.api.patch("deployments", name, {"spec": {"replicas": replicas}}, "default")


def of(stack, name):
    """The pods of that Deployment that run and stay."""
    return [p for p in stack.api.list("pods", namespace="default", labelSelector="of=" + name)
            if p["status"].get("phase") == "Running" and not p["metadata"].get("deletionTimestamp")]


def uids(pods):
    return {pod["metadata"]["uid"] for pod in pods}


def homes(pods):
    return {pod["spec"]["nodeName"] for pod in pods}


def wait_budget(stack, name, allowed=1):
    """Until the budget counts its pods; before that it allows nothing."""
    wait_until(lambda: stack.api.get("poddisruptionbudgets", name, "default").get("status", {}).get(
        "disruptionsAllowed") == allowed, 60, "the budget to count")


def wait_moved(stack, name, nodes, replicas, tell, seconds=240):
    """Until these NODES are gone. Meanwhile its budget of one at a time was kept, and at every moment each GPU with a
    tenant was held, given out once and no more of it than there is."""
    fewest = []

    def moved():
        Picture(stack.api).check()
        fewest.append(len(of(stack, name)))
        return all(stack.api.find("nodes", node) is None for node in nodes)
    wait_until(moved, seconds, tell, every=0.2)
    assert min(fewest) >= replicas - 1, "its budget asks for %d that run: %s" % (replicas - 1, fewest)


def together(*tasks):
    """All of them at the same time, for each waits long. Who fails is told when all have ended."""
    with concurrent.futures.ThreadPoolExecutor(len(tasks)) as pool:
        for each in [pool.submit(task) for task in tasks]:
            each.result()


def clear(stack):
    """Takes away what tests made in `default`."""
    for kind in ("deployments", "jobs", "poddisruptionbudgets"):
        for obj in stack.api.list(kind, namespace="default"):
            stack.api.delete(kind, obj["metadata"]["name"], "default", propagationPolicy="Foreground")
    for pod in stack.api.list("pods", namespace="default"):
        with contextlib.suppress(ApiError):  # their owner's end may have been faster
            stack.api.delete("pods", pod["metadata"]["name"], "default", grace=1)
