"""Agents on fake nodes: a DaemonSet as the product will have it. What they tell is the fake kubelet's."""

from invariants import P
from waiting import wait_until

HOME, NAME = "aliquot-system", "aliquot-agent"


def daemon_set(nodes):
    """A label, a port called state, and the nodes with GPUs."""
    labels = {P + "agent": "true"}
    hosts = {"key": "kubernetes.io/hostname", "operator": "In", "values": nodes}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": NAME, "namespace": HOME},
            "spec": {"selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": {
                    "automountServiceAccountToken": False, "terminationGracePeriodSeconds": 1,
                    "tolerations": [{"operator": "Exists"}],
                    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [hosts]}]}}},
                    "containers": [{"name": "agent", "image": "agent", "ports": [
                        {"name": "state", "containerPort": 10251}]}]}}}}


def pods(stack):
    return stack.api.list("pods", HOME, labelSelector=P + "agent=true")


def start(stack, nodes):
    stack.api.create("daemonsets", daemon_set(list(nodes)))
    wait_until(lambda: sum(pod["status"].get("phase") == "Running" for pod in pods(stack)) == len(nodes), 60,
               "agents to run")


def stop(stack):
    stack.api.delete("daemonsets", NAME, HOME, propagationPolicy="Background")
    wait_until(lambda: not pods(stack), 30, "agents to leave")
