"""Pods that are hard to read hold their GPU all the same."""

import contextlib

from api import ApiError
from helpers import capacity_on, is_tenant, is_whole, on, pin, placed, wait_gone
from invariants import note
from waiting import wait_until
from watching import PodWatch

# One more than the controller takes of values in one object.
MANY = 60000


def reason(pod):
    return placed(pod).get("reason")


def relist(stack):
    """Everything is looked at again, as it is by itself after some minutes."""
    leader = stack.leader()
    before = leader.metric("aliquot_watch_relists_total")
    leader.get("/debug/relist", method="POST")
    wait_until(lambda: leader.metric("aliquot_watch_relists_total") >= before + 5, 60, "a relist")
    wait_until(lambda: leader.dump()["synced"], 60, "all caches to be complete")


def test_a_pod_with_u0000_is_counted_on_its_node(stack, node, name):
    """In an annotation that the controller looks at. It runs on the node's only GPU, which nobody opens."""
    where, holder, late = node(), name(), name()
    leader = stack.leader()
    unread = leader.metric("aliquot_watch_unread_total")
    made = stack.create_pod(holder, annotations={"cdi.k8s.io/test": "a\0b"}, **on(where))
    assert is_whole(made) and made["metadata"]["annotations"]["cdi.k8s.io/test"] == "a\0b"
    stack.wait_running(holder)
    wait_until(lambda: leader.dump()["nodes"].get(where, {}).get("gpus") == 1, 60, "it to be counted")
    assert leader.metric("aliquot_watch_unread_total") == unread
    assert is_tenant(stack.create_pod(late, fraction="0.5", **on(where)))
    told = stack.wait_pod(late, lambda pod: reason(pod) is not None)
    assert reason(told) == "NodeUnfit", placed(told)
    assert not capacity_on(stack, where)
    # It leaves, and the other gets what was really free.
    stack.api.delete("pods", holder, "default", grace=0)
    stack.wait_running(late)


def test_a_pod_that_cannot_be_read_stops_nobody(stack, node, name):
    """One with more tolerations than the controller reads runs on the only GPU of its node. What looks
    free there the scheduler refuses; elsewhere everything goes on."""
    full, huge, late, other = node(), name(), name(), name()
    leader = stack.leader()
    unread = leader.metric("aliquot_watch_unread_total")
    tolerations = [{"key": "a"}] * MANY
    assert is_whole(stack.create_pod(huge, tolerations=tolerations, **on(full)))
    opened = set()

    def look(pods):
        opened.update((p["status"]["phase"], note(p, "grants")) for p in pods if pin(p) == full)
    try:
        wait_until(lambda: leader.metric("aliquot_watch_unread_total") > unread, 60, "it to be skipped")
        stack.wait_running(huge)
        # One that the scheduler refuses is given up after some seconds, and another one is tried later.
        with PodWatch(stack.api, "aliquot-system", "aliquot.dev/capacity=true", look):
            assert is_tenant(stack.create_pod(late, fraction="0.5", **on(full)))
            wait_until(lambda: opened, 60, "a GPU to be opened")
            assert is_tenant(stack.create_pod(other, fraction="0.5", **on(node())))
            stack.wait_running(other)
        assert opened == {("Pending", None)}, opened
    finally:
        with contextlib.suppress(ApiError):
            stack.api.delete("pods", huge, "default", grace=0)
        wait_gone(stack, huge)
        relist(stack)
    # It has left, and the other gets what was really free.
    stack.wait_running(late)
