"""What one who may create pods in a namespace writes into them, and what must not come of it."""

import pytest

from helpers import is_tenant, on, wait_gone
from waiting import wait_until

# No object is called so; the API server takes it as the name of one all the same.
LONG = "a" * 4050
GATE = {"schedulingGates": [{"name": "aliquot.dev/gpu"}]}


def volume(claim):
    return {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]}


def plain(stack, name, **fields):
    """A pod that asks for no GPU and waits for us."""
    pod = stack.pod(name, gpus=0)
    pod["spec"].update(GATE, **fields)
    return pod


def names_claim(stack, name):
    return plain(stack, name, **volume(LONG))


def names_claim_of_volume(stack, name):
    """Its claim says that it is bound, to a volume that nobody can have."""
    stack.api.create("persistentvolumeclaims", {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": LONG, "resources": {"requests": {"storage": "1Gi"}}},
    }, namespace="default")
    return plain(stack, name, **volume(name))


def names_owner(stack, name):
    """A tenant on whose Job the answer to where it may be evicted depends."""
    pod = stack.pod(name, fraction="0.5")
    pod["metadata"]["ownerReferences"] = [
        {"apiVersion": "batch/v1", "kind": "Job", "name": LONG, "uid": "0", "controller": True}]
    return pod


@pytest.mark.parametrize("hostile", [names_claim, names_claim_of_volume, names_owner])
def test_a_name_that_nothing_has_ends_no_leader(stack, node, name, hostile):
    """It waits or goes; the controller that reads it goes on, and so do others' pods."""
    leader = stack.leader()
    bad, good = name(), name()
    stack.api.create("pods", hostile(stack, bad), namespace="default")
    assert is_tenant(stack.create_pod(good, fraction="0.5", **on(node())))
    stack.wait_running(good)
    # What its name asks for was asked for by now, or never is: a whole round of the leader came after it.
    last = name()
    stack.create_pod(last, fraction="0.5", **on(node()))
    stack.wait_running(last)
    assert leader.alive() and leader.leads()


def test_a_pod_that_cannot_be_read_keeps_nobodys_share(stack, node, name):
    """No quantity is so large. The pod is there, and whoever has it is not taken for everybody else whose pod has ended: their
    shares are free as soon as they are gone."""
    leader, where, bad = stack.leader(), node(), name()
    unread = leader.metric("aliquot_watch_unread_total")
    pod = stack.pod(bad)
    pod["spec"]["containers"][0]["resources"]["limits"]["memory"] = "9" * 21
    stack.api.create("pods", pod)
    try:
        wait_until(lambda: leader.metric("aliquot_watch_unread_total") > unread, 60, "it to be skipped")
        for _ in range(3):
            one = name()
            assert is_tenant(stack.create_pod(one, fraction="0.9", **on(where)))
            stack.wait_running(one)
            stack.api.delete("pods", one, "default")
            wait_gone(stack, one)
    finally:
        stack.api.delete("pods", bad, "default")
        wait_gone(stack, bad)
