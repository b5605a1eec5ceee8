"""Feasibility before the pin, against the real scheduler (C13, C21, C23, C27).

Each case has two nodes of which one cannot take its pod. The pod that may go to either lands on the
good one, although an unspoilt bad one would be chosen (it comes first); a pin is for ever, so where
it is pinned in the end is where it was pinned at all. The pod that may only go to the bad one keeps
its gate and says why; where somebody else gives out the bad one's GPUs it never gets a gate (C34). And the scheduler is asked: a plain pod with the same needs, tied to the bad
node, must be unschedulable, unless the rule is ours alone.
"""

import contextlib

import pytest

from api import ApiError
from helpers import P, gates, is_unschedulable, note, pin, placed, wait_nodes_known
from waiting import wait_until

STACK = {"nodes": [("fit-%02d" % i, 1) for i in range(40)] + [("fit2-%d" % i, 2) for i in range(4)],
         "arguments": ["--idle-grace-seconds=2"]}
FPGA = "example.com/fpga"


def requests(container=None, **amounts):
    """Options of Stack.pod: the only container asks for this too."""
    def change(pod):
        pod["spec"]["containers"][0]["resources"]["requests"].update(amounts)
        pod["spec"]["containers"][0].update(container or {})
    return change


def extended(amount):
    """An extended resource, whose limit is its request."""
    def change(pod):
        resources = pod["spec"]["containers"][0]["resources"]
        for part in ("requests", "limits"):
            resources.setdefault(part, {})[FPGA] = amount
    return change


def spec(**fields):
    return lambda pod: pod["spec"].update(fields)


class Bed:
    """One case on its two nodes."""

    def __init__(self, stack, case, bad, good):
        self.stack, self.case, self.bad, self.good = stack, case, bad, good
        self.made = []

    def patch(self, where, body, sub=None):
        self.stack.api.patch("nodes", where, body, sub=sub)

    def offer(self, where, fpga=None, **amounts):
        if fpga is not None:
            amounts[FPGA] = fpga
        self.patch(where, {"status": {"capacity": amounts, "allocatable": amounts}}, "status")

    def pod(self, role, gpus, selector, change=None, **options):
        obj = self.stack.pod("%s-%s" % (self.case, role), gpus=gpus, **options)
        obj["spec"]["nodeSelector"] = selector
        if change:
            change(obj)
        self.made.append(("pods", obj["metadata"]["name"], "default"))
        return self.stack.api.create("pods", obj, namespace="default")

    def fill(self, change=None, **options):
        """A pod of somebody else that is on the bad node already."""
        made = self.pod("filler", 0, {"kubernetes.io/hostname": self.bad}, change, **options)
        self.stack.wait_running(made["metadata"]["name"])

    def fill_tenant(self, labels):
        """A tenant that runs on the bad node."""
        self.pod("filler", 1, {"kubernetes.io/hostname": self.bad}, fraction="0.25",
                 labels=labels)
        self.stack.wait_running(self.case + "-filler")

    def volume(self, where, name=None):
        """A bound claim whose volume only the node WHERE can have."""
        name = name or self.case
        self.stack.api.create("persistentvolumes", {
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                     "storageClassName": "", "local": {"path": "/data"},
                     "claimRef": {"namespace": "default", "name": name},
                     "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{
                         "key": "kubernetes.io/hostname", "operator": "In",
                         "values": [where]}]}]}}}})
        self.made.append(("persistentvolumes", name, None))
        self.claim(name, storageClassName="", volumeName=name)
        wait_until(lambda: self.stack.api.get("persistentvolumeclaims", name, "default")
                   ["status"].get("phase") == "Bound", 60, name + " to be bound")

    def claim(self, name, **fields):
        self.stack.api.create("persistentvolumeclaims", {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": "1Gi"}}, **fields}},
            namespace="default")
        self.made.append(("persistentvolumeclaims", name, "default"))

    def publish(self):
        """A slice as NVIDIA's DRA driver makes it."""
        name = self.bad + "-gpu.nvidia.com"
        self.stack.api.create("resourceslices.resource.k8s.io/v1", {
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": {"driver": "gpu.nvidia.com", "nodeName": self.bad, "devices": [{"name": "gpu-0"}],
                     "pool": {"name": self.bad, "generation": 1, "resourceSliceCount": 1}}})
        self.made.append(("resourceslices.resource.k8s.io/v1", name, None))

    def stays_whole(self):
        """Would a pod for the bad node?"""
        obj = self.stack.pod(self.case + "-would", gpus=1, fraction="0.25")
        obj["spec"]["nodeSelector"] = {"kubernetes.io/hostname": self.bad}
        return not gates(self.stack.api.create("pods", obj, namespace="default", dryRun="All"))

    def clean(self):
        for kind, name, namespace in reversed(self.made):
            with contextlib.suppress(ApiError):
                grace = {"grace": 0} if kind == "pods" else {}
                self.stack.api.delete(kind, name, namespace, **grace)


def uses_claim(name):
    return spec(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": name}}])


def sidecar(pod):
    """64 CPUs hold the container or the sidecar, not both."""
    pod["spec"]["initContainers"] = [
        {"name": "beside", "image": "app", "restartPolicy": "Always",
         "resources": {"requests": {"cpu": "40"}}}]
    requests(cpu="40")(pod)


def either_term(pod):
    """OR: the first term matches nothing, the second only the good node."""
    key = "fit.example/disk"
    pod["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": key, "operator": "In", "values": ["tape"]}]},
            {"matchExpressions": [{"key": key, "operator": "Exists"},
                                  {"key": key, "operator": "NotIn", "values": ["tape"]},
                                  {"key": "fit.example/speed", "operator": "Gt",
                                   "values": ["5"]}]}]}}}


# name: (what is done to the nodes, what the pod asks for, reason, words, does the scheduler refuse)
PORT = {"ports": [{"containerPort": 80, "hostPort": 8080}]}
CASES = {
    # First: it is told by a watch of its own, which has the time of all the others.
    "dra": (lambda b: b.publish(), None,
            "NoNodeForShare", "1 node publishes its GPUs through DRA", False),
    "cpu": (lambda b: b.fill(requests(cpu="63500m")), requests(cpu="2"),
            "NodeUnfit", "1 node lacks CPU", True),
    "memory": (lambda b: b.fill(requests(memory="511Gi")), requests(memory="2Gi"),
               "NodeUnfit", "1 node lacks memory", True),
    "sidecar": (lambda b: b.offer(b.good, cpu="128"), sidecar,
                "NodeUnfit", "1 node lacks CPU", True),
    "slots": (lambda b: b.offer(b.bad, pods="0"), None,
              "NodeUnfit", "1 node has no room for one more pod", True),
    "storage": (lambda b: b.patch(b.good, {"status": {
        "capacity": {"ephemeral-storage": "4Ti"}, "allocatable": {"ephemeral-storage": "4Ti"}}},
        "status"), requests(**{"ephemeral-storage": "2Ti"}),
        "NodeUnfit", "1 node lacks ephemeral-storage", True),
    "fpga-none": (lambda b: b.offer(b.good, fpga="2"), extended("1"),
                  "NodeUnfit", "1 node lacks example.com/fpga", True),
    "fpga-taken": (lambda b: (b.offer(b.good, fpga="2"), b.offer(b.bad, fpga="2"),
                              b.fill(extended("2"))), extended("1"),
                   "NodeUnfit", "1 node lacks example.com/fpga", True),
    "port": (lambda b: b.fill(requests(container=PORT)), requests(container=PORT),
             "NodeUnfit", "1 node has the host port taken", True),
    "affinity": (lambda b: [b.patch(where, {"metadata": {"labels": {
        "fit.example/disk": "ssd", "fit.example/speed": speed}}})
        for where, speed in ((b.bad, "5"), (b.good, "6"))], either_term,
        "NodeUnfit", " nodes do not match the node selector or affinity", True),
    "taint": (lambda b: b.patch(b.bad, {"spec": {"taints": [
        {"key": "fit.example/soft", "effect": "PreferNoSchedule"},
        {"key": "fit.example/broken", "value": "x", "effect": "NoSchedule"}]}}),
        spec(tolerations=[{"key": "fit.example/broken", "operator": "Equal", "value": "y"}]),
        "NodeUnfit", "1 node has the untolerated taint fit.example/broken", True),
    "apart": (lambda b: b.fill_tenant({"app": "alone"}), spec(affinity={"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": {"app": "alone"}}}]}}),
        "NodeUnfit", "1 node has a pod that anti-affinity keeps apart", True),
    "cordon": (lambda b: b.patch(b.bad, {"spec": {"unschedulable": True}}), None,
               "NodeUnfit", "1 node ", True),
    "volume": (lambda b: b.volume(b.good), uses_claim("volume"),
               "NodeUnfit", "1 node cannot have the volume of claim volume", True),
    "shared": (lambda b: b.patch(b.bad, {"metadata": {"labels": {
        "nvidia.com/gpu.sharing-strategy": "time-slicing"}}}), None,
        "NoNodeForShare", "1 node shares its GPUs already", False),
    "hami": (lambda b: b.patch(b.bad, {"metadata": {"annotations": {
        "hami.io/node-nvidia-register": "GPU-1,10,81559,100,NVIDIA-H100,0,true:"}}}), None,
        "NoNodeForShare", "1 node serves its GPUs to HAMi", False),
    "kai": (lambda b: b.pod("filler", 1, {}, spec(schedulerName="kai-scheduler", nodeName=b.bad)),
            None, "NoNodeForShare", "1 node serves its GPUs to KAI", False),
}
TWO_GPUS = {"kai", "apart"}


def judge(bed, reason, words, refuses):
    """What is wrong with the pods of a case; empty where nothing is."""
    found = []
    waits = bed.stack.get_pod(bed.case + "-waits")
    lands = bed.stack.get_pod(bed.case + "-lands")
    condition = placed(waits)
    if condition.get("reason") != reason or words not in condition.get("message", ""):
        found.append("says %s: %s" % (condition.get("reason"), condition.get("message")))
    if reason == "NoNodeForShare":
        if gates(waits) or note(waits, "original"):
            found.append("was converted, and no node has a share for it")
    elif gates(waits) != [P + "gpu"] or pin(waits) is not None:
        found.append("was pinned to %s, which cannot take it" % pin(waits))
    if pin(lands) != bed.good or lands["status"].get("phase") != "Running":
        found.append("is %s on %s, not on %s" % (
            lands["status"].get("phase"), pin(lands), bed.good))
    if refuses and not is_unschedulable(bed.stack.get_pod(bed.case + "-asks")):
        found.append("the scheduler takes a pod that we keep waiting")
    return ["%s: %s" % (bed.case, text) for text in found]


@pytest.fixture
def beds(stack, node):
    """beds(case): its two nodes; what it made goes afterwards."""
    made = []

    def make(case):
        gpus = 2 if case in TWO_GPUS else 1
        made.append(Bed(stack, case, node(gpus), node(gpus)))
        return made[-1]
    yield make
    for bed in made:
        bed.clean()


def test_lands_where_it_can_and_is_never_pinned_where_it_cannot(stack, beds, say):
    every = {case: beds(case) for case in CASES}
    for case, bed in every.items():
        for where in (bed.bad, bed.good):
            bed.patch(where, {"metadata": {"labels": {"fit.example/case": case}}})
        CASES[case][0](bed)
    wait_nodes_known(stack)
    for case, bed in every.items():
        if CASES[case][2] == "NoNodeForShare":
            wait_until(bed.stays_whole, 60, "admission to know the node of " + case)
    for case, bed in every.items():
        bed.pod("waits", 1, {"kubernetes.io/hostname": bed.bad}, CASES[case][1], fraction="0.25")
    for case in every:
        stack.wait_pod(case + "-waits", placed, 60, what="a condition")
    # The controller has seen what was done to the nodes: it said so. That is ten seconds ago, and so the scheduler has.
    for case, bed in every.items():
        if CASES[case][4]:
            bed.pod("asks", 0, {"kubernetes.io/hostname": bed.bad}, CASES[case][1])
        bed.pod("lands", 1, {"fit.example/case": case}, CASES[case][1], fraction="0.25")

    def wrong():
        return [text for case, bed in every.items() for text in judge(bed, *CASES[case][2:])]
    wait_until(lambda: not wrong(), 60, lambda: "every case\n" + "\n".join(wrong()))
    say("%d cases: landed, refused and explained as the scheduler would" % len(every))


def test_unspoilt_the_first_node_is_chosen(stack, beds):
    """Or the table above would show nothing."""
    bed = beds("plain")
    for where in (bed.bad, bed.good):
        bed.patch(where, {"metadata": {"labels": {"fit.example/case": "plain"}}})
    bed.pod("lands", 1, {"fit.example/case": "plain"}, fraction="0.25")
    assert pin(stack.wait_running("plain-lands")) == bed.bad


def test_a_claim_that_comes_later(stack, beds):
    """It waits with its reason, opens no GPU, and goes where the volume is once there is one."""
    bed = beds("later")
    for where in (bed.bad, bed.good):
        bed.patch(where, {"metadata": {"labels": {"fit.example/case": "later"}}})
    bed.pod("waits", 1, {"fit.example/case": "later"}, uses_claim("later"), fraction="0.25")
    pod = stack.wait_pod("later-waits", lambda p: placed(p).get("reason") == "VolumeNotReady", 60, what="its reason")
    assert "claim later does not exist" in placed(pod)["message"]
    assert gates(pod) == [P + "gpu"]
    bed.volume(bed.good)
    pod = stack.wait_running("later-waits", 60)
    assert pin(pod) == bed.good and note(pod, "gpu-uuid")


def test_a_volume_that_waits_for_its_pod_is_the_schedulers(stack, beds):
    """WaitForFirstConsumer: the pin comes first, the volume is made for it."""
    bed = beds("first")
    stack.api.create("storageclasses", {
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fit-first"},
        "provisioner": "fit.example/none", "volumeBindingMode": "WaitForFirstConsumer"})
    bed.made.append(("storageclasses", "fit-first", None))
    bed.claim("first", storageClassName="fit-first")
    bed.pod("lands", 1, {"kubernetes.io/hostname": bed.good}, uses_claim("first"), fraction="0.25")
    pod = stack.wait_pod("first-lands", lambda p: not gates(p), 60, what="placed")
    assert pin(pod) == bed.good
    # The scheduler chose the pinned node for it, and waits for the provisioner that there is not.
    wait_until(lambda: stack.api.get("persistentvolumeclaims", "first", "default")["metadata"]
               .get("annotations", {}).get("volume.kubernetes.io/selected-node") == bed.good,
               60, "the scheduler to select the node")


ZONE = "topology.kubernetes.io/zone"


def zoned(case, **fields):
    """A pod of three zones whose replicas are known by their label."""
    return {"labels": {"app": case}, "fraction": "0.1", **fields}


def spread_of(case, key=ZONE):
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": {"matchLabels": {"app": case}}}]


def test_c36_hard_spread_and_anti_affinity_over_zones(stack, beds, node):
    """Pinned, a pod has one zone for the scheduler, which agrees with any; so they are judged before."""
    bed = beds("zones")
    where = [bed.bad, bed.good, node(1)]
    for i, name in enumerate(where):
        bed.patch(name, {"metadata": {"labels": {"fit.example/case": "zones", ZONE: "zone-%d" % i}}})
    wait_nodes_known(stack)
    for i in range(6):
        bed.pod("spread-%d" % i, 1, {"fit.example/case": "zones"},
                spec(topologySpreadConstraints=spread_of("spread")), **zoned("spread"))
    for i in range(3):
        bed.pod("apart-%d" % i, 1, {"fit.example/case": "zones"}, spec(affinity={"podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{
                "topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "apart"}}}]}}),
            **zoned("apart"))
    spread = sorted(pin(stack.wait_running("zones-spread-%d" % i)) for i in range(6))
    assert spread == sorted(where * 2), spread
    apart = sorted(pin(stack.wait_running("zones-apart-%d" % i)) for i in range(3))
    assert apart == sorted(where), apart
    bed.pod("beside", 1, {"fit.example/case": "zones"}, spec(affinity={"podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "last"}}}]}}),
        **zoned("last"))
    first = pin(stack.wait_running("zones-beside"))
    bed.pod("fourth", 1, {"fit.example/case": "zones"}, spec(affinity={"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "apart"}}}]}}),
        **zoned("apart"))
    stack.wait_pod("zones-fourth", lambda p: placed(p).get("reason") == "NodeUnfit", 60, what="its reason")
    assert first in where and gates(stack.get_pod("zones-fourth")) == [P + "gpu"]
