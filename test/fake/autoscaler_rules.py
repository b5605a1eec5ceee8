"""What Cluster Autoscaler thinks of pods and nodes: which pods it adds a node for, which nodes it would take away.

The rules are read from kubernetes/autoscaler at the tag cluster-autoscaler-1.36.1, folder cluster-autoscaler/: no line is
taken over, and what cannot occur in the tests is left out. Where which rule stands:

unschedulable, gated pods    utils/kubernetes/listers.go (ArrangePodsBySchedulability)
expendable pods              core/utils/expendable.go, config/flags/flags.go (--expendable-pods-priority-cutoff=-10)
which pods may be moved      simulator/drainability/rules/rules.go (their order) and the rule of each folder, utils/drain/drain.go
which nodes are looked at    core/scaledown/eligibility/eligibility.go, simulator/utilization/info.go
where pods would go          simulator/cluster.go (SimulateNodeRemoval)
a GPU that is late           processors/customresources/gpu_processor.go, utils/gpu/gpu.go

It asks the scheduler's own filters over nodes that are there and over a template; played here are those that tell Aliquot's pods
and nodes apart: names, labels, taints, resources. Spread, affinity between pods, ports and volumes are not.
"""

import calendar
import time

GPU = "nvidia.com/gpu"
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
STAYS = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
GOES = "ToBeDeletedByClusterAutoscaler"
CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
EXPENDABLE_BELOW = -10
THRESHOLD = 0.5
# After its grace a pod that is being ended counts for nothing.
LONG_S = 30
# A pod of these kinds is known to come again.
REPLICATED = ("ReplicationController", "Job", "ReplicaSet", "StatefulSet")
UNITS = {"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2 ** 10, "Mi": 2 ** 20, "Gi": 2 ** 30, "Ti": 2 ** 40}


# --- what objects say ---

def name_of(obj):
    return obj["metadata"]["name"]


def amount(quantity):
    text = str(quantity)
    number = text.rstrip("mkKMGTi")
    return float(number) * UNITS[text[len(number):]]


def when(stamp):
    return calendar.timegm(time.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ"))


def requests(pod):
    """What it asks for: its containers together, or one init container if that asks for more."""
    def of(container, key):
        found = container.get("resources", {})
        return amount(found.get("requests", {}).get(key, found.get("limits", {}).get(key, 0)))
    spec = pod["spec"]
    keys = {key for part in ("containers", "initContainers") for c in spec.get(part, [])
            for kind in ("requests", "limits") for key in c.get("resources", {}).get(kind, {})}
    found = {key: max([sum(of(c, key) for c in spec["containers"])] +
                      [of(c, key) for c in spec.get("initContainers", [])]) for key in keys}
    return {**found, "pods": 1}


def controller(pod):
    return next((o for o in pod["metadata"].get("ownerReferences", []) if o.get("controller")), None)


def is_daemon(pod):
    owner = controller(pod)
    return owner is not None and owner["kind"] == "DaemonSet"


def is_over(pod):
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def is_expendable(pod):
    return pod["spec"].get("priority") is not None and pod["spec"]["priority"] < EXPENDABLE_BELOW


def is_unschedulable(pod):
    """The scheduler has said so. A pod with a gate is none, nor is one that has a node in prospect."""
    if pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"] or pod["status"].get("nominatedNodeName"):
        return False
    return any(c["type"] == "PodScheduled" and c["status"] == "False" and c.get("reason") == "Unschedulable"
               for c in pod["status"].get("conditions", []))


def is_ready(node):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))


def lacks_its_gpu(node, gpu_label):
    """It will have GPUs, and has none yet: it counts as unready."""
    return gpu_label in node["metadata"].get("labels", {}) and not amount(node["status"].get("allocatable", {}).get(GPU, 0))


# --- the scheduler's filters ---

def _holds(term, has, value):
    values, operator = term.get("values", []), term["operator"]
    return {"In": has and value in values, "NotIn": not has or value not in values, "Exists": has,
            "DoesNotExist": not has, "Gt": has and operator == "Gt" and int(value) > int((values or [0])[0]),
            "Lt": has and operator == "Lt" and int(value) < int((values or [0])[0])}[operator]


def _selects(term, node):
    labels = node["metadata"].get("labels", {})
    return all(_holds(e, e["key"] in labels, labels.get(e["key"])) for e in term.get("matchExpressions", [])) and \
        all(f["key"] == "metadata.name" and _holds(f, True, name_of(node)) for f in term.get("matchFields", []))


def _tolerates(pod, taint):
    return any(t.get("effect") in (None, "", taint["effect"]) and (
        (t.get("operator") == "Exists" and t.get("key") in (None, "", taint["key"])) or
        (t.get("operator", "Equal") == "Equal" and t.get("key") == taint["key"] and t.get("value", "") == taint.get("value", "")))
        for t in pod["spec"].get("tolerations", []))


def suits(pod, node):
    """All filters but those of resources."""
    labels, spec = node["metadata"].get("labels", {}), pod["spec"]
    terms = spec.get("affinity", {}).get("nodeAffinity", {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms")
    return not node["spec"].get("unschedulable") and \
        all(labels.get(key) == value for key, value in spec.get("nodeSelector", {}).items()) and \
        (terms is None or any(_selects(term, node) for term in terms)) and \
        all(taint["effect"] == "PreferNoSchedule" or _tolerates(pod, taint) for taint in node["spec"].get("taints", []))


class Snapshot:
    """Nodes with what is free on each of them; pods are put there as if they were bound."""

    def __init__(self, nodes=(), pods=()):
        self.nodes, self.free = {}, {}
        for node in nodes:
            self.add(node)
        for pod in pods:
            if pod["spec"].get("nodeName") in self.nodes and not is_over(pod):
                self.take(pod, pod["spec"]["nodeName"])

    def add(self, node):
        self.nodes[name_of(node)] = node
        self.free[name_of(node)] = {key: amount(value) for key, value in node["status"].get("allocatable", {}).items()}

    def take(self, pod, name):
        for key, value in requests(pod).items():
            self.free[name][key] = self.free[name].get(key, 0) - value

    def place(self, pod, but=()):
        """Where it fits, and it is put there; None: nowhere."""
        for name, node in self.nodes.items():
            wants = requests(pod)
            if name not in but and suits(pod, node) and all(
                    value <= self.free[name].get(key, 0) for key, value in wants.items() if value):
                self.take(pod, name)
                return name
        return None


# --- which pods keep a node ---

def _is_terminal(pod):
    phase, policy = pod["status"].get("phase"), pod["spec"].get("restartPolicy")
    return phase == "Failed" or (phase == "Succeeded" and policy in ("Never", "OnFailure"))


def _has_local_storage(pod):
    harmless = pod["metadata"].get("annotations", {}).get(SAFE_VOLUMES, "").split(",")
    return any(v["name"] not in harmless and ("hostPath" in v or (
        "emptyDir" in v and v["emptyDir"].get("medium") != "Memory")) for v in pod["spec"].get("volumes", []))


def _selected_by(budgets, pod):
    labels = pod["metadata"].get("labels", {})
    return [b for b in budgets if b["metadata"]["namespace"] == pod["metadata"]["namespace"] and all(
        labels.get(key) == value for key, value in b["spec"].get("selector", {}).get("matchLabels", {}).items())]


def _is_long_gone(pod, now):
    """Its deletionTimestamp has its grace in it, and the rule counts the grace again."""
    stamp = pod["metadata"].get("deletionTimestamp")
    return stamp is not None and when(stamp) + pod["spec"].get("terminationGracePeriodSeconds", 30) + LONG_S < now


def blocks(pod, budgets, now):
    """Why this pod keeps its node; None: it does not. The rules are asked in this order, and the first answer counts."""
    annotations = pod["metadata"].get("annotations", {})
    if _is_long_gone(pod, now) or is_daemon(pod) or annotations.get(SAFE) == "true" or _is_terminal(pod):
        return None
    owner = controller(pod)
    if owner is None or owner["kind"] not in REPLICATED:
        return "NotReplicated"
    if pod["metadata"]["namespace"] == "kube-system" and not _selected_by(budgets, pod):
        return "UnmovableKubeSystemPod"
    if annotations.get(SAFE) == "false":
        return "NotSafeToEvictAnnotation"
    if _has_local_storage(pod):
        return "LocalStorageRequested"
    if any(b.get("status", {}).get("disruptionsAllowed", 0) < 1 for b in _selected_by(budgets, pod)):
        return "NotEnoughPdb"
    return None


def to_move(pods, now):
    """Those of a node that would have to go somewhere."""
    return [p for p in pods if not is_daemon(p) and not _is_long_gone(p, now)]


def use_of(node, pods, gpu_label, now):
    """How much of it is asked for: of a node with GPUs its GPUs alone. One whose GPUs are late counts as empty."""
    room = node["status"].get("allocatable", {})
    keys = [GPU] if gpu_label in node["metadata"].get("labels", {}) or amount(room.get(GPU, 0)) else ["cpu", "memory"]
    asked = [requests(p) for p in pods if not _is_long_gone(p, now)]
    return max(sum(each.get(key, 0) for each in asked) / amount(room[key]) if amount(room.get(key, 0)) else 0.0 for key in keys)


def why_it_stays(node, pods, world, gpu_label, now):
    """Why a node is not unneeded; None: it is. WORLD: (other nodes, pods of them, budgets)."""
    others, elsewhere, budgets = world
    if any(taint["key"] == GOES for taint in node["spec"].get("taints", [])):
        return "CurrentlyBeingDeleted"
    if node["metadata"].get("annotations", {}).get(STAYS) == "true":
        return "ScaleDownDisabledAnnotation"
    if use_of(node, pods, gpu_label, now) > THRESHOLD:
        return "NotUnderutilized"
    for pod in pods:
        reason = blocks(pod, budgets, now)
        if reason is not None:
            return "BlockedByPod: %s (%s)" % (name_of(pod), reason)
    there = Snapshot(others, elsewhere)
    if any(there.place(pod) is None for pod in to_move(pods, now)):
        return "NoPlaceToMovePods"
    return None
