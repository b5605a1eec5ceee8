"""Conversion closes while tenants wait in vain for a reason that is ours, and opens again, on the real control plane
with played kubelets (C2): an image that no node with GPUs can pull looks like a capacity pod that never tells its GPU."""

from helpers import P, gates, is_tenant, is_whole, on
from waiting import wait_until

STACK = {"nodes": [("broken", 2), ("good", 8)],
         "arguments": ["--idle-grace-seconds=2", "--open-timeout-seconds=5"]}


def namespaces(stack, *names):
    for name in names:
        if stack.api.find("namespaces", name) is None:
            stack.api.create("namespaces", {"metadata": {"name": name}})


def test_two_namespaces_that_wait_in_vain_close_it_for_a_while_and_not_for_good(stack):
    namespaces(stack, "stuck-a", "stuck-b", "bystander")
    stack.kubelet.fault("no-identity", node="broken")
    for namespace in ("stuck-a", "stuck-b"):
        stack.create_pod("late", namespace=namespace, fraction="0.5", **on("broken"))
        assert gates(stack.get_pod("late", namespace)) == [P + "gpu"]
    wait_until(lambda: stack.leader().metric("aliquot_conversion_open") == 0, 240, "conversion to close")
    # A pod that comes now starts whole, as it would without us.
    stack.create_pod("whole", namespace="bystander", fraction="0.5", **on("good"))
    assert is_whole(stack.wait_running("whole", namespace="bystander"))
    made = []

    def trial():
        name = "trial-%d" % len(made)
        made.append(name)
        pod = stack.create_pod(name, namespace="bystander", fraction="0.5", **on("good"))
        if is_tenant(pod):
            return name
        stack.api.delete("pods", name, "bystander", grace=0)
        return None

    # The two wait as ever, and a pod of somebody else is let through.
    name = wait_until(trial, 180, "a trial", every=2)
    stack.wait_running(name, namespace="bystander")
    assert gates(stack.get_pod("late", "stuck-a")) == [P + "gpu"]
    wait_until(lambda: stack.leader().metric("aliquot_conversion_open") == 1, 60, "conversion to open")
    after = stack.create_pod("after", namespace="bystander", fraction="0.25", **on("good"))
    assert is_tenant(after)
    stack.wait_running("after", namespace="bystander")
    # Nothing is left for whoever uses this control plane next; the node rests for minutes.
    stack.kubelet.fault("no-identity", node="broken", on=False)
    for namespace in ("stuck-a", "stuck-b"):
        stack.api.delete("pods", "late", namespace, grace=0)
