"""C2: pods start whole while nobody is there to place them, and the gated ones are not forgotten."""

import datetime
import time

from helpers import FAULTS, P, gates, is_tenant, is_whole, note, on, seen, wait_empty
from waiting import wait_until

STACK = FAULTS
AWAY = 'aliquot_admission_total{verdict="whole",reason="ControllerAway"}'
TIMEOUT_S = 2  # timeoutSeconds of the webhook
FRESH_S, LOOK_S = 20, 2  # C2, and how often a replica that does not lead looks at the Lease


def ages_of_conversion(stack, webhook):
    """Reviews, one after the other, until one is not converted because nobody leads. How long ago the Lease was renewed when the
    last one that was converted was sent, and when the first one that was not was answered."""
    last, deadline = time.time(), time.monotonic() + 60
    while True:
        sent = time.time()
        if stack.converts():
            last = sent
        elif webhook.metric("aliquot_conversion_open") == 0:
            break
        assert time.monotonic() < deadline, "it converts for more than a minute"
    closed = time.time()
    lease = stack.api.get("leases", "aliquot-controller", "aliquot-system")["spec"]["renewTime"]
    renewed = datetime.datetime.fromisoformat(lease.replace("Z", "+00:00")).timestamp()
    return last - renewed, closed - renewed


def start_whole(stack, node, name, say):
    """A pod with a share is created: it is left whole, and runs."""
    pod_name, began = name(), time.monotonic()
    made = stack.create_pod(pod_name, fraction="0.5", **on(node()))
    took = time.monotonic() - began
    say("created whole in %.2f s" % took)
    assert is_whole(made), made["metadata"]
    pod = stack.wait_running(pod_name)
    assert len(seen(stack, pod)) == 1 and not is_tenant(pod)
    return took


def share_again(stack, node, name):
    """Shares are given again."""
    pod_name = name()
    # Either may be asked.
    for controller in stack.controllers:
        controller.wait_open()
    stack.wait_converting()
    assert is_tenant(stack.create_pod(pod_name, fraction="0.5", **on(node())))
    stack.wait_running(pod_name)


def test_c2_frozen_leader_and_nobody_else_can_lead(stack, node, name, say):
    """The webhook answers all the time; 20 s after the last renewal that it saw it leaves pods whole, and it looks every
    two seconds. What it converted before waits, and is placed as soon as the leader goes on."""
    leader, webhook = stack.controllers
    early = name()
    leader.pause()
    stack.wait_converting(10)
    made = stack.create_pod(early, fraction="0.5", **on(node()))
    assert is_tenant(made) and gates(made) == [P + "gpu"]
    last, closed = ages_of_conversion(stack, webhook)
    say("converted %.1f s after the last renewal, not after %.1f s" % (last, closed))
    assert closed >= FRESH_S and last < FRESH_S + LOOK_S + 1
    counted = webhook.metric(AWAY)
    assert start_whole(stack, node, name, say) < TIMEOUT_S
    assert webhook.metric(AWAY) == counted + 1
    pod = stack.get_pod(early)
    assert gates(pod) == [P + "gpu"] and note(pod, "gpu-uuid") is None
    leader.resume()
    began = time.monotonic()
    stack.wait_running(early)
    say("placed %.1f s after the leader went on" % (time.monotonic() - began))
    share_again(stack, node, name)


def test_c2_all_frozen(stack, node, name, say):
    """Nobody answers: the API server's patience ends after timeoutSeconds, and the pod is whole."""
    for controller in stack.controllers:
        controller.pause()
    assert start_whole(stack, node, name, say) < TIMEOUT_S + 3
    assert start_whole(stack, node, name, say) < TIMEOUT_S + 3
    for controller in stack.controllers:
        controller.resume()
    share_again(stack, node, name)


def test_all_away_and_back(stack, node, name, say):
    """No process at all, nobody listens; then they are started again."""
    # The tenants of the test before are on their way out. Whoever goes while nobody is there to see it holds
    # its share for minutes (C22), longer than the next tests wait.
    wait_empty(stack)
    for controller in stack.controllers:
        controller.kill()
    start_whole(stack, node, name, say)
    for controller in stack.controllers:
        controller.start()
    share_again(stack, node, name)
