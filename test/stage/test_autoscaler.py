"""The rules of Cluster Autoscaler that test/fake/autoscaler_rules.py plays, one by one."""

import time

import pytest

import autoscaler_rules as rules
import fleet

LABEL = "example.com/accelerator"
RS = [{"kind": "ReplicaSet", "controller": True}]


def node(name="n", gpus=4, labels=None, taints=()):
    return fleet.node(name, gpus, labels={LABEL: "some", **(labels or {})}, taints=taints)


def pod(gpus=0, owners=RS, notes=None, meta=None, status=None, cpu="100m", **spec):
    resources = {"requests": {"cpu": cpu}, "limits": {"nvidia.com/gpu": str(gpus)} if gpus else {}}
    return {"metadata": {"name": "p", "namespace": "default", "ownerReferences": owners, "annotations": notes or {},
                         **(meta or {})},
            "spec": {"containers": [{"name": "main", "resources": resources}], **spec}, "status": status or {"phase": "Running"}}


def pinned(to, **more):
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [to]}]}]
    return pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}, **more)


def waiting(reason, **spec):
    return pod(status={"conditions": [{"type": "PodScheduled", "status": "False", "reason": reason}]}, **spec)


def test_who_makes_it_look_for_a_node():
    assert rules.is_unschedulable(waiting("Unschedulable"))
    assert not rules.is_unschedulable(waiting("SchedulingGated"))
    assert not rules.is_unschedulable(waiting("Unschedulable", nodeName="n"))
    assert rules.is_expendable(pod(priority=-11)) and not rules.is_expendable(pod(priority=-10)) and not rules.is_expendable(pod())


@pytest.mark.parametrize("expected, given", [
    (None, pod()),
    ("NotReplicated", pod(owners=[])),
    ("NotReplicated", pod(owners=[{"kind": "ConfigMap", "controller": True}])),
    (None, pod(owners=[], notes={rules.SAFE: "true"})),
    ("NotSafeToEvictAnnotation", pod(notes={rules.SAFE: "false"})),
    ("LocalStorageRequested", pod(volumes=[{"name": "v", "emptyDir": {}}])),
    (None, pod(volumes=[{"name": "v", "emptyDir": {"medium": "Memory"}}])),
    (None, pod(owners=[{"kind": "DaemonSet", "controller": True}], volumes=[{"name": "v", "hostPath": {}}])),
    ("NotEnoughPdb", pod(meta={"labels": {"of": "full"}})),
    (None, pod(meta={"labels": {"of": "full"}}, notes={rules.SAFE: "true"})),
    ("UnmovableKubeSystemPod", pod(meta={"namespace": "kube-system"})),
])
def test_which_pod_keeps_its_node(expected, given):
    budget = {"metadata": {"namespace": "default"}, "spec": {"selector": {"matchLabels": {"of": "full"}}},
              "status": {"disruptionsAllowed": 0}}
    assert rules.blocks(given, [budget], time.time()) == expected


@pytest.mark.parametrize("expected, there, pods", [
    (None, node(), []),
    (None, node(), [pod(2)]),
    ("NotUnderutilized", node(), [pod(3)]),
    ("NoPlaceToMovePods", node(), [pinned("n")]),
    ("NoPlaceToMovePods", node(), [pinned("n", gpus=1, notes={rules.SAFE: "true"})]),
    ("CurrentlyBeingDeleted", node(taints=[{"key": rules.GOES, "effect": "NoSchedule"}]), []),
    (None, node(gpus=0), [pod(cpu="40")]),  # its GPUs are late: it counts as empty
    ("BlockedByPod: p (NotSafeToEvictAnnotation)", node(), [pinned("n", notes={rules.SAFE: "false"})]),
])
def test_which_node_is_needed(expected, there, pods):
    world = ([node("other", labels={"roomy": "yes"})], [], [])
    assert rules.why_it_stays(there, pods, world, LABEL, time.time()) == expected


def test_the_filters_of_the_scheduler():
    tainted = node(taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])
    assert not rules.suits(pod(), tainted) and rules.suits(pod(tolerations=[{"operator": "Exists"}]), tainted)
    assert rules.suits(pod(tolerations=[{"key": "k", "value": "v"}]), tainted)
    assert not rules.suits(pod(tolerations=[{"key": "k", "value": "w"}]), tainted)
    assert rules.suits(pod(), node(taints=[{"key": rules.CANDIDATE, "effect": "PreferNoSchedule"}]))
    for operator, suits in (("In", False), ("NotIn", True), ("Exists", False), ("DoesNotExist", True)):
        terms = [{"matchExpressions": [{"key": "absent", "operator": operator, "values": ["v"]}]}]
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
        assert rules.suits(pod(affinity=affinity), node()) == suits, operator
    there = rules.Snapshot([node(gpus=2)], [pod(1, nodeName="n")])
    assert there.place(pod(1)) == "n" and there.place(pod(1)) is None
