"""The promises that hold at every moment, judged on one consistent list of all pods.

I1 no GPU gives more than it has; I2 one capacity pod a GPU, one GPU a capacity pod; I3 a tenant is
where its capacity pod is. The controller's own view is never asked.
"""

import collections
import json
import os
import time

from api import ApiError
from waiting import wait_until

P = "aliquot.dev/"
LABEL_MIB = "nvidia.com/gpu.memory"


# What we do write (I6): pods, events, requests for agents' certificates and the webhook's configuration; beside these our own
# kinds, and Secrets and Leases in our namespace.
WRITTEN = ("pods", "events", "certificatesigningrequests", "mutatingwebhookconfigurations")
WEBHOOK = "zz-aliquot"
# Created to ask something, and kept nowhere.
ASKED = ("tokenreviews", "subjectaccessreviews", "selfsubjectaccessreviews")
# How far each audit log was read: {path: bytes}.
_judged = collections.Counter()


def is_within(entry):
    """Whether what an audit entry tells of was done to an object that is ours to write, where not all of its kind are."""
    what = entry["objectRef"]
    if what["resource"] == "certificatesigningrequests":
        asks = entry["verb"] == "create" and entry["user"]["username"].endswith(":aliquot-agent")
        return asks or what.get("subresource") in ("approval", "status")
    return what["resource"] != "mutatingwebhookconfigurations" or what.get("name") == WEBHOOK


def is_ours(resource, group, namespace):
    """Whether we may write such an object."""
    return resource in WRITTEN + ASKED or group.endswith("aliquot.dev") or \
        (resource in ("secrets", "leases") and namespace == "aliquot-system")


def check_audit(plane):
    """G1: of whatever our accounts have written since the last check, each object was one of those that we may write. The API
    server's audit log has it, of objects that are gone as well."""
    path = os.path.join(plane.dir, "audit.log")
    with open(path, "rb") as file:
        file.seek(_judged[path])
        for line in file:
            if not line.endswith(b"\n"):
                break
            _judged[path] += len(line)
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # An API server was killed as it wrote.
            what = entry.get("objectRef", {})
            done = entry.get("responseStatus", {}).get("code", 0) < 300 and "dryRun=All" not in entry["requestURI"]
            ours = is_ours(what.get("resource", ""), what.get("apiGroup", ""), what.get("namespace", "")) and is_within(entry)
            assert not done or ours, \
                "%s: %s %s" % (entry["user"]["username"], entry["verb"], entry["requestURI"])


def list_surely(api, kind):
    """All objects of a kind; none of a test's own kind that was taken away meanwhile. An API server that has just started reads
    those that are not built in, and answers 429 until it has."""
    def listed():
        try:
            return {"items": api.list(kind)}
        except ApiError as error:
            if error.status == 429:
                return None
            assert error.status == 404, error
            return {"items": []}
    return wait_until(listed, 60, "the API server to list " + kind)["items"]


def check_owned(api):
    """G1: of no other object that this API server has, of whatever kind, was even a field written by us."""
    for kind in api.listable():
        resource, _, group = kind.partition(".")
        for found in list_surely(api, kind):
            meta = found["metadata"]
            managers = {entry.get("manager") for entry in meta.get("managedFields", [])}
            ours = resource != "certificatesigningrequests" and is_ours(resource, group.split("/")[0], meta.get("namespace"))
            assert ours or "aliquot" not in managers, "%s %s/%s was written by us" % (
                kind, meta.get("namespace"), meta["name"])


def note(pod, key):
    return pod["metadata"].get("annotations", {}).get(P + key)


def is_over(pod):
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def is_capacity(pod):
    return pod["metadata"]["namespace"] == "aliquot-system" and \
        pod["metadata"].get("labels", {}).get(P + "capacity") == "true"


def is_tenant(pod):
    return pod["metadata"].get("labels", {}).get(P + "tenant") == "true"


def gpus(pod):
    """How many whole GPUs it asks for."""
    return sum(int(c.get("resources", {}).get("limits", {}).get("nvidia.com/gpu", 0))
               for c in pod["spec"]["containers"])


def share(pod):
    """The share that a tenant was given at admission, in milli."""
    return round(1000 * float(note(pod, "share")))


def identity(capacity):
    """What the init container told; None before."""
    for status in capacity["status"].get("initContainerStatuses", []):
        ended = status.get("state", {}).get("terminated") or {}
        if ended.get("exitCode") == 0 and ended.get("message"):
            return json.loads(ended["message"])
    return None


def ledger(capacity):
    """{uid: grant} of a capacity pod."""
    grants = json.loads(note(capacity, "grants") or '{"v":1,"grants":[]}')["grants"]
    by_uid = {grant["uid"]: grant for grant in grants}
    assert len(by_uid) == len(grants), "a tenant stands twice in the ledger: %s" % grants
    return by_uid


def gpus_of(pod):
    """[(UUID, name of its capacity pod)] of a placed tenant."""
    uuids, names = note(pod, "gpu-uuid").split(","), note(pod, "capacity-pod").split(",")
    assert len(uuids) == len(names) == len(set(uuids)) == int(note(pod, "gpu-count") or 1), (
        pod["metadata"]["name"], uuids, names)
    return list(zip(uuids, names))


class NodeLabels:
    """The labels of nodes, which change seldom: who looks at pods many times a second need not list all nodes each time."""

    def __init__(self):
        self.known, self.until = {}, {}

    def of(self, api, name, anew=False):
        now = time.monotonic()
        if name is None:
            return {}
        if anew or name not in self.known.get(api, {}) or now > self.until[api]:
            self.known[api] = {node["metadata"]["name"]: node["metadata"].get("labels", {}) for node in api.list("nodes")}
            self.until[api] = now + 5
        return self.known[api].get(name, {})


LABELS = NodeLabels()


class Picture:
    """All pods of the cluster at one resourceVersion."""

    def __init__(self, api):
        pods = api.list("pods")
        self.api = api
        self.capacity = {p["metadata"]["name"]: p for p in pods if is_capacity(p)
                         and not is_over(p)}
        self.tenants = [p for p in pods if is_tenant(p) and not is_over(p)]
        self.whole = [p for p in pods if gpus(p) and not is_capacity(p) and not is_over(p)]
        self.placed = [p for p in self.tenants if note(p, "gpu-uuid")]

    def check(self, resizing=False):
        """I1 to I3. RESIZING: somebody's share is being changed as it runs, and a ledger may say more than its tenant
        was told, never less."""
        self._check_capacity()
        milli, memory = collections.Counter(), collections.Counter()
        for pod, (uuid, _) in [(p, each) for p in self.placed for each in gpus_of(p)]:
            name = pod["metadata"]["name"]
            capacity = self.holder(uuid)
            assert capacity, "%s: nobody holds its GPU" % name
            node = pod["spec"].get("nodeName", capacity["spec"]["nodeName"])
            assert node == capacity["spec"]["nodeName"], "%s is on another node" % name
            grant = ledger(capacity).get(pod["metadata"]["uid"])
            assert grant, "%s is not in the ledger of its GPU" % name
            told = int(note(pod, "compute-milli")), int(note(pod, "memory-mib"))
            given = grant["milli"], grant["mib"]
            more = resizing and given[0] >= told[0] and given[1] >= told[1]
            assert given == told or more, "%s: told %s, the ledger has %s" % (name, told, given)
            milli[uuid] += grant["milli"]
            memory[uuid] += grant["mib"]
        assert all(sum_ <= 1000 for sum_ in milli.values()), milli
        for uuid, sum_ in memory.items():
            assert self.has_mib(self.holder(uuid), sum_), (uuid, memory)
        return self

    def holder(self, uuid):
        """Who holds this GPU: the capacity pod that the tenant names, or its successor (C11)."""
        return next((p for p in self.capacity.values()
                     if identity(p) and identity(p)["uuid"] == uuid), None)

    def has_mib(self, capacity, mib):
        """Whether its GPU has so much memory; labels that were read some seconds ago are read again before the answer is no."""
        return any(mib <= self.usable_mib(capacity, anew) for anew in (False, True))

    def usable_mib(self, capacity, anew=False):
        """What its GPU has for tenants: as its driver told when it was held, and never more than its node's label says."""
        label = LABELS.of(self.api, capacity["spec"].get("nodeName"), anew).get(LABEL_MIB)
        told = [int(label)] if label and label.isdigit() else []
        if identity(capacity):
            told.append(identity(capacity)["memory"])
        # Without a word of its size nothing may have been given of it.
        return min(told, default=0)

    def _check_capacity(self):
        uuids = [identity(p)["uuid"] for p in self.capacity.values()
                 if identity(p) and "deletionTimestamp" not in p["metadata"]]
        assert len(uuids) == len(set(uuids)), "a GPU is held twice: %s" % uuids
        for name, pod in self.capacity.items():
            grants = ledger(pod).values()
            assert sum(g["milli"] for g in grants) <= 1000, (name, grants)
            assert self.has_mib(pod, sum(g["mib"] for g in grants)), (name, grants)

    def check_settled(self):
        """Nothing under way: every tenant is placed, ledgers and tenants say the same, and no
        capacity pod is left without tenants (I4)."""
        self.check()
        waiting = [p["metadata"]["name"] for p in self.tenants if not note(p, "gpu-uuid")]
        assert not waiting, "not placed: %s" % waiting
        granted = {uid for p in self.capacity.values() for uid in ledger(p)}
        living = {p["metadata"]["uid"] for p in self.tenants}
        assert granted == living, "ledger %s, tenants %s" % (granted - living, living - granted)
        used = {holder for p in self.tenants for _, holder in gpus_of(p)}
        assert set(self.capacity) == used, "idle: %s" % (set(self.capacity) - used)
        return self

    def check_quiet(self, all_gpus):
        """Nothing under way, though not everybody may fit: who waits fits nowhere, ledgers and
        tenants say the same. ALL_GPUS: how many the nodes have together."""
        self.check()
        granted = {uid for p in self.capacity.values() for uid in ledger(p)}
        placed = {p["metadata"]["uid"] for p in self.placed}
        assert granted == placed, "entries of nobody %s, tenants without entry %s" % (
            granted - placed, placed - granted)
        starting = [p["metadata"]["name"] for p in self.placed + self.whole
                    if p["status"].get("phase") != "Running" and p["spec"].get("nodeName")]
        assert not starting, "not running: %s" % starting
        idle = set(self.capacity) - {holder for p in self.placed for _, holder in gpus_of(p)}
        assert not idle, "idle: %s" % idle
        waiting = [p for p in self.tenants if not note(p, "gpu-uuid")]
        pending = [p for p in self.whole if not p["spec"].get("nodeName")]
        unused = all_gpus - len(self.capacity) - sum(
            gpus(p) for p in self.whole if p["spec"].get("nodeName"))
        names = [p["metadata"]["name"] for p in waiting + pending]
        assert not names or unused == 0, "%d GPUs unused, waiting: %s" % (unused, names)
        assert unused >= 0, "more GPUs in use than there are: %d" % -unused
        most = max([1000 - used for used in self.milli().values()], default=0)
        fits = [p["metadata"]["name"] for p in waiting if share(p) <= most]
        assert not fits, "%d milli are free, waiting: %s" % (most, fits)
        return self

    def milli(self):
        """{UUID: granted milli}"""
        sums = collections.Counter()
        for pod in self.placed:
            for uuid, _ in gpus_of(pod):
                sums[uuid] += int(note(pod, "compute-milli"))
        return sums


def check_devices(picture, kubelet_state):
    """Every container of a placed, running tenant sees exactly its GPU, the others none."""
    for pod in picture.placed:
        seen = kubelet_state["pods"].get(pod["metadata"]["uid"])
        if seen is None:
            continue
        for name, container in seen["containers"].items():
            if container["state"] != "running":
                continue
            mine = [uuid for uuid, _ in gpus_of(pod)] if name == note(pod, "container") else []
            assert sorted(container["visible"]) == sorted(mine), (pod["metadata"]["name"], name, container)
            assert container["allocated"] == [], (pod["metadata"]["name"], name, container)
