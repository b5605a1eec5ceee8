"""Runs the fake kubelet of test/fake/kubelet.py, and speaks to one that runs."""

import http.client
import json
import os
import signal
import sys
import tempfile

import binaries
import fleet
import ports
import processes
from waiting import wait_until

# As long as a component of the plane has: it creates its nodes before it answers.
START_S = 90
PROGRAM = os.path.join(binaries.TREE, "test", "fake", "kubelet.py")


class KubeletClient:
    """The door of a running fake kubelet: its state, and faults."""

    def __init__(self, port):
        self.port = port

    def _call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"{}")
        finally:
            connection.close()

    def synced(self):
        return self._call("GET", "/healthz")[0] == 200

    def state(self):
        """{"pods": {uid: …}, "nodes": {name: …}, "errors": [what broke in the fake itself]}"""
        return self._call("GET", "/state")[1]

    def pod(self, name, namespace="default"):
        """What is known of one pod; None where it is not here."""
        return next((pod for pod in self.state()["pods"].values()
                     if (pod["namespace"], pod["name"]) == (namespace, name)), None)

    def fault(self, name, **arguments):
        """Produces a fault; test/fake/README.md lists them."""
        status, answer = self._call("POST", "/faults/" + name, arguments)
        if status != 200:
            raise ValueError("fault %s: %s" % (name, answer.get("error")))


class FakeKubelet(KubeletClient):
    """A fake kubelet as a process of its own; a context manager."""

    def __init__(self, plane, nodes, binary="", images=None, arguments=()):
        """NODES: dicts with name and gpus, and what else a node of kubelet.py's --config may have.
        IMAGES: {image name: program}. ARGUMENTS: further options of kubelet.py."""
        super().__init__(ports.reserve(os.path.dirname(plane.dir), plane.dir, 1)[0])
        self.plane = plane
        self.nodes = nodes
        self.dir = tempfile.mkdtemp(prefix="kubelet-", dir=plane.dir)
        config = os.path.join(self.dir, "nodes.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"nodes": nodes}, file)
        self.argv = [sys.executable, PROGRAM, "--kubeconfig", plane.kubeconfig("kubelet"),
                     "--dir", self.dir, "--control-port", str(self.port), "--config", config]
        if binary:
            self.argv += ["--binary", os.path.abspath(binary)]
        for name, program in (images or {}).items():
            self.argv += ["--image", "%s=%s" % (name, program)]
        self.argv += arguments
        self.record = None

    def start(self, wait_ready=True):
        """With wait_ready the nodes are Ready and can be scheduled to when this returns."""
        self.record = processes.start(self.argv, os.path.join(self.dir, "kubelet.log"))
        # Goes down with the plane, too, whose supervisor survives us.
        self.plane.adopt("kubelet-%d" % self.port, self.record)

        def ready():
            if not processes.alive(self.record):
                raise RuntimeError("the fake kubelet ended:\n" + self.log())
            return self.synced()
        wait_until(ready, START_S, "the fake kubelet", ignore=(OSError,))
        if wait_ready:
            fleet.wait_ready(self.plane.admin, [node["name"] for node in self.nodes])
        return self

    def log(self):
        return processes.log_tail(os.path.join(self.dir, "kubelet.log"))

    def stop(self):
        processes.stop([self.record], 10)

    def kill(self):
        """SIGKILL: the containers' processes die with it."""
        processes.send(self.record, signal.SIGKILL)
        processes.await_exit([self.record], 10)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        # A fault of the fake itself must not pass for the product's.
        errors = self.state()["errors"] if processes.alive(self.record) else []
        self.stop()
        assert not errors, errors[0]
