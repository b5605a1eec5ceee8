#!/usr/bin/env python3
"""A fake kubelet that plays any number of GPU nodes against a real API server.

It watches the pods bound to its nodes, admits them by device count, starts real processes for
images it is told to run and plays the others, and reports what happens as the real kubelet would.
README.md beside this file says what it imitates, what it does not, and which faults it produces.
"""

import argparse
import itertools
import json
import os
import random
import signal
import sys
import threading
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
sys.path.insert(0, HERE)

import fleet  # noqa: E402
import kubelet_adopt  # noqa: E402
import kubelet_control  # noqa: E402
import mps  # noqa: E402
import nvml  # noqa: E402
import ports  # noqa: E402
from api import Api, ApiError  # noqa: E402
from kubelet_devices import Devices  # noqa: E402
from kubelet_host import Host  # noqa: E402
from kubelet_pod import PodWorker  # noqa: E402
from kubelet_resources import PodResources  # noqa: E402
from kubelet_run import Runner  # noqa: E402
from kubelet_runtime import Runtime  # noqa: E402

# Of each node's Lease: the plane's controllers wait for one for GRACE_S of commands.py. A kubelet's is every 10 s, and with 81
# nodes a plane that does nothing would do little else.
HEARTBEAT_S = 60.0
STATUS_S = 10.0
REMOUNT_S = 2.0
WATCH_S = 300
ADDRESSES = 1277
SHAPE_KEYS = ("product", "memory_mib", "cpu", "memory", "pods", "labels", "taints")


class Node:
    """One node: its folder, its devices and its moods."""

    def __init__(self, spec, folder, args):
        self.name = spec["name"]
        self.folder = os.path.join(folder, self.name)
        self.gpus = spec.get("gpus", args.gpus)
        self.shape = {key: spec[key] for key in SHAPE_KEYS if key in spec}
        shown = {"memory_mib": self.shape.get("memory_mib", fleet.MEMORY_MIB),
                 "reserved_mib": spec.get("reserved_mib", args.reserved_mib)}
        if "model" in spec:
            shown["name"] = spec["model"]
        self.devices = Devices(self.name, self.folder, self.gpus, args.free_delay_ms / 1000,
                               args.seed, shown)
        self.host = Host(self.folder)
        self.runtime = Runtime(spec.get("injection"))
        self.slow_start_s = 0.0
        self.pulls = True
        self.silent = False
        self.agent_mute = self.lingers = self.hangs = self.adopted = False
        self.agent = None
        self.resources = None

    def open_resources(self, pods):
        """The PodResources API, from the first pod on that mounts its folder."""
        if self.resources is None:
            self.resources = PodResources(os.path.join(self.folder, "host"), pods)

    def report(self):
        devices = self.devices
        return {"uuids": devices.uuids, "free": devices.free(), "held": dict(devices.held),
                "folder": self.folder, "topology": devices.topology}


def addresses(control_port):
    """Of pods, from 127.16.0.0 on, so many for each port that ports.reserve gives out: what is reserved for one of all
    kubelets on this machine has addresses that no other has. Another port, or none, gets those of any."""
    reserved = range(ports.FIRST, ports.LAST)
    port = control_port if control_port in reserved else random.SystemRandom().choice(reserved)
    for i in itertools.cycle(range(1, ADDRESSES)):
        number = (16 << 16) + (port - ports.FIRST) * ADDRESSES + i
        yield "127.%d.%d.%d" % (number >> 16, number >> 8 & 255, number & 255)


class Kubelet:
    """All nodes of this process."""

    def __init__(self, args):
        self.api = Api.from_kubeconfig(args.kubeconfig)
        parts = urllib.parse.urlsplit(self.api.url)
        self.server = (parts.hostname, parts.port)
        self.args = args
        self.binary, self.nvml = args.binary, args.nvml or nvml.library()
        self.mps = mps.control()
        self.images = dict(item.split("=", 1) for item in args.image)
        self.backoff_s = args.backoff_ms / 1000
        self.keep = args.keep
        self.runner = Runner()
        self.nodes = {}
        for spec in node_specs(args):
            self.nodes[spec["name"]] = Node(spec, os.path.abspath(args.dir), args)
        self.workers = {}
        self.finished = set()
        self.errors = []
        self.lock = threading.Lock()
        self.synced = threading.Event()
        self.stopping = threading.Event()
        self._addresses = addresses(args.control_port)

    # Life.

    def register(self):
        """Creates the nodes, as kubelets do; waits for an API server that is still coming."""
        for node in self.nodes.values():
            while not self.stopping.is_set():
                try:
                    fleet.renew_lease(self.api, node.name, first=True)
                    fleet.create(self.api, [node.name], node.gpus, **node.shape)
                    break
                except ApiError as error:
                    print("node %s: %s" % (node.name, error), file=sys.stderr, flush=True)
                    self.stopping.wait(0.5)

    def heartbeat(self):
        parts = int(HEARTBEAT_S / STATUS_S)
        for turn in itertools.count():
            if self.stopping.wait(STATUS_S):
                return
            self._say_ready()
            for node in list(self.nodes.values())[turn % parts::parts]:
                if node.silent:
                    continue
                try:
                    fleet.renew_lease(self.api, node.name)
                except ApiError as error:
                    print("heartbeat of %s: %s" % (node.name, error), file=sys.stderr, flush=True)

    def _say_ready(self):
        """Reports each node Ready again that somebody else calls something else: after an API server that was away, the
        node lifecycle controller says Unknown of all, and waits for their kubelets to know better."""
        try:
            for found in self.api.list("nodes"):
                node = self.nodes.get(found["metadata"]["name"])
                if node and not node.silent and fleet.condition(found, "Ready") != "True":
                    fleet.set_ready(self.api, node.name)
        except ApiError as error:
            print("status of the nodes: %s" % error, file=sys.stderr, flush=True)

    def adopt(self):
        kubelet_adopt.follow(self, self.args.adopt, lambda spec: Node(spec, os.path.abspath(self.args.dir), self.args))

    def remount(self):
        while not self.stopping.wait(REMOUNT_S):
            with self.lock:
                workers = list(self.workers.values())
            for worker in workers:
                worker.remount()

    def watch(self):
        """Lists, then watches, for ever; whatever goes wrong, it lists again."""
        wait = 0.1
        while not self.stopping.is_set():
            try:
                version = self._list()
                wait = 0.1
                for kind, pod in self.api.watch("pods", version=version, timeout=WATCH_S,
                                                fieldSelector="spec.nodeName!="):
                    self.observe(pod, gone=kind == "DELETED")
            except ApiError as error:
                if error.status not in (0, 410):
                    print("watch: %s" % error, file=sys.stderr, flush=True)
                self.stopping.wait(wait)
                wait = min(wait * 2, 2.0)

    def _list(self):
        whole = self.api.list_raw("pods", fieldSelector="spec.nodeName!=")
        mine = [pod for pod in whole["items"] if pod["spec"]["nodeName"] in self.nodes]
        live = {pod["metadata"]["uid"] for pod in mine}
        with self.lock:
            missed = [worker for uid, worker in self.workers.items() if uid not in live]
        for worker in missed:
            worker.vanish()
        if not self.synced.is_set():
            for node in self.nodes.values():
                node.devices.reconcile(live)
        # Pods that run already keep their devices before newcomers may ask.
        for pod in sorted(mine, key=lambda pod: not (pod.get("status") or {}).get("startTime")):
            self.observe(pod)
        self.synced.set()
        return whole["metadata"]["resourceVersion"]

    def observe(self, pod, gone=False):
        uid = pod["metadata"]["uid"]
        node = self.nodes.get(pod["spec"].get("nodeName"))
        if node is None:
            return
        with self.lock:
            worker = self.workers.get(uid)
            if worker is None and not gone and uid not in self.finished:
                worker = PodWorker(self, node, pod, self._address())
                self.workers[uid] = worker
                worker.admit()
                worker.start()
                return
        if worker is not None and gone:
            worker.vanish()
        elif worker is not None:
            worker.observe(pod)

    def _address(self):
        used = {worker.ip for worker in self.workers.values()}
        return next(address for address in self._addresses if address not in used)

    def forget(self, worker):
        """A worker's thread ended."""
        with self.lock:
            self.workers.pop(worker.uid, None)
            # A late event about a pod that we deleted must not start it again.
            self.finished.add(worker.uid)

    def resources_of(self, node):
        """What the node's PodResources API lists: [(namespace, name, {container: [UUID]})]."""
        with self.lock:
            workers = [worker for worker in self.workers.values() if worker.node is node]
        return [(worker.namespace, worker.pod_name, dict(worker.share)) for worker in workers if not worker.over()]

    def stop(self):
        self.stopping.set()
        for node in self.nodes.values():
            if node.resources is not None:
                node.resources.stop()
        with self.lock:
            workers = list(self.workers.values())
        for worker in workers:
            worker.retire()
        self.runner.stop_all(3.0)

    def alive(self, node):
        """What the node's agent lists: pods that are there, with the containers that run."""
        with self.lock:
            workers = [worker for worker in self.workers.values() if worker.node is node]
        return [{"uid": worker.uid, "processes": worker.running()} for worker in workers
                if not worker.over()]

    # For tests.

    def find(self, namespace, name):
        with self.lock:
            for worker in self.workers.values():
                if (worker.namespace, worker.pod_name) == (namespace, name):
                    return worker
        return None

    def state(self):
        with self.lock:
            workers = list(self.workers.values())
        return {"errors": self.errors, "pods": {worker.uid: worker.report() for worker in workers},
                "nodes": {node.name: node.report() for node in self.nodes.values()}}


def node_specs(args):
    """The nodes of --config, else --nodes of --gpus each."""
    if args.config:
        with open(args.config, encoding="utf-8") as file:
            return json.load(file)["nodes"]
    return [{"name": fleet.node_name(args.node_prefix, index)} for index in range(args.nodes)]


def parse(argv=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--kubeconfig", required=True)
    add("--dir", required=True, help="folder for volumes, logs, topologies and the device books")
    add("--control-port", type=int, default=0, help="port of /state and /faults on loopback")
    add("--config", help='JSON {"nodes": [{"name": …, "gpus": …, …}]} in place of the next three')
    add("--nodes", type=int, default=1)
    add("--gpus", type=int, default=8)
    add("--node-prefix", default="node-")
    add("--binary", default="", help="what images called aliquot… run; without it they are played")
    add("--image", action="append", default=[], metavar="NAME=PROGRAM",
        help="run PROGRAM for this image; 'command' runs the container's own command line")
    add("--nvml", default="", help="fake libnvidia-ml.so.1; compiled into the cache if not given")
    add("--reserved-mib", type=int, default=559, help="memory the driver keeps on each GPU (559)")
    add("--free-delay-ms", type=int, default=2000, help="how late devices come back (2000)")
    add("--backoff-ms", type=int, default=1000, help="first restart back-off, then doubled (1000)")
    add("--seed", type=int, default=1, help="which free device a pod gets")
    add("--adopt", metavar="LABEL=VALUE", help="play nodes with this label too, which somebody else makes")
    add("--keep", action="store_true", help="leave the folders of pods that are gone")
    return parser.parse_args(argv)


def main():
    args = parse()
    kubelet = Kubelet(args)
    signal.signal(signal.SIGTERM, lambda *_: kubelet.stopping.set())
    signal.signal(signal.SIGINT, lambda *_: kubelet.stopping.set())
    port = kubelet_control.serve(kubelet, args.control_port)
    print("control on http://127.0.0.1:%d" % port, flush=True)
    kubelet.register()
    for loop in (kubelet.heartbeat, kubelet.remount, kubelet.watch) + ((kubelet.adopt,) if args.adopt else ()):
        threading.Thread(target=loop, name=loop.__name__, daemon=True).start()
    while not kubelet.stopping.is_set():
        time.sleep(0.2)
    kubelet.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
