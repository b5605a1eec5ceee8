"""Cluster Autoscaler as test/fake/cluster_autoscaler.py plays it, with machines for the fake kubelet (--adopt NODES)."""

import http.client
import json
import os
import sys
import tempfile

import binaries
import karpenter
import ports
import processes
from waiting import wait_until

PROGRAM = os.path.join(binaries.TREE, "test", "fake", "cluster_autoscaler.py")
GROUP = "example.com/node-group"
# A label that a cloud has for nodes with GPUs.
GPU_LABEL = "example.com/accelerator"


class ClusterAutoscaler:
    """One process; a context manager. It leaves nothing behind."""

    def __init__(self, plane, groups, **times):
        self.api, self.plane = plane.admin, plane
        self.dir = tempfile.mkdtemp(prefix="autoscaler-", dir=plane.dir)
        self.port, = ports.reserve(os.path.dirname(plane.dir), plane.dir, 1)
        path = os.path.join(self.dir, "config.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"groups": groups, "gpu_label": GPU_LABEL, **times}, file)
        self.argv = [sys.executable, PROGRAM, "--kubeconfig", plane.kubeconfig("admin"), "--config", path,
                     "--port", str(self.port), "--adopt", karpenter.NODES]
        self.record = None

    def __enter__(self):
        self.record = processes.start(self.argv, os.path.join(self.dir, "autoscaler.log"))
        self.plane.adopt("autoscaler-%d" % self.port, self.record)
        wait_until(lambda: self.state()["scans"], 60, lambda: "its first scan\n" + self.log(), ignore=(OSError,))
        return self

    def _call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            assert answer.status == 200, answer.status
            return json.loads(answer.read())
        finally:
            connection.close()

    def state(self):
        return self._call("GET", "/state")

    def asked(self):
        """How many nodes it has asked for so far."""
        return self.state()["asked"]

    def stays(self, node):
        """Why it keeps that node; None where it does not, or has not looked."""
        return self.state()["stays"].get(node)

    def give_gpus(self):
        self._call("POST", "/gpus", {})

    def drain(self, node):
        """It empties that node, whatever its simulation says."""
        self._call("POST", "/drain", {"node": node})

    def end_nodes(self):
        """Whether none is left. It is told to empty each now; by itself it waits until nobody has needed it for a while."""
        for node in self.nodes():
            self.drain(node["metadata"]["name"])
        return not self.nodes()

    def nodes(self):
        return self.api.list("nodes", labelSelector=GROUP)

    def log(self):
        return processes.log_tail(os.path.join(self.dir, "autoscaler.log"), 4000)

    def __exit__(self, *_):
        processes.stop([self.record], 10)
        for node in self.nodes():
            self.api.delete("nodes", node["metadata"]["name"])
