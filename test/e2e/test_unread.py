"""Pods that are hard to read hold their GPU all the same."""

import contextlib

from api import ApiError
from helpers import capacity_on, is_tenant, is_whole, on, placed, wait_gone
from waiting import wait_until

# More than the controller parses of values in one object.
MANY = 60000


def reason(pod):
    return placed(pod).get("reason")


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


def test_a_pod_that_says_more_than_is_parsed_is_counted_on_its_node(stack, node, name):
    """One with more tolerations than the controller parses runs on the only GPU of its node. Nobody opens that GPU, and
    nothing has to be looked at again."""
    full, huge, late, other = node(), name(), name(), name()
    leader = stack.leader()
    unread, relists = leader.metric("aliquot_watch_unread_total"), leader.metric("aliquot_watch_relists_total")
    tolerations = [{"key": "a"}] * MANY
    try:
        assert is_whole(stack.create_pod(huge, tolerations=tolerations, **on(full)))
        stack.wait_running(huge)
        wait_until(lambda: leader.dump()["nodes"].get(full, {}).get("gpus") == 1, 60, "it to be counted")
        wait_until(lambda: leader.metric("aliquot_pods_cut") >= 1, 60, "it to be told of")
        assert is_tenant(stack.create_pod(late, fraction="0.5", **on(full)))
        told = stack.wait_pod(late, lambda pod: reason(pod) is not None)
        assert reason(told) == "NodeUnfit", placed(told)
        assert not capacity_on(stack, full)
        assert is_tenant(stack.create_pod(other, fraction="0.5", **on(node())))
        stack.wait_running(other)
    finally:
        with contextlib.suppress(ApiError):
            stack.api.delete("pods", huge, "default", grace=0)
        wait_gone(stack, huge)
    # It has left, and the other gets what was really free.
    stack.wait_running(late)
    assert leader.metric("aliquot_watch_unread_total") == unread
    assert leader.metric("aliquot_watch_relists_total") == relists
