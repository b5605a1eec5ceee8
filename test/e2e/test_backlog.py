"""C2, Backlog: who waits for more than a minute for a reason that is ours stops conversion, for its
own namespace first, and for everybody once there are two."""

import time

import pytest

from asking import create_warned, namespace
from helpers import is_tenant, is_whole, on, placed
from waiting import holds_for, wait_until

# A capacity pod that is given up begins the minute of its tenant anew: none is, here.
STACK = {"nodes": [("late-0", 1), ("late-1", 1)],
         "arguments": ["--idle-grace-seconds=2", "--open-timeout-seconds=1800"]}
BACKLOG = 'aliquot_admission_total{verdict="whole",reason="Backlog"}'
SENTENCE = "left whole: other pods have waited too long for their share"


def converted(stack, space):
    """Whether a pod would be, there and now; where not, its creator is told why."""
    pod, warnings = create_warned(stack.api, stack.pod("probe", space, fraction="0.5"), dryRun="All")
    assert is_tenant(pod) or is_whole(pod) and any(SENTENCE in text for text in warnings), warnings
    return is_tenant(pod)


def wait(stack, space, wanted, timeout):
    """A busy machine may let the webhook's time pass, which looks like neither."""
    wait_until(lambda: converted(stack, space) == wanted, timeout,
               "pods of %s %s" % (space, "to be converted" if wanted else "to be left whole"),
               ignore=(AssertionError,))


def stuck(stack, space, where):
    """A tenant that waits for a capacity pod which never tells its GPU; when it was made."""
    stack.kubelet.fault("no-identity", node=where)
    assert is_tenant(stack.create_pod("stuck", namespace=space, fraction="0.5", **on(where)))
    return time.monotonic()


# A minute for the one and a minute for the other, of which some is the same.
@pytest.mark.timeout(400)
def test_c2_tenants_that_wait_in_vain_stop_conversion(stack, node, say):
    first, second = node(), node()
    leader = stack.leader()
    with namespace(stack) as mine, namespace(stack) as theirs, namespace(stack) as others:
        try:
            counted, began = leader.metric(BACKLOG), stuck(stack, mine, first)
            told = stack.wait_pod("stuck", lambda pod: placed(pod).get("reason") ==
                                  "WaitingForCapacity", 60, mine)
            assert placed(told)["status"] == "False"
            # The other one's minute is over so much later: until then it is seen what the first does alone.
            holds_for(lambda: leader.metric("aliquot_conversion_open") == 1 and
                      placed(stack.get_pod("stuck", mine)).get("reason") == "WaitingForCapacity", 15, stack.logs)
            later = stuck(stack, theirs, second)
            # One namespace hurts itself alone, for as long as it is the only one.
            wait(stack, mine, False, 120)
            say("closed for its own namespace after %.1f s" % (time.monotonic() - began))
            assert time.monotonic() - began > 58
            for space in (others, theirs):
                wait(stack, space, True, 60)
            assert leader.metric("aliquot_conversion_open") == 1
            wait(stack, others, False, 120)
            say("and for all %.1f s after the second was made" % (time.monotonic() - later))
            assert time.monotonic() - later > 58
            assert leader.metric("aliquot_conversion_open") == 0
            assert leader.metric(BACKLOG) >= counted + 2
        finally:
            for where in (first, second):
                stack.kubelet.fault("no-identity", node=where, on=False)
            for space in (mine, theirs):
                stack.api.delete("pods", "stuck", space, grace=0)
        # It would open again by itself (test_closing), after another minute. Who begins finds nobody who waits.
        assert leader.stop() == 0
        stack.heal()
        wait(stack, others, True, 60)
