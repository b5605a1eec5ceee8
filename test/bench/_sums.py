"""What the API server says every node is asked for, counted as the scheduler counts it.

Pods are listed page by page, so that memory stays bounded however many there are.
"""

import fractions
import json
import math
import re

PAGE = 500
GPU = "nvidia.com/gpu"
FACTORS = {"": 1, "n": fractions.Fraction(1, 10 ** 9), "u": fractions.Fraction(1, 10 ** 6),
           "m": fractions.Fraction(1, 1000), "k": 10 ** 3, "M": 10 ** 6, "G": 10 ** 9,
           "T": 10 ** 12, "P": 10 ** 15, "E": 10 ** 18, "Ki": 1 << 10, "Mi": 1 << 20,
           "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60}
QUANTITY = re.compile(r"([+-]?[0-9.]+)(?:[eE]([+-]?\d+)|([numkMGTPE]i?|[KMGTPE]i)?)")


def amount(text):
    """A Kubernetes quantity as an exact fraction."""
    match = QUANTITY.fullmatch(str(text))
    if match is None:
        raise ValueError("not a quantity: %r" % (text,))
    number, exponent, suffix = match.groups()
    value = fractions.Fraction(number)
    if exponent:
        return value * fractions.Fraction(10) ** int(exponent)
    return value * FACTORS[suffix or ""]


def _needs(holder):
    requests = (holder.get("resources") or {}).get("requests") or {}
    return amount(requests.get("cpu", 0)), amount(requests.get("memory", 0))


def _plus(a, b):
    return tuple(x + y for x, y in zip(a, b))


def _larger(a, b):
    return tuple(max(x, y) for x, y in zip(a, b))


def pod_needs(pod):
    """(milli-CPU, bytes): containers and sidecars together, or the largest start-up, + overhead."""
    spec = pod["spec"]
    total = (0, 0)
    for container in spec["containers"]:
        total = _plus(total, _needs(container))
    sidecars, start = (0, 0), (0, 0)
    for container in spec.get("initContainers") or []:
        if container.get("restartPolicy") == "Always":
            sidecars = _plus(sidecars, _needs(container))
            start = _larger(start, sidecars)
        else:
            start = _larger(start, _plus(sidecars, _needs(container)))
    total = _larger(_plus(total, sidecars), start)
    if "requests" in (spec.get("resources") or {}):
        cpu, memory = _needs(spec)
        named = spec["resources"]["requests"]
        total = (cpu if "cpu" in named else total[0], memory if "memory" in named else total[1])
    overhead = spec.get("overhead") or {}
    total = _plus(total, (amount(overhead.get("cpu", 0)), amount(overhead.get("memory", 0))))
    return math.ceil(total[0] * 1000), math.ceil(total[1])


def asks_for_gpu(pod):
    return any(GPU in ((container.get("resources") or {}).get(part) or {})
               for container in pod["spec"]["containers"] for part in ("requests", "limits"))


def pages(api, resource):
    """Every object of a resource, from etcd, never more than a page of them at once."""
    token = None
    while True:
        params = {"limit": PAGE}
        if token:
            params["continue"] = token
        answer = api.request("GET", api.path(resource), params=params, timeout=120)
        yield from answer["items"]
        token = answer["metadata"].get("continue")
        if not token:
            return


def of_server(api, sample=10):
    """{"pods", "gpu_pods", "nodes": {name: {"pods", "cpu_milli", "mem_bytes"}}, "pod_bytes"}."""
    nodes = {node["metadata"]["name"]: {"pods": 0, "cpu_milli": 0, "mem_bytes": 0}
             for node in pages(api, "nodes")}
    pods = gpu_pods = 0
    sizes = []
    for pod in pages(api, "pods"):
        pods += 1
        gpu_pods += asks_for_gpu(pod)
        if pods % sample == 0:
            sizes.append(len(json.dumps(pod, separators=(",", ":"))))
        name = pod["spec"].get("nodeName")
        if not name or pod["status"].get("phase") in ("Succeeded", "Failed"):
            continue
        cpu, memory = pod_needs(pod)
        node = nodes.setdefault(name, {"pods": 0, "cpu_milli": 0, "mem_bytes": 0})
        node["pods"] += 1
        node["cpu_milli"] += cpu
        node["mem_bytes"] += memory
    sizes.sort()
    spread = {"least": sizes[0], "mean": sum(sizes) // len(sizes), "most": sizes[-1]} if sizes else {}
    return {"pods": pods, "gpu_pods": gpu_pods, "nodes": nodes, "pod_bytes": spread}


def differences(server, dump, most=5):
    """Sentences that say where a debug dump and the API server do not agree; none if they do."""
    found = []
    if dump.get("pods") != server["pods"]:
        found.append("pods: %s here, %d there" % (dump.get("pods"), server["pods"]))
    mine = dump.get("nodes") or {}
    if set(mine) != set(server["nodes"]):
        found.append("%d nodes here, %d there" % (len(mine), len(server["nodes"])))
    for name, wanted in server["nodes"].items():
        got = mine.get(name) or {}
        for key, value in wanted.items():
            if got.get(key) != value and len(found) < most:
                found.append("%s %s: %s here, %d there" % (name, key, got.get(key), value))
    return found
