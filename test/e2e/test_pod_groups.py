"""Pods of PodGroups (KEP-5547) on an API server and a scheduler that have them: only those of a Basic one are no gang (C4)."""

import os

import pytest

import controlplane
import invariants
from asking import create_warned
from helpers import is_tenant, is_whole
from stack import Stack
from waiting import wait_until

GROUPS = "podgroups.scheduling.k8s.io/v1alpha2"
GATES = "--feature-gates=GenericWorkload=true"
GANG = {"gang": {"minCount": 2}}
BASIC = {"basic": {}}


@pytest.fixture(scope="module", name="plane")
def _plane():
    """One of its own: what these gates change is not for everybody's tests."""
    with controlplane.ControlPlane.up(
            with_parent=os.getpid(), scheduler_args=("--feature-gates=GenericWorkload=true,GangScheduling=true",),
            apiserver_args=(GATES, "--runtime-config=scheduling.k8s.io/v1alpha2=true"), kcm_args=(GATES,)) as found:
        yield found


@pytest.fixture(scope="module", name="stack")
def _stack(plane):
    with Stack.up(plane, nodes=[("one-%d" % i, 1) for i in range(2)], arguments=["--idle-grace-seconds=2"]) as found:
        yield found
        assert not found.findings(), found.findings()


def make_group(stack, name, policy, **spec):
    return stack.api.create(GROUPS, {
        "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"}, "spec": {"schedulingPolicy": policy, **spec}})


def known(stack):
    return stack.leader().metric("aliquot_pod_groups_basic")


def dry(stack, name, group):
    """What would become of a pod of that group: (it, warnings)."""
    return create_warned(stack.api, stack.pod(name, fraction="0.25", schedulingGroup={"podGroupName": group}),
                         dryRun="All")


def test_c4_a_pod_of_a_basic_group_is_a_tenant_and_runs(stack):
    before = known(stack)
    make_group(stack, "loose", BASIC)
    wait_until(lambda: known(stack) == before + 1, 30, "the group to be seen")
    for name in ("loose-a", "loose-b"):
        stack.create_pod(name, fraction="0.25", schedulingGroup={"podGroupName": "loose"})
    for name in ("loose-a", "loose-b"):
        stack.wait_running(name)
        assert is_tenant(stack.api.get("pods", name, "default"))
    wait_until(lambda: invariants.Picture(stack.api).check(), 60, "I1 to I3", ignore=(AssertionError,))


def test_c4_a_gang_and_what_is_not_known_stay_whole(stack):
    make_group(stack, "gang", GANG)
    before = known(stack)
    make_group(stack, "witness", BASIC)
    # Events of one kind come in their order: what was made before the witness has been seen, too.
    wait_until(lambda: known(stack) == before + 1, 30, "the second group to be seen")
    for group in ("gang", "nobody-made-it"):
        pod, warnings = dry(stack, "of-" + group, group)
        assert is_whole(pod)
        assert any("PodGroup that is not known as Basic" in text for text in warnings), warnings
    assert is_tenant(dry(stack, "of-witness", "witness")[0])


def test_c4_a_group_that_is_gone_is_not_known_any_more(stack):
    before = known(stack)
    make_group(stack, "brief", BASIC)
    wait_until(lambda: is_tenant(dry(stack, "of-brief", "brief")[0]), 30, "the group to be seen")
    stack.api.delete(GROUPS, "brief", "default")
    wait_until(lambda: is_whole(dry(stack, "of-brief", "brief")[0]), 30, "the group to be forgotten")
    wait_until(lambda: stack.api.find(GROUPS, "brief", "default") is None, 30, "its controller to let it go")
    assert known(stack) == before
    make_group(stack, "brief", GANG)
    assert is_whole(dry(stack, "of-brief", "brief")[0])
