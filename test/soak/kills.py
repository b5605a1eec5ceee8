#!/usr/bin/env python3
"""The controller killed at each of its writes, then over and over while pods arrive: nothing lost or doubled.

build: sanitized
smoke: --rounds 1 --boundaries 1 --fresh

First it ends once before and once after each kind of write that it makes (test/lib/boundaries.py), is started
again, and must make good what was half done. Then come rounds. A round is 100 arrivals with ten disturbances: a
SIGKILL of the leader or, now and then, of the replica that serves the webhook, or a freeze and a thaw; then
everything must come to rest with every promise kept, half of the pods leave, and those that waited move up. The bar
is every boundary and 20 rounds without a violation, three quarters of an hour; state is kept after each of them, for
one state of the sources.
"""

import argparse
import json
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(TREE, "test", part) for part in ("lib", "fake", "e2e")]

import agents  # noqa: E402
import boundaries  # noqa: E402
import controlplane  # noqa: E402
from arrivals import Arrivals  # noqa: E402
from helpers import FAULTS, all_gpus, wait_empty  # noqa: E402
from invariants import Picture, check_devices  # noqa: E402
from soaking import State  # noqa: E402
from stack import Stack  # noqa: E402
from waiting import wait_until  # noqa: E402

BAR, PODS, DISTURBANCES = 20, 100, 10
# A sanitizer's finding ends the process at once and is in its log.
SANITIZERS = {"ASAN_OPTIONS": "halt_on_error=1:detect_leaks=1:exitcode=99",
              "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99"}


def disturb(stack, rng):
    """One kill or freeze, at a random moment; the invariants hold at once. True for a kill."""
    leader, webhook = stack.controllers
    time.sleep(rng.uniform(0, 2.5))
    victim = webhook if rng.random() < 0.2 else leader
    kills = rng.random() >= 0.15
    if not kills:
        victim.pause()
        time.sleep(rng.uniform(0, 3))
        victim.resume()
    else:
        victim.kill()
        Picture(stack.api).check()
        victim.start(wait_ready=False)
    Picture(stack.api).check()
    return kills


def rest(stack, arrivals):
    """How long it took until nothing was under way, and the picture then."""
    began = time.monotonic()
    picture = wait_until(lambda: Picture(stack.api).check_quiet(all_gpus(stack)), 120, "quiet",
                         ignore=(AssertionError,))
    arrivals.check_all_there()
    check_devices(picture, stack.kubelet.state())
    return time.monotonic() - began, picture


def half_leaves(stack, rng, arrivals):
    """Those that waited move up. Entries of the gone may stay beside others until the next write."""
    for name in rng.sample(sorted(arrivals.made), PODS // 2):
        stack.api.delete("pods", name, "default")
        del arrivals.made[name]

    def moved_up():
        picture = Picture(stack.api).check()
        assert all(p["metadata"]["name"] in arrivals.made for p in picture.tenants), "still leaving"
        assert len(picture.placed) == len(picture.tenants), "somebody waits although half have left"
    wait_until(lambda: moved_up() or True, 120, "the rest to be placed", ignore=(AssertionError,))


def one_round(stack, seed, number, counts):
    rng = random.Random(seed)
    stack.heal()
    wait_empty(stack)
    arrivals = Arrivals(stack, rng, PODS, 0.15, "r%d" % number)
    arrivals.start()
    for _ in range(DISTURBANCES):
        counts["kills"] += disturb(stack, rng)
    arrivals.finish()
    took, picture = rest(stack, arrivals)
    counts["whole"] += len(picture.whole)
    counts["slowest_rest_s"] = max(counts["slowest_rest_s"], round(took, 1))
    half_leaves(stack, rng, arrivals)
    assert not stack.findings(), stack.findings()
    arrivals.remove()
    wait_empty(stack)


def cross(state, stack, todo):
    """Each of these boundaries once; False where one was not made good. What it left is not built on."""
    counts = state.counts
    stories = boundaries.Stories(stack)
    for boundary in todo:
        began = time.monotonic()
        try:
            stories.tell(boundary)
            assert not stack.findings(), stack.findings()
        except AssertionError as error:
            counts["violations"] += 1
            counts["boundaries_broken"].append(boundary)
            print("%s: %s" % (boundary, error), flush=True)
            state.save()
            return False
        counts["boundaries"].append(boundary)
        counts["kills"] += 1
        state.save()
        print("%s: made good, %.1f s" % (boundary, time.monotonic() - began), flush=True)
    return True


def run(state, todo, rounds):
    counts = state.counts
    with controlplane.ControlPlane.up(with_parent=os.getpid()) as plane, \
            Stack.up(plane, service=True, **FAULTS) as stack:
        # Who left while nobody led is known to be gone by the word of agents, or after five minutes (C22).
        agents.start(stack, [node["name"] for node in stack.nodes])
        if not stack.controllers[0].can_crash():
            print("this build does not end at writes: no boundaries", flush=True)
        elif not cross(state, stack, todo):
            return
        for _ in range(rounds):
            seed = random.SystemRandom().randrange(1 << 32)
            number = counts["rounds"]
            try:
                one_round(stack, seed, number, counts)
            except AssertionError as error:
                counts["violations"] += 1
                counts["seeds_of_violations"].append(seed)
                print("round %d, seed %d: %s" % (number, seed, error), flush=True)
                state.save()
                return
            counts["rounds"] += 1
            counts["pods"] += PODS
            state.save()
            print("round %d, seed %d: kept" % (number, seed), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="hack/soak kills", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how many now; without it, up to the bar of %d" % BAR)
    parser.add_argument("--boundaries", type=int, help="how many of them now; without it, all that are left")
    parser.add_argument("--fresh", action="store_true", help="count for this run only")
    options = parser.parse_args()
    os.environ.update(SANITIZERS)
    state = State("kills", {"rounds": 0, "kills": 0, "pods": 0, "whole": 0, "slowest_rest_s": 0.0, "violations": 0,
                            "seeds_of_violations": [], "boundaries": [], "boundaries_broken": []}, options.fresh)
    counts, every = state.counts, boundaries.every()
    todo = [b for b in every if b not in counts["boundaries"]][:options.boundaries]
    rounds = max(0, options.rounds if options.rounds is not None else BAR - counts["rounds"])
    if todo or rounds:
        run(state, todo, rounds)
    counts["bar"] = "%d boundaries and %d rounds without a violation" % (len(every), BAR)
    counts["holds"] = len(counts["boundaries"]) == len(every) and counts["rounds"] >= BAR and counts["violations"] == 0
    counts["boundaries"] = len(counts["boundaries"])
    print(json.dumps(counts))
    return 0 if counts["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
