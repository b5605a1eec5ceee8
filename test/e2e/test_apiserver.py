"""The API server restarts under the controller, which recovers without a restart of its own."""

import random
import time

from arrivals import Arrivals
from helpers import FAULTS, gates, is_tenant, new_seed, on, settle, wait_empty
from invariants import P
from waiting import wait_until

STACK = FAULTS


def pids(stack):
    return [c.record["pid"] for c in stack.controllers if c.alive()]


def test_the_api_server_restarts(stack, node, name, say):
    """Who waited before is placed, who comes right afterwards too."""
    where, first, waits = node(), name(), name()
    before = pids(stack)
    stack.create_pod(first, fraction="0.9", **on(where))
    stack.wait_running(first)
    assert gates(stack.create_pod(waits, fraction="0.9", **on(where))) == [P + "gpu"]
    stack.plane.restart("kube-apiserver")
    began = time.monotonic()
    after, elsewhere = name(), node()
    stack.create_surely(after, fraction="0.5", **on(elsewhere))
    stack.wait_running(after, 60)
    say("a pod ran %.1f s after the API server was back" % (time.monotonic() - began))
    for controller in stack.controllers:
        controller.wait_open()
    stack.wait_converting()
    say("pods are converted %.1f s after it" % (time.monotonic() - began))
    share = name()
    assert is_tenant(stack.create_surely(share, fraction="0.5", **on(node())))
    stack.wait_running(share)
    stack.api.delete("pods", first, "default")
    stack.wait_running(waits, 60)
    assert pids(stack) == before, "a controller was replaced"


def test_the_watches_break_while_pods_arrive(stack, say):
    """The API server crashes in the middle of twenty arrivals."""
    seed = new_seed()
    say("seed %d" % seed)
    before = pids(stack)
    wait_empty(stack)
    arrivals = Arrivals(stack, random.Random(seed), 20, 0.1, "cut")
    arrivals.start()
    wait_until(lambda: len(arrivals.made) >= 8, 60, "eight pods")
    stack.plane.restart("kube-apiserver", crash=True)
    picture, took = settle(stack, arrivals)
    say("%d tenants, %d whole pods, quiet %.1f s after the last arrival" % (
        len(picture.tenants), len(picture.whole), took))
    assert len(picture.placed) >= 8 and len(picture.placed) + len(picture.whole) >= 20
    assert pids(stack) == before, "a controller was replaced"
    arrivals.remove()
    wait_empty(stack)
