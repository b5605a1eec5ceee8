"""Exclusivity and packing, as policies say."""

import contextlib

import pytest

from api import ApiError
from asking import told
from helpers import P, note, on, wait_policy
from waiting import wait_until

POLICIES = {"x-alone": {"exclusivity": "Dedicated"}, "x-same": {"exclusivity": "SameWorkload"},
            "x-spread": {"packing": "Spread"}}


def under(policy):
    return {"annotations": {P + "policy": policy}}


@pytest.fixture(name="policies")
def fixture_policies(stack):
    for name, sharing in POLICIES.items():
        stack.api.create("gpupolicies", {
            "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUPolicy", "metadata": {"name": name},
            "spec": {"sharing": sharing, "selector": {"podSelector": {"matchLabels": {"x": "x"}}}}})
    wait_policy(stack, "x-spread")
    yield
    for name in POLICIES:
        with contextlib.suppress(ApiError):
            stack.api.delete("gpupolicies", name)


def replica_set(stack, name, node):
    """Two pods of one workload under x-same, on one node."""
    pod = stack.pod("unused", fraction="0.2", **under("x-same"), **on(node))
    meta = {"labels": {"app": name}, "annotations": pod["metadata"]["annotations"]}
    stack.api.create("replicasets", {
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": name}},
                 "template": {"metadata": meta, "spec": pod["spec"]}}})

    def running():
        pods = [p for p in stack.api.list("pods", "default", labelSelector="app=" + name)
                if p["status"].get("phase") == "Running"]
        return pods if len(pods) == 2 else None
    return wait_until(running, 60, "two pods of " + name)


@pytest.mark.usefixtures("policies")
def test_exclusivity_and_packing(stack, node, name):
    """Dedicated is alone with a fifth; one workload meets itself alone; who spreads gets its own."""
    single, pair, wide = node(1), node(2), node(2)
    alone, stranger, loner, first, second, third = (name() for _ in range(6))
    stack.create_pod(alone, fraction="0.2", **under("x-alone"), **on(single))
    stack.wait_running(alone)
    stack.create_pod(stranger, fraction="0.2", **on(single))
    try:
        uuids = {note(pod, "gpu-uuid") for pod in replica_set(stack, "x-set", pair)}
        assert len(uuids) == 1, uuids
        stack.create_pod(loner, fraction="0.2", **under("x-same"), **on(pair))
        assert note(stack.wait_running(loner), "gpu-uuid") not in uuids
    finally:
        stack.api.delete("replicasets", "x-set", "default", propagationPolicy="Background")
    spread = []
    for each in (first, second, third):
        stack.create_pod(each, fraction="0.2", **under("x-spread"), **on(wide))
        spread.append(note(stack.wait_running(each), "gpu-uuid"))
    assert len(set(spread[:2])) == 2 and len(set(spread)) == 2, spread
    pod = stack.wait_pod(stranger, lambda p: told(p, "Exclusive"), 60)
    assert told(pod, "Exclusive").split(";")[0] == (
        "needs 0.20 GPU with exclusivity AnyWorkload, the GPUs with room have tenants with "
        "exclusivity Dedicated, the first on %s" % single)
    assert note(stack.get_pod(alone), "policy-applied") == "x-alone@1"
    stack.api.delete("pods", alone, "default", grace=1)
    stack.wait_running(stranger)
