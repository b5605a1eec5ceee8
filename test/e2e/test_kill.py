"""The controller is killed, at random moments while pods arrive and at writes that are named: nothing is lost,
nothing doubled."""

import random
import re
import time

import pytest

import boundaries
from arrivals import Arrivals
from helpers import FAULTS, is_tenant, new_seed, settle, wait_empty
from invariants import Picture
from waiting import wait_until

STACK = FAULTS
PODS, KILLS = 100, 10
# One pod's way, killed at each step of it; hack/soak kills has all of them.
SIX = ["after CreateCapacity", "before Grant", "after Grant", "before Place", "after Place", "after DeleteCapacity"]


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
    # Each life has a term of its own, although all have one name (C33).
    terms = [int(number) for number in re.findall('"msg":"leading","lease".*"term":(\\d+)', leader.log(1 << 20))]
    assert len(terms) >= KILLS / 2, "it hardly ever led"
    assert terms == sorted(set(terms)) and terms[-1] == leader.dump()["term"], terms
    assert webhook.alive() and not webhook.leads()
    arrivals.remove()
    wait_empty(stack)


def test_k9_one_way_killed_at_each_of_its_writes(stack, say):
    """Each life of the controller ends at the next write on the way of two pods, and the next one goes on from
    what is written. What it did twice would show."""
    wait_empty(stack)
    leader = stack.controllers[0]
    if not leader.can_crash():
        pytest.skip("this build does not end at writes; a sanitized one does")
    # On one GPU: an entry of somebody whom a new controller has never seen is held for minutes (C22).
    stories = boundaries.Stories(stack, "way", 2)
    began = time.monotonic()
    stories.crash(SIX[0])
    for boundary in SIX[1:5]:
        leader.arm(boundary)
        leader.start(wait_ready=False)
        leader.wait_crashed()
        picture = Picture(stack.api).check()
        assert len(picture.capacity) == 1 and len(picture.tenants) == 2, boundary
    leader.start(wait_ready=False)
    stack.heal()
    settled(stack)
    leader.arm(SIX[5])
    stories.remove()
    leader.wait_crashed()
    leader.start(wait_ready=False)
    wait_empty(stack)
    stack.heal()
    say("killed at %d writes, %.1f s" % (len(SIX), time.monotonic() - began))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("boundary", ["after CheckpointStatus", "before Resize"])
def test_r11_killed_while_it_measures(stack, boundary):
    """The next life comes to the same target, with one object of each and none that nobody owns."""
    wait_empty(stack)
    if not stack.controllers[0].can_crash():
        pytest.skip("this build does not end at writes; a sanitized one does")
    boundaries.Stories(stack, boundary.split()[1].lower()).tell(boundary)


def test_every_write_has_a_story():
    """hack/soak kills leads the controller to each, or it is said why not."""
    names = boundaries.names()
    assert len(names) >= 16 and sorted(names) == sorted([*boundaries.STORIES, *boundaries.ELSEWHERE])
    assert all(hasattr(boundaries.Stories, how) for how in boundaries.STORIES.values())
    assert set(SIX) < set(boundaries.every())


def settled(stack):
    wait_until(lambda: Picture(stack.api).check_settled(), 60, lambda: "rest\n" + stack.logs(),
               ignore=(AssertionError,))
