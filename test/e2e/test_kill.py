"""The controller is killed over and over while pods arrive: nothing is lost, nothing doubled."""

import random
import time

from arrivals import Arrivals
from helpers import FAULTS, is_tenant, new_seed, settle, wait_empty
from invariants import Picture

STACK = FAULTS
PODS, KILLS = 100, 10


def test_ten_kills_during_a_hundred_arrivals(stack, say):
    """More is asked for than there is: whoever waits at the end must fit nowhere."""
    seed = new_seed()
    say("seed %d" % seed)
    rng = random.Random(seed)
    wait_empty(stack)
    leader, webhook = stack.controllers
    arrivals = Arrivals(stack, rng, PODS, 0.15, "kill")
    arrivals.start()
    for _ in range(KILLS):
        time.sleep(rng.uniform(0, 2.5))
        leader.kill()
        Picture(stack.api).check()
        leader.start(wait_ready=False)
    picture, took = settle(stack, arrivals)
    tenants = [pod for pod in picture.tenants if pod["metadata"]["name"] in arrivals.made]
    say("%d tenants, %d placed, %d whole pods; quiet %.1f s after the last arrival" % (
        len(tenants), len(picture.placed), len(picture.whole), took))
    assert len(tenants) + len(picture.whole) == PODS
    # The replica that lives converts all along; a call that a killed one had may fail.
    assert len(tenants) >= PODS - 2 * KILLS
    assert all(is_tenant(pod) for pod in picture.placed)
    assert leader.log(1 << 20).count('"msg":"leading","lease"') >= KILLS / 2, "it hardly ever led"
    assert webhook.alive() and not webhook.leads()
    arrivals.remove()
    wait_empty(stack)
