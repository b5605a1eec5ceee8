"""Which pod holds which GPU of a node, as the kubelet's device manager books it.

Independent of anything Aliquot writes: a pod gets as many devices as its containers ask for, by
count, or none at all. A device comes back only some time after its pod ended, as on real nodes.
The books are kept in a file, so that a restarted kubelet knows what its predecessor gave away.
"""

import json
import os
import random
import threading
import time

import nvml

RESOURCE = "nvidia.com/gpu"
FAR_MS = 3600 * 1000


class AdmissionError(Exception):
    """The kubelet's refusal; the message is the one a real node gives."""


def wanted(pod):
    """(devices of the pod, {container name: how many it asks for})."""
    counts = {}
    for kind in ("initContainers", "containers"):
        for container in pod["spec"].get(kind) or []:
            limits = (container.get("resources") or {}).get("limits") or {}
            counts[container["name"]] = int(limits.get(RESOURCE, 0))
    first = [counts[item["name"]] for item in pod["spec"].get("initContainers") or []]
    main = sum(counts[item["name"]] for item in pod["spec"]["containers"])
    return max([main, *first]), counts


class Devices:
    """The GPUs of one node and the topology file that shows them to containers."""

    def __init__(self, name, folder, gpus, free_delay_s, seed, shape):
        os.makedirs(folder, exist_ok=True)
        self.node = name
        self.free_delay_s = free_delay_s
        self.uuids = [nvml.uuid(name, index) for index in range(gpus)]
        self.topology = os.path.join(folder, "topology")
        self._books = os.path.join(folder, "devices.json")
        self._lock = threading.RLock()
        self._random = random.Random("%s/%s" % (seed, name))
        self._shape = shape
        self._changes = {}
        self._rules = []
        self._late = {}
        self._loads = {}
        self.rejections = 0
        self.says, self.shows = None, "own"
        self.unhealthy = set()
        self.sick = {}
        try:
            with open(self._books, encoding="utf-8") as file:
                self.held = json.load(file)
        except FileNotFoundError:
            self.held = {}
        self.write_topology()

    # Admission.

    def admit(self, pod):
        """{container: [UUID]} for a pod; what it holds already where it was admitted before."""
        total, counts = wanted(pod)
        uid = pod["metadata"]["uid"]
        with self._lock:
            if total and uid not in self.held:
                self._take(uid, total)
            uuids = self.held.get(uid, [])
        return self._share(pod, uuids, counts)

    def _take(self, uid, total):
        if self.rejections > 0:
            self.rejections -= 1
            raise AdmissionError(self._refusal(total, 0))
        free = self.free()
        if len(free) < total:
            raise AdmissionError(self._refusal(total, len(free)))
        # A real kubelet's choice is no order anyone may rely on.
        self.held[uid] = self._random.sample(free, total)
        self._save()

    @staticmethod
    def _refusal(total, available):
        return ("Pod was rejected: Allocate failed due to requested number of devices unavailable "
                "for %s. Requested: %d, Available: %d, which is unexpected"
                % (RESOURCE, total, available))

    @staticmethod
    def _share(pod, uuids, counts):
        shares, next_main = {}, 0
        for container in pod["spec"].get("initContainers") or []:
            shares[container["name"]] = uuids[:counts[container["name"]]]
        for container in pod["spec"]["containers"]:
            count = counts[container["name"]]
            shares[container["name"]] = uuids[next_main:next_main + count]
            next_main += count
        return shares

    def free(self):
        with self._lock:
            now = time.monotonic()
            self._late = {uuid: due for uuid, due in self._late.items() if due > now}
            busy = {uuid for uuids in self.held.values() for uuid in uuids} | set(self._late)
            return [uuid for uuid in self.uuids if uuid not in busy | self.unhealthy]

    def release(self, uid):
        """The pod ended; its devices come back after the delay."""
        with self._lock:
            for uuid in self.held.pop(uid, []):
                self._late[uuid] = time.monotonic() + self.free_delay_s
            self._save()

    def delay(self, seconds):
        """How late devices come back; also those that are on their way come no later than that."""
        with self._lock:
            self.free_delay_s = seconds
            latest = time.monotonic() + seconds
            self._late = {uuid: min(due, latest) for uuid, due in self._late.items()}

    def reconcile(self, live):
        """Forgets pods that are not in LIVE, the uids that the API server still has here."""
        with self._lock:
            for uid in [uid for uid in self.held if uid not in live]:
                self.release(uid)

    def _save(self):
        with open(self._books + ".new", "w", encoding="utf-8") as file:
            json.dump(self.held, file)
        os.replace(self._books + ".new", self._books)

    def given(self, share):
        """(what the device plugin sets NVIDIA_VISIBLE_DEVICES to, the UUIDs that a container with this share sees)."""
        shown = {"own": share, "all": self.uuids, "none": []}[self.shows]
        return self.says if self.says is not None else ",".join(share), list(shown)

    # What NVML says.

    def write_topology(self):
        with self._lock:
            devices = [nvml.device(uuid, index, **{**self._shape, **self._use(uuid), **self._changes.get(index, {})})
                       for index, uuid in enumerate(self.uuids)]
            nvml.write_topology(self.topology, devices, self._rules)

    def _use(self, uuid):
        """What processes have on a device, in the topology's words."""
        here = [(pid, mib, sm) for pid, (where, mib, sm) in sorted(self._loads.items()) if where == uuid]
        if not here:
            return {}
        return {"process": ["compute %d %d" % (pid, mib) for pid, mib, _ in here],
                "use": ["%d %d" % (pid, sm) for pid, _, sm in here if sm],
                "used_mib": sum(mib for _, mib, _ in here), "busy": "%d 0" % min(100, sum(sm for _, _, sm in here))}

    def load(self, pid, uuid, mib, sm):
        """A process is on a device from now on, with so much memory and compute."""
        with self._lock:
            self._loads[pid] = (uuid, mib, sm)
            self.write_topology()

    def unload(self, pid):
        with self._lock:
            if self._loads.pop(pid, None) is not None:
                self.write_topology()

    def change(self, index=None, rules=None, **keys):
        """Changes one device's lines, or the node's rules; no keys puts the device right again."""
        with self._lock:
            if rules is not None:
                self._rules = list(rules)
            if index is not None:
                self._changes[index] = keys
            self.write_topology()

    def visible(self, names):
        """The UUIDs that a container sees which was given these: UUIDs, indices or all."""
        return [uuid for index, uuid in enumerate(self.uuids)
                if "all" in names or uuid in names or str(index) in names]
