"""Fake GPU nodes: Node objects as the kubelet and GPU feature discovery would leave them."""

import time

from api import ApiError
from waiting import wait_until

PRODUCT = "NVIDIA-H100-80GB-HBM3"
MODEL = "NVIDIA H100 80GB HBM3"
MEMORY_MIB = 81559
DRIVER = "570.86.15"


def node_name(prefix, index):
    return "%s%d" % (prefix, index)


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def node(name, gpus=8, product=PRODUCT, memory_mib=MEMORY_MIB, cpu="64", memory="512Gi", pods=250,
         labels=None, taints=()):
    """A Node object without its status."""
    feature = {}
    if gpus:
        feature = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": str(gpus),
                   "nvidia.com/gpu.product": product, "nvidia.com/gpu.memory": str(memory_mib),
                   "nvidia.com/gpu.family": "hopper", "nvidia.com/gpu.sharing-strategy": "none",
                   "nvidia.com/mig.capable": "true", "nvidia.com/mig.strategy": "none"}
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                                     "kubernetes.io/arch": "amd64", **feature, **(labels or {})}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta,
            "spec": {"taints": list(taints)} if taints else {},
            "status": status(gpus, cpu, memory, pods)}


def status(gpus, cpu="64", memory="512Gi", pods=250, address="127.0.0.1"):
    """A status that is Ready now."""
    room = {"cpu": cpu, "memory": memory, "pods": str(pods), "ephemeral-storage": "1Ti"}
    if gpus:
        room["nvidia.com/gpu"] = str(gpus)
    return {"capacity": room, "allocatable": dict(room), "conditions": conditions(),
            "addresses": [{"type": "InternalIP", "address": address}],
            "nodeInfo": {"architecture": "amd64", "operatingSystem": "linux", "machineID": "",
                         "systemUUID": "", "bootID": "", "kernelVersion": "6.1.0",
                         "osImage": "fake", "containerRuntimeVersion": "fake://1",
                         "kubeletVersion": "v1.36.3", "kubeProxyVersion": ""}}


def conditions(ready="True"):
    common = {"lastHeartbeatTime": now(), "lastTransitionTime": now()}
    return [{"type": "Ready", "status": ready, "reason": "FakeKubelet", "message": "played",
             **common}] + [
        {"type": kind, "status": "False", "reason": "FakeKubelet", "message": "played", **common}
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")]


def create(api, names, gpus=8, **shape):
    """Creates the nodes, or sets the status of those that are there already."""
    for name in names:
        obj = node(name, gpus, **shape)
        try:
            api.create("nodes", obj)
        except ApiError as error:
            if error.status != 409:
                raise
            api.patch("nodes", name, {"status": obj["status"]}, sub="status")


def set_ready(api, name, ready="True"):
    """Ready True, False or Unknown; a heartbeat where nothing changes."""
    api.patch("nodes", name, {"status": {"conditions": conditions(ready)}}, sub="status",
              kind="strategic")


def renew_lease(api, name, seconds=40, first=False):
    """The kubelet's own heartbeat; without it the node goes NotReady after a while (GRACE_S of commands.py). FIRST: there may be none."""
    micro = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    spec = {"holderIdentity": name, "leaseDurationSeconds": seconds, "renewTime": micro}
    where = "kube-node-lease"
    try:
        if first:
            api.create("leases", {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                                  "metadata": {"name": name, "namespace": where}, "spec": spec})
            return
    except ApiError as error:
        if error.status != 409:
            raise
    api.patch("leases", name, {"spec": spec}, where)


def condition(obj, kind):
    """The status of one of the node's conditions; None where it has none of that kind."""
    states = {item["type"]: item["status"] for item in obj["status"].get("conditions", [])}
    return states.get(kind)


def is_ready(obj):
    """Ready, and free of the taint that a new node carries until the controllers saw it, and one that was away."""
    taints = {taint["key"] for taint in obj["spec"].get("taints", [])}
    away = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}
    return condition(obj, "Ready") == "True" and not taints & away


def wait_ready(api, names, timeout=60.0):
    wanted = set(names)

    def all_ready():
        ready = {obj["metadata"]["name"] for obj in api.list("nodes") if is_ready(obj)}
        return wanted <= ready
    wait_until(all_ready, timeout, "%d nodes to be Ready" % len(wanted), every=0.2,
               ignore=(ApiError,))
