"""Two replicas, one Lease: who takes over, how soon, and who may not write any more (C33)."""

import random
import time

import processes
from helpers import STEADY_TWO, gates, is_tenant, new_seed, note, on
from invariants import P, Picture
from waiting import wait_until

STACK = STEADY_TWO
LEASE_S = 12


def pair(stack):
    """(leader, standby)"""
    leader = stack.wait_leader()
    return leader, next(c for c in stack.controllers if c is not leader)


def identity(controller):
    assert controller.leads()
    return controller.dump()["holder"]


def test_the_leader_is_killed(stack, node, name, say):
    """The other places a new pod within 20 s of the kill."""
    leader, standby = pair(stack)
    pod_name = name()
    began = time.monotonic()
    leader.kill()
    stack.wait_converting(10)
    made = stack.create_pod(pod_name, fraction="0.5", **on(node()))
    assert is_tenant(made) and gates(made) == [P + "gpu"]
    stack.wait_running(pod_name)
    took = time.monotonic() - began
    say("a new pod ran %.1f s after the leader was killed" % took)
    assert took < 20
    assert standby.leads() and stack.holder() == identity(standby)


def test_the_leader_is_asked_to_end(stack, node, name, say):
    """It gives the Lease back: the other leads long before that would have expired."""
    leader, standby = pair(stack)
    began = time.monotonic()
    leader.terminate()
    wait_until(standby.leads, 10, "the standby to lead", every=0.02)
    took = time.monotonic() - began
    say("the standby led %.1f s after SIGTERM" % took)
    assert leader.stop() == 0
    say("the former leader was gone %.1f s after SIGTERM" % (time.monotonic() - began))
    assert not leader.findings()
    assert took < 5, "it waited for the Lease, as if it had not been given back"
    pod_name = name()
    stack.wait_converting(10)
    assert is_tenant(stack.create_pod(pod_name, fraction="0.5", **on(node())))
    stack.wait_running(pod_name)


def test_c33_a_leader_that_slept_does_not_write(stack, node, name, say):
    """C2 and C33: the leader is frozen, the standby converts, leads and places. When the leader goes
    on, it is full of news and of the belief that it leads; not one action may come of that."""
    leader, standby = pair(stack)
    where = node(8)
    names = [name() for _ in range(8)]
    acted, wrote = leader.metric("aliquot_actions_total"), leader.writes()
    began = time.monotonic()
    leader.pause()
    stack.wait_converting(10)
    for pod_name in names:
        assert is_tenant(stack.create_pod(pod_name, fraction="0.6", **on(where)))
    wait_until(standby.leads, 30, "the standby to lead")
    say("the standby led %.1f s after the leader froze" % (time.monotonic() - began))
    assert time.monotonic() - began > LEASE_S / 2, "it did not wait for the Lease to expire"
    pods = [stack.wait_running(pod_name) for pod_name in names]
    late = name()
    assert is_tenant(stack.create_pod(late, fraction="0.6", **on(where)))
    version = Picture(stack.api).check()
    leader.resume()
    uids = {pod["metadata"]["uid"] for pod in pods}

    def knows_all():
        told = {t["name"]: t for t in leader.dump()["tenants"]}
        return late in told and all(told.get(n, {}).get("uuid") for n in names)
    wait_until(knows_all, 20, "the former leader to hear of everything")
    wait_until(lambda: leader.dump()["holder"] == stack.holder(), 20, "it to know who leads")
    assert not leader.leads() and standby.leads()
    assert leader.metric("aliquot_actions_total") == acted, "it acted without the Lease"
    # At most the renewals before it froze.
    assert leader.writes() - wrote <= 2
    assert uids == {p["metadata"]["uid"] for p in version.placed} & uids
    again = {p["metadata"]["uid"]: p for p in Picture(stack.api).check().placed}
    assert [note(again[p["metadata"]["uid"]], "gpu-uuid") for p in pods] == \
        [note(p, "gpu-uuid") for p in pods]


def test_a_leader_freezes_in_the_middle_of_its_work(stack, node, name, say):
    """What it had begun the other finishes; nobody gets two shares, no GPU too many tenants."""
    seed = new_seed()
    say("seed %d" % seed)
    rng = random.Random(seed)
    leader, standby = pair(stack)
    where = node(8)
    names = [name() for _ in range(20)]
    made = [stack.create_pod(pod_name, fraction="0.4", **on(where)) for pod_name in names[:10]]
    time.sleep(rng.uniform(0, 0.3))
    leader.pause()
    stack.wait_converting(10)
    made += [stack.create_pod(pod_name, fraction="0.4", **on(where)) for pod_name in names[10:]]
    assert all(is_tenant(pod) for pod in made)
    wait_until(standby.leads, 30, "the standby to lead")
    leader.resume()
    # 16 of them fit on eight GPUs.
    def placed():
        picture = Picture(stack.api).check()
        return sum(p["metadata"]["name"] in names for p in picture.placed) == 16
    wait_until(placed, 60, "sixteen to be placed")
    wait_until(lambda: not leader.leads(), 20, "the former leader to notice")
    assert stack.leaders() == [standby]
    assert processes.alive(leader.record)
