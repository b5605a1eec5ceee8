"""What several end-to-end tests ask and say."""

import contextlib
import itertools
import os
import random
import time

from invariants import P, Picture, note

import fleet
from waiting import wait_until

MIB = fleet.MEMORY_MIB
MARKS = itertools.count()


def on(node):
    """Options of Stack.pod that keep a pod on one node."""
    return {"nodeSelector": {"kubernetes.io/hostname": node}}


def is_tenant(pod):
    return pod["metadata"].get("labels", {}).get(P + "tenant") == "true"


def gates(pod):
    return [gate["name"] for gate in pod["spec"].get("schedulingGates", [])]


def placed(pod):
    """The condition aliquot.dev/Placed; {} where there is none."""
    return next((c for c in pod["status"].get("conditions", []) if c["type"] == P + "Placed"), {})


def is_unschedulable(pod):
    return any(c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable"
               for c in pod["status"].get("conditions", []))


def seen(stack, pod, container="main"):
    """The GPUs that a container of a running pod sees, as the node's runtime gave them."""
    state = stack.kubelet.state()["pods"][pod["metadata"]["uid"]]
    return state["containers"][container]["visible"]


def environment(stack, pod, container="main"):
    return stack.kubelet.state()["pods"][pod["metadata"]["uid"]]["containers"][container]["env"]


def capacity_on(stack, node):
    """The capacity pods of one node."""
    return [pod for pod in stack.capacity_pods() if node in (
        pod["spec"].get("nodeName"), pin(pod)) and not pod["metadata"].get("deletionTimestamp")]


def pin(pod):
    """The node to which a required node affinity ties the pod by name; None without."""
    terms = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", [])
    pins = {tuple(field["values"]) for term in terms for field in term.get("matchFields", [])
            if field["key"] == "metadata.name" and field["operator"] == "In"}
    assert len(pins) <= 1, pins
    return next(iter(pins))[0] if pins else None


def pods_of(bed, name):
    """The pods of a workload of BED that are not leaving; a method of it."""
    return [p for p in bed.api.list("pods", bed.space, labelSelector="app=" + name)
            if not p["metadata"].get("deletionTimestamp")]


def next_pod(bed, name):
    """The pod that stands where this workload's pods are deleted; a method of BED, too."""
    old = {p["metadata"]["uid"] for p in bed.pods(name)}
    for pod in bed.pods(name):
        bed.api.delete("pods", pod["metadata"]["name"], bed.space, grace=0)
    return wait_until(lambda: next((p for p in bed.pods(name) if p["metadata"]["uid"] not in old), None),
                      60, "another pod of " + name)


@contextlib.contextmanager
def restarted(stack, option, value):
    """The only controller is started anew with another value of an option that it has, and as before in the end."""
    controller, = stack.controllers
    usual = controller.argv

    def restart(argv):
        assert controller.stop() == 0
        controller.argv = argv
        controller.start()
    restart(["%s=%s" % (option, value) if a.startswith(option + "=") else a for a in usual])
    try:
        yield
    finally:
        restart(usual)


def events(stack, pod, reason=None):
    """Our events about a pod, or another object; of one without a namespace they are in default."""
    found = stack.api.list("events", namespace=pod["metadata"].get("namespace", "default"),
                           fieldSelector="involvedObject.uid=" + pod["metadata"]["uid"])
    return [e for e in found if reason in (None, e["reason"]) and
            (e.get("reportingComponent") or "").startswith("aliquot.dev")]


def is_whole(pod):
    """Untouched by us: it asks for a GPU and carries nothing of ours."""
    limits = pod["spec"]["containers"][0]["resources"].get("limits", {})
    return limits.get("nvidia.com/gpu") == "1" and not is_tenant(pod) and \
        P + "gpu" not in gates(pod) and note(pod, "original") is None


def between(stack, act, first, then, timeout=60):
    """ACT does something; the seconds from where the watch of all pods shows one of which FIRST is true to where it shows one
    of which THEN is. What a kubelet or a scheduler took before is not in it, nor how late the watch is."""
    version = stack.api.list_raw("pods")["metadata"]["resourceVersion"]
    act()
    began = None
    for kind, pod in stack.api.watch("pods", version=version, timeout=timeout):
        if began is None and first(kind, pod):
            began = time.monotonic()
        if began is not None and then(kind, pod):
            return time.monotonic() - began
    raise AssertionError("waited %d s for %s\n%s" % (
        timeout, "what is to follow" if began is not None else "what comes first", stack.logs()))


def freed(stack, ends, waits, timeout=60):
    """A pod's container ends well; the seconds from the word that it is over to the word that the one that waits is told its GPU."""
    return between(
        stack, lambda: stack.kubelet.fault("kill", namespace="default", pod=ends, container="main", code=0),
        lambda _, pod: pod["metadata"]["name"] == ends and pod["status"].get("phase") == "Succeeded",
        lambda _, pod: pod["metadata"]["name"] == waits and note(pod, "gpu-uuid") is not None, timeout)


def wait_gone(stack, name, namespace="default", timeout=60, uid=None):
    """UID: of a pod whose name another one may have by then, as capacity pods'."""
    def gone():
        found = stack.api.find("pods", name, namespace)
        return found is None or (uid is not None and found["metadata"]["uid"] != uid)
    wait_until(gone, timeout, "%s to be gone" % name)


def wait_nodes_known(stack):
    """Until the controller knows of all nodes as they are now. Pods are told by another watch, which may be ahead; of
    one watch what comes later is told later, so a new node comes after all that was done to the others."""
    mark = "mark-%d" % next(MARKS)
    stack.api.create("nodes", fleet.node(mark, gpus=0))
    leader = stack.wait_leader()
    wait_until(lambda: mark in leader.dump()["nodes"], 60, "the controller to know of a new node")
    stack.api.delete("nodes", mark)


def wait_policy(stack, policy):
    """Until a pod that names this GPUPolicy would get it: before, it would start whole."""
    probe = stack.pod("probe", fraction="0.5", annotations={P + "policy": policy})
    wait_until(lambda: note(stack.api.create("pods", probe, dryRun="All"), "policy-applied"), 60,
               "the policy %s to be known" % policy)


def allow_mps(stack, policy):
    """The namespace `default` says that its pods may have directories of the node, and that is known."""
    stack.api.patch("namespaces", "default", {"metadata": {"labels": {
        "pod-security.kubernetes.io/enforce": "privileged"}}})
    probe = stack.pod("probe", fraction="0.5", annotations={P + "policy": policy})
    wait_until(lambda: note(stack.api.create("pods", probe, dryRun="All"), "isolation") == "MPS", 60, "MPS to be allowed")


# A leader whose successor may take the Lease at once, because it has the same name, and a replica
# that serves the webhook but never leads.
FAULTS = {"nodes": [("wide-%d" % i, 8) for i in range(4)] + [("one-%d" % i, 1) for i in range(16)],
          "controllers": [["--identity=leader"], ["--never-lead"]],
          "arguments": ["--idle-grace-seconds=2", "--open-timeout-seconds=10"]}
# Two that may lead; each has a name of its own.
STEADY_TWO = {"nodes": [("pair-%d" % i, 1) for i in range(6)] + [("octet-%d" % i, 8)
                                                                for i in range(4)],
              "controllers": 2, "arguments": ["--idle-grace-seconds=2"]}


def wait_empty(stack, timeout=60):
    """Until the last capacity pod is gone. What a test left on a GPU that got new tenants at once
    stays in the ledger until its next write."""
    wait_until(lambda: not stack.capacity_pods(), timeout, "all capacity pods to leave")


def all_gpus(stack):
    return sum(node["gpus"] for node in stack.nodes)


def settle(stack, arrivals):
    """The last pod has arrived, all that can run does, none is lost: (the picture, seconds it took)."""
    arrivals.finish()
    began = time.monotonic()
    gpus = all_gpus(stack)
    picture = wait_until(lambda: Picture(stack.api).check_quiet(gpus), 60, "quiet",
                         ignore=(AssertionError,))
    arrivals.check_all_there()
    return picture, time.monotonic() - began


def new_seed():
    """Of this run's random moments; $ALIQUOT_SEED repeats one."""
    return int(os.environ.get("ALIQUOT_SEED") or random.SystemRandom().randrange(1 << 32))


def told_of(stack, capacity):
    """What the kubelet has written down for it."""
    folder = stack.kubelet.state()["pods"][capacity["metadata"]["uid"]]["folder"]
    with open(os.path.join(folder, "volumes", "told", "in-use"), encoding="ascii") as file:
        return file.read()
