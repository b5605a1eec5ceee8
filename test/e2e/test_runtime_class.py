"""C5: a RuntimeClass that the configuration names, which costs CPU and goes to some nodes only."""

import contextlib

import pytest

from api import ApiError
from helpers import P, gates, is_tenant, on
from waiting import wait_until

CLASS = "e2e-shared"
STACK = {"nodes": [("class-0", 1), ("class-1", 1)],
         "arguments": ["--runtime-class=" + CLASS, "--idle-grace-seconds=1", "--scale-up-seconds=0"]}
LABEL = "example.com/shared"
LATER = "example.com/later"
OTHER = "e2e-other"


@pytest.fixture(scope="module", autouse=True)
def runtime_class(cp):
    """There before the stack is: no pod is admitted with a class that does not exist."""
    api = cp.admin
    api.create("runtimeclasses", {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": CLASS}, "handler": "shared",
        "overhead": {"podFixed": {"cpu": "500m"}}})
    yield
    with contextlib.suppress(ApiError):
        api.delete("runtimeclasses", CLASS)


def waits(stack, reason):
    return stack.controllers[0].metric('aliquot_tenants_waiting{reason="%s"}' % reason)


def let_go(stack, pod):
    """Takes another gate than ours away."""
    stack.api.patch("pods", pod, {"spec": {"schedulingGates": [{"name": P + "gpu"}]}}, "default")


def test_c5_the_class_of_capacity_pods_is_counted(stack, name):
    """The class is bound to nodes after the pods are admitted: whom no node could take as a share stays whole."""
    wanted, large = name(), name()
    # They name another class themselves, so that only capacity pods are bound by the first.
    stack.api.create("runtimeclasses", {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass",
                                        "metadata": {"name": OTHER}, "handler": "other"})
    try:
        stack.create_pod(wanted, fraction="0.5", runtimeClassName=OTHER, schedulingGates=[{"name": LATER}])
        pod = stack.pod(large, fraction="0.5", runtimeClassName=OTHER, schedulingGates=[{"name": LATER}], **on("class-0"))
        # With the 10m of a capacity pod it would fit, with the 500m of its class it does not.
        cpu = int(stack.api.get("nodes", "class-0")["status"]["allocatable"]["cpu"])
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "%dm" % (1000 * cpu - 400)
        stack.api.create("pods", pod, namespace="default")
        stack.api.patch("runtimeclasses", CLASS, {"scheduling": {"nodeSelector": {LABEL: "yes"}}})
        wait_until(lambda: not is_tenant(stack.api.create("pods", stack.pod("probe", fraction="0.5"), dryRun="All")), 60,
                   "the nodes of the class to be known")
        let_go(stack, wanted)
        wait_until(lambda: waits(stack, "RuntimeClass") == 1, 60, lambda: "its reason\n" + stack.logs())
        let_go(stack, large)
        wait_until(lambda: waits(stack, "RuntimeClass") == 2, 60, lambda: "its reason\n" + stack.logs())
        for node in ("class-0", "class-1"):
            stack.api.patch("nodes", node, {"metadata": {"labels": {LABEL: "yes"}}})
        pod = stack.wait_running(wanted)
        holder, = stack.capacity_pods()
        assert holder["spec"]["overhead"] == {"cpu": "500m"} and holder["spec"]["runtimeClassName"] == CLASS
        wait_until(lambda: waits(stack, "NodeUnfit") == 1, 60, lambda: "what the other lacks\n" + stack.logs())
        assert gates(stack.get_pod(large))
    finally:
        for pod in (wanted, large):
            with contextlib.suppress(ApiError):
                stack.api.delete("pods", pod, "default", grace=1)
        wait_until(lambda: not stack.capacity_pods(), 60, "capacity pods to go")
        stack.api.delete("runtimeclasses", OTHER)


def test_c5_a_pod_that_contradicts_the_class_starts_without_it(stack):
    """The API server refuses a pod whose node selector says something else than that of its class."""
    def admitted(value):
        made = stack.api.create("pods", stack.pod("probe", fraction="0.5", nodeSelector={LABEL: value}), dryRun="All")
        assert is_tenant(made)
        return made["spec"].get("runtimeClassName")
    wait_until(lambda: admitted("no") is None, 60, "the class to be known", ignore=(ApiError,))
    assert admitted("yes") == CLASS
