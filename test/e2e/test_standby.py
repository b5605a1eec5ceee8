"""Two replicas, one Lease: who takes over, how soon, and who may not write any more (C33)."""

import contextlib
import datetime
import random
import threading
import time

import pytest

import processes
from api import ApiError
from helpers import STEADY_TWO, gates, is_tenant, is_whole, new_seed, note, on, wait_empty
from invariants import P, Picture
from waiting import wait_until

LINGER_S = 3
STACK = {**STEADY_TWO, "arguments": [*STEADY_TWO["arguments"], "--linger-seconds=%d" % LINGER_S]}
LEASE_S = 12
AWAY = 'aliquot_admission_total{verdict="whole",reason="ControllerAway"}'
OTHER_GATE = "example.com/not-yet"


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
    stack.wait_converting()
    made = stack.create_pod(pod_name, fraction="0.5", **on(node()))
    assert is_tenant(made) and gates(made) == [P + "gpu"]
    stack.wait_running(pod_name)
    took = time.monotonic() - began
    say("a new pod ran %.1f s after the leader was killed" % took)
    assert took < 20
    assert standby.leads() and stack.holder() == identity(standby)


def test_c2_a_new_replica_is_ready_when_it_would_convert(stack, say):
    """Whoever is sent to it by its readiness does not start whole because it is new."""
    _, standby = pair(stack)
    standby.kill()
    began = time.monotonic()
    standby.start(wait_ready=False)
    standby.wait_ready()
    say("ready %.1f s after its start" % (time.monotonic() - began))
    assert standby.metric("aliquot_conversion_open") == 1


def test_c2_without_a_leader_a_replica_is_ready_all_the_same(stack, node, name, say):
    """Pods start whole there, at once: nobody would answer them otherwise."""
    # A tenant that the test before left, and that went while nobody looked, would have its share kept for minutes (C22).
    wait_empty(stack)
    for controller in stack.controllers:
        controller.kill()
    alone = stack.add_controller(["--never-lead"], wait_ready=False)
    try:
        began = time.monotonic()
        alone.wait_ready()
        say("ready %.1f s after its start" % (time.monotonic() - began))
        assert alone.metric("aliquot_conversion_open") == 0
        assert stack.leader() is None
        wait_until(lambda: stack.service.ready() == (alone.webhook_port,), 60, "connections to go there")
        whole = alone.metric(AWAY)
        assert is_whole(stack.create_pod(name(), fraction="0.5", **on(node())))
        assert alone.metric(AWAY) == whole + 1
    finally:
        stack.controllers.remove(alone)
        assert alone.stop() == 0 and not alone.findings()
        # Whoever begins now need not see that it is not renewed.
        stack.api.patch("leases", "aliquot-controller", {"spec": {"holderIdentity": ""}}, "aliquot-system")


def term(stack):
    """The number of the Lease, which every acquisition raises."""
    return stack.api.get("leases", "aliquot-controller", "aliquot-system")["spec"]["leaseTransitions"]


def kept_term(stack):
    """The same in the object that keeps it."""
    return stack.api.get("leases", "aliquot-term", "aliquot-system")["spec"]["leaseTransitions"]


def late_placement(stack, pod_name, number, **options):
    """A placement of that term as it would arrive now, with the rights of a controller."""
    while True:
        meta = stack.get_pod(pod_name)["metadata"]
        body = placement(meta, number)
        try:
            return stack.plane.client("controller").patch("pods", pod_name, body, "default", **options)
        except ApiError as error:
            # The scheduler, or the one that leads, has written it since.
            if error.status != 409:
                raise


def wait_fenced(stack, pod_name, number):
    """Until the API server refuses a placement of that term: its policy reads the Lease from a cache."""
    def refused():
        try:
            late_placement(stack, pod_name, number, dryRun="All")
        except ApiError as error:
            return error.status == 403 and "'aliquot-term'" in error.message
        return False
    wait_until(refused, 60, "placements of term %d to be refused" % number)


def wait_converted_elsewhere(stack, frozen):
    """Until no new connection goes to the frozen one, and pods are converted."""
    wait_until(lambda: frozen.webhook_port not in stack.service.ready(), 60, "connections to go elsewhere")
    stack.wait_converting()


def placement(meta, number):
    return {"metadata": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"], "annotations": {
        P + "gpu-uuid": "GPU-late", P + "visible-devices": "GPU-late", P + "compute-milli": "300",
        P + "memory-mib": "8192", P + "capacity-pod": "capacity-late", P + "term": str(number)}},
        "spec": {"schedulingGates": [{"name": OTHER_GATE}]}}


@contextlib.contextmanager
def kept(stack):
    """Whoever has the Lease keeps it, though it be silent: it is renewed on its behalf."""
    over = threading.Event()

    def renew():
        while not over.wait(1):
            now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            with contextlib.suppress(ApiError):
                stack.api.patch("leases", "aliquot-controller", {"spec": {"renewTime": now}}, "aliquot-system")
    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(60)


def test_the_leader_is_asked_to_end(stack, node, name, say):
    """It lingers, and then gives the Lease back: the other leads long before that would have expired."""
    leader, standby = pair(stack)
    before = term(stack)
    began = time.monotonic()
    leader.terminate()
    wait_until(standby.leads, 60, "the standby to lead", every=0.02)
    took = time.monotonic() - began
    say("the standby led %.1f s after SIGTERM" % took)
    assert leader.stop() == 0
    say("the former leader was gone %.1f s after SIGTERM" % (time.monotonic() - began))
    assert not leader.findings()
    assert took < LINGER_S + 5, "it waited for the Lease, as if it had not been given back"
    assert term(stack) == kept_term(stack) == before + 1
    pod_name = name()
    stack.wait_converting()
    assert is_tenant(stack.create_pod(pod_name, fraction="0.5", **on(node())))
    stack.wait_running(pod_name)


def test_a_replica_that_is_asked_to_end_lets_nobody_start_whole(stack, say):
    """Where the Service has not heard of it yet, reviews still come to it: here the API server asks nobody else."""
    served = stack.controllers[0]
    stack.wait_converting()
    served.terminate()
    wait_until(lambda: served.get("/readyz", check=False)[0] != 200, 10, "it not to be ready", every=0.02)
    asked, until = 0, served.told_at + LINGER_S - 1
    while time.monotonic() < until:
        asked += 1
        assert stack.converts(), "%.1f s after SIGTERM\n%s" % (time.monotonic() - served.told_at, served.log())
    say("%d reviews after SIGTERM" % asked)
    assert asked > 5
    assert served.stop() == 0 and not served.findings()
    stack.wait_converting()
    served.start()


def test_c33_a_leader_that_slept_does_not_write(stack, node, name, say):
    """C2 and C33: the leader is frozen, the standby converts, leads and places. When the leader goes
    on, it believes that it leads, and there is a tenant that only needs its word: the other is kept
    from giving it. Not one action may come of that. What it had sent before and what arrives only now is
    refused by the API server; what the other says is done."""
    leader, standby = pair(stack)
    where, names, ripe = node(8), [name() for _ in range(8)], name()
    # What the test before left is over: a capacity pod that idles would be an action of its own.
    wait_empty(stack)
    before = term(stack)
    began = time.monotonic()
    acted, wrote = leader.metric("aliquot_actions_total"), leader.writes()
    leader.pause()
    froze = time.monotonic() - began
    wait_converted_elsewhere(stack, leader)
    for pod_name in names:
        assert is_tenant(stack.create_pod(pod_name, fraction="0.6", **on(where)))
    made = stack.create_pod(ripe, fraction="0.3", schedulingGates=[{"name": OTHER_GATE}], **on(where))
    assert sorted(gates(made)) == sorted([P + "gpu", OTHER_GATE])
    wait_until(standby.leads, 60, "the standby to lead")
    say("the standby led %.1f s after the leader froze" % (time.monotonic() - began))
    assert time.monotonic() - began > LEASE_S / 2, "it did not wait for the Lease to expire"
    wait_fenced(stack, ripe, before)
    with pytest.raises(ApiError) as caught:
        late_placement(stack, ripe, before)
    assert caught.value.status == 403 and "'aliquot-term'" in caught.value.message, caught.value
    late_placement(stack, ripe, before + 1, dryRun="All")
    pods = [stack.wait_running(pod_name) for pod_name in names]
    assert {note(pod, "term") for pod in pods} == {str(before + 1)} == {str(term(stack))}
    standby.pause()
    with kept(stack):
        stack.api.patch("pods", ripe, {"spec": {"schedulingGates": [{"name": P + "gpu"}]}}, "default")
        # The last news that it will get: it asks for no GPU, so nobody touches it.
        stack.create_pod(name(), gpus=0, **on(where))
        leader.resume()
        there = len(stack.api.list("pods"))
        wait_until(lambda: leader.dump()["pods"] == there, 60, "the former leader to hear of everything", ignore=(OSError,))
        wait_until(lambda: leader.dump()["holder"] == stack.holder(), 60, "it to know who leads",
                   every=0.02)
        assert not leader.leads()
        assert leader.metric("aliquot_actions_total") == acted, "it acted without the Lease"
        # At most the renewals before it froze.
        assert leader.writes() - wrote <= 2 + froze
        assert gates(stack.get_pod(ripe)) == [P + "gpu"]
        standby.resume()
    stack.wait_running(ripe)
    assert stack.leaders() == [standby]
    again = {p["metadata"]["uid"]: p for p in Picture(stack.api).check().placed}
    assert [note(again[p["metadata"]["uid"]], "gpu-uuid") for p in pods] == \
        [note(p, "gpu-uuid") for p in pods]


def test_c33_a_number_that_a_person_raised(stack, node, name, say):
    """Whoever leads is of an earlier term then, as far as anybody can tell. It takes the Lease anew, and
    what was refused meanwhile is placed."""
    leader, _ = pair(stack)
    where, first, second = node(8), name(), name()
    stack.create_pod(first, fraction="0.5", **on(where))
    stack.wait_running(first)
    before = term(stack)
    stack.create_pod(second, fraction="0.5", schedulingGates=[{"name": OTHER_GATE}], **on(where))
    stack.api.patch("leases", "aliquot-controller", {"spec": {"leaseTransitions": before + 5}}, "aliquot-system")
    # Before, a placement of the former term would still be right.
    wait_fenced(stack, second, before)
    began = time.monotonic()
    stack.api.patch("pods", second, {"spec": {"schedulingGates": [{"name": P + "gpu"}]}}, "default")
    pod = stack.wait_running(second)
    say("running %.1f s after it might; refused: %d" % (
        time.monotonic() - began, leader.log(1 << 20).count("the lease is in a later term: it is read again")))
    assert note(pod, "term") == str(before + 6) == str(term(stack)) == str(kept_term(stack))
    assert stack.leaders() == [leader] and "under the same name" in leader.log(1 << 20)


def test_c33_the_number_of_the_term_comes_back(stack, node, name, say):
    """A tool takes the Lease's number away, then somebody deletes the object that keeps it: the next terms are later ones
    all the same, and what an earlier one had sent is refused."""
    leader, standby = pair(stack)
    first, where = name(), node(8)
    before = term(stack)
    assert kept_term(stack) == before
    stack.api.patch("leases", "aliquot-controller", {"spec": None}, "aliquot-system")
    wait_until(lambda: term(stack) > before and stack.leaders(), 60, "somebody to lead again", ignore=(KeyError,))
    again = term(stack)
    assert kept_term(stack) == again
    stack.create_pod(first, fraction="0.5", schedulingGates=[{"name": OTHER_GATE}], **on(where))
    wait_fenced(stack, first, before)
    stack.api.delete("leases", "aliquot-term", "aliquot-system")
    began = time.monotonic()
    wait_until(lambda: kept_term(stack) == again, 60, "the leader to write it again", ignore=(ApiError, KeyError))
    say("the number stood again %.1f s after its object was deleted" % (time.monotonic() - began))
    stack.api.patch("pods", first, {"spec": {"schedulingGates": [{"name": P + "gpu"}]}}, "default")
    assert note(stack.wait_running(first), "term") == str(again)
    assert len(stack.leaders()) == 1 and not leader.findings() and not standby.findings()


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
    wait_converted_elsewhere(stack, leader)
    made += [stack.create_pod(pod_name, fraction="0.4", **on(where)) for pod_name in names[10:]]
    assert all(is_tenant(pod) for pod in made)
    wait_until(standby.leads, 60, "the standby to lead")
    leader.resume()
    # 16 of them fit on eight GPUs.
    def placed():
        picture = Picture(stack.api).check()
        return sum(p["metadata"]["name"] in names for p in picture.placed) == 16
    wait_until(placed, 60, "sixteen to be placed")
    wait_until(lambda: not leader.leads(), 60, "the former leader to notice")
    assert stack.leaders() == [standby]
    assert processes.alive(leader.record)
