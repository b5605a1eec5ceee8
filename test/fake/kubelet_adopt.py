"""Nodes that somebody else makes, as an autoscaler does: the fake kubelet plays those with a label from when they appear."""

import sys

import fleet
from api import ApiError

LOOK_S = 0.5


def follow(kubelet, label, make):
    """Until the kubelet stops. MAKE(spec): a Node."""
    while not kubelet.stopping.wait(LOOK_S):
        try:
            there = {obj["metadata"]["name"]: obj for obj in kubelet.api.list("nodes", labelSelector=label)}
            _end(kubelet, [node for name, node in kubelet.nodes.items() if node.adopted and name not in there])
            for name in sorted(set(there) - set(kubelet.nodes)):
                _begin(kubelet, there[name], make)
        except ApiError as error:
            print("nodes to adopt: %s" % error, file=sys.stderr, flush=True)


def _end(kubelet, nodes):
    """These machines are switched off, with whatever ran there."""
    # Others walk through the old dictionary meanwhile.
    kubelet.nodes = {name: node for name, node in kubelet.nodes.items() if node not in nodes}
    with kubelet.lock:
        workers = [worker for worker in kubelet.workers.values() if worker.node in nodes]
    for node in nodes:
        node.hangs = node.lingers = False
    for worker in workers:
        worker.vanish()


def _begin(kubelet, obj, make):
    name, allocatable = obj["metadata"]["name"], obj.get("status", {}).get("allocatable", {})
    node = make({"name": name, "gpus": int(allocatable.get("nvidia.com/gpu", 0))})
    node.adopted = True
    fleet.renew_lease(kubelet.api, name, first=True)
    kubelet.nodes = {**kubelet.nodes, name: node}
    kubelet.api.patch("nodes", name, {"status": {"conditions": fleet.conditions()}}, sub="status")
    # What was bound before nobody looked at.
    for pod in kubelet.api.list("pods", fieldSelector="spec.nodeName=" + name):
        kubelet.observe(pod)
