"""C39: nodes with tenants that Karpenter itself consolidates, or ends though somebody is still there."""

import json
import time

import pytest

import growing
import karpenter
from growing import POOL, deploy, homes, of, uids, wait_budget, wait_moved
from helpers import gates, note
from invariants import Picture
from karpenter import Karpenter, instance_type
from test_karpenter import KEEP, STACK, told
from waiting import holds_for, wait_until

__all__ = ["STACK"]
# Each takes minutes, because Karpenter waits before it acts, and needs a pool of its own at most.
APART = True
PACKED = "packed"
# Two nodes of one GPU each cost more than one of two, and that more than one of one.
TYPES = [instance_type("plain", 0, 0.1), instance_type("one", 1, 1.0), instance_type("two", 2, 1.5)]
# The terminationGracePeriod of a node. What is over after it, Karpenter ends without asking budgets.
ENDS_S = {"ending": 45, "hung": 15}
TYPE = "node.kubernetes.io/instance-type"


@pytest.fixture(name="karpenters", scope="module")
def fixture_karpenters(cp):
    with Karpenter(cp, TYPES) as found:
        found.pool(PACKED, {POOL: PACKED}, "2s", "WhenEmptyOrUnderutilized")
        for pool, seconds in ENDS_S.items():
            found.pool(pool, {POOL: pool}, grace="%ds" % seconds)
        yield found


@pytest.fixture(name="grower")
def fixture_grower(karpenters, stack):
    """Karpenter, without a node of its own."""
    yield karpenters
    growing.clear(stack)
    wait_until(lambda: not karpenters.nodes() and not karpenters.claims(), 120, told(stack, karpenters))


def types(grower):
    return sorted(node["metadata"]["labels"][TYPE] for node in grower.nodes())


def wait_home(stack, grower, name, replicas, kind, seconds=180):
    """Until so many of it run on one node of that type, and no other is there."""
    def home():
        return len(of(stack, name)) == replicas and types(grower) == [kind]
    wait_until(home, seconds, told(stack, grower))
    return homes(of(stack, name))


def half_empty(stack, grower, name, **web):
    """Tenants on one GPU of a node of two, whose other GPU is not used any more: (their name, the node)."""
    one, other = name(), name()
    deploy(stack, one, 2, "0.4", PACKED, **web)
    deploy(stack, other, 1, "0.7", PACKED)
    wait_home(stack, grower, one, 2, "two")
    wait_until(lambda: of(stack, other), 60, told(stack, grower))
    wait_budget(stack, one, web.get("allowed", 1))
    old = homes(of(stack, one))
    stack.api.delete("deployments", other, "default", propagationPolicy="Foreground")
    return one, old


def check_settled(stack, name):
    assert {note(pod, "gpu-uuid") is not None and not gates(pod) for pod in of(stack, name)} == {True}
    assert stack.leader().metric("aliquot_orphaned_gpus") == 0


def test_c39_tenants_move_to_a_cheaper_node_within_their_budget(stack, grower, name):
    web, old = half_empty(stack, grower, name)
    before = uids(of(stack, web))
    wait_moved(stack, web, old, 2, told(stack, grower))
    wait_home(stack, grower, web, 2, "one")
    assert not before & uids(of(stack, web)), "pods do not move"
    check_settled(stack, web)


def test_c39_tenants_of_two_nodes_move_to_one(stack, grower, name):
    web = name()
    deploy(stack, web, 1, "0.7", PACKED)
    wait_home(stack, grower, web, 1, "one")
    growing.scale(stack, web, 2)
    wait_until(lambda: len(of(stack, web)) == 2, 120, told(stack, grower))
    old = homes(of(stack, web))
    # Both at once, or Karpenter was so fast that the second came to a node of two already.
    wait_moved(stack, web, {n["metadata"]["name"] for n in grower.nodes() if n["metadata"]["labels"][TYPE] == "one"} | (
        old if len(old) == 2 else set()), 2, told(stack, grower))
    wait_home(stack, grower, web, 2, "two")
    check_settled(stack, web)


def blocked(stack, grower):
    """What Karpenter says of why it leaves its nodes alone."""
    names = {claim["metadata"]["name"] for claim in grower.claims()}
    return [event["message"] for event in stack.api.list("events", namespace="default")
            if event["reason"] == "DisruptionBlocked" and event["involvedObject"]["name"] in names]


@pytest.mark.parametrize("why", ["annotation", "budget"])
def test_c39_a_cheaper_node_is_not_taken_where_a_tenant_stays(stack, grower, name, why):
    web, old = half_empty(stack, grower, name, **(
        {"annotations": {KEEP: "true"}} if why == "annotation" else {"allowed": 0}))
    before = uids(of(stack, web))
    wait_until(lambda: blocked(stack, grower), 90, told(stack, grower))

    def stays():
        node, = [stack.api.get("nodes", each) for each in old]
        return uids(of(stack, web)) == before and types(grower) == ["two"] and not node["spec"].get("taints")
    # Karpenter looks every ten seconds, and waits for fifteen before it acts.
    holds_for(stays, 35, told(stack, grower))


# --- a node whose terminationGracePeriod is over ----------------------------------------------------


def is_leaving(stack, node):
    found = stack.api.find("nodes", node)
    return found is None or any(t["key"] == "karpenter.sh/disrupted" for t in found["spec"].get("taints", []))


class Ending:
    """Two tenants whose budget lets nobody go, on a node of which Karpenter wants another edition."""

    def __init__(self, stack, grower, name, pool, **spec):
        self.stack, self.name = stack, name()
        self.tell = told(stack, grower)
        deploy(stack, self.name, 2, "0.4", pool, 0, {"fake.kubelet/ignore-term": "true"}, **spec)
        wait_until(lambda: len(of(stack, self.name)) == 2, 120, self.tell)
        self.before, (self.node,) = uids(of(stack, self.name)), homes(of(stack, self.name))
        self.uuid, = {note(pod, "gpu-uuid") for pod in of(stack, self.name)}
        self.began = self.first = None

    def begin(self, grower, pool):
        grower.relabel(pool, {POOL: pool, "example.com/edition": self.name})
        wait_until(lambda: is_leaving(self.stack, self.node), 120, self.tell)
        self.began = time.monotonic()

    def look(self):
        """Nobody else has a share of that GPU, ever."""
        pods = self.stack.api.list("pods", namespace="default")
        assert not [p for p in pods if note(p, "gpu-uuid") == self.uuid and p["metadata"]["uid"] not in self.before]
        there = [p for p in pods if p["metadata"]["uid"] in self.before]
        if self.first is None and (len(there) < 2 or any("deletionTimestamp" in p["metadata"] for p in there)):
            self.first = time.monotonic() - self.began
        return there

    def elsewhere(self):
        """Its successors run, on another node."""
        self.look()
        now = of(self.stack, self.name)
        return len(now) == 2 and not uids(now) & self.before and self.node not in homes(now)

    def capacity(self):
        return [p for p in self.stack.capacity_pods() if p["spec"].get("nodeName") == self.node]

    def is_over(self):
        return not self.look() and not self.capacity() and self.stack.api.find("nodes", self.node) is None

    def check_books(self):
        wait_until(lambda: Picture(self.stack.api).check_settled(), 60, self.tell, ignore=(AssertionError,))
        leader = self.stack.leader()
        assert leader.metric("aliquot_orphaned_gpus") == 0
        assert not [each for each in self.before | {self.uuid} if each in json.dumps(leader.dump())]


def test_c39_a_budget_that_lets_nobody_go_is_over_with_the_nodes_grace(stack, grower, name):
    ending = Ending(stack, grower, name, "ending", terminationGracePeriodSeconds=5)
    ending.begin(grower, "ending")
    held, = wait_until(lambda: [p for p in ending.capacity() if "deletionTimestamp" in p["metadata"]], 30, ending.tell)
    assert held["status"]["phase"] == "Running" and held["metadata"]["deletionGracePeriodSeconds"] > 30
    wait_until(ending.elsewhere, ENDS_S["ending"] + 60, ending.tell, every=0.2)
    assert ending.first > ENDS_S["ending"] - 15, "the budget counts until their grace is as long as what is left"
    wait_until(ending.is_over, 60, ending.tell)
    ending.check_books()


@pytest.mark.parametrize("grace", [1, 5])
def test_c39_a_node_that_ends_with_tenants_on_it_leaves_nothing_behind(stack, grower, name, grace):
    """Its runtime hangs: what runs there outlives every grace, and goes with the machine. The object of a tenant with a
    grace of a second goes at once: for what is left Karpenter deletes it by force."""
    ending = Ending(stack, grower, name, "hung", terminationGracePeriodSeconds=grace)
    stack.kubelet.fault("hang", node=ending.node)
    ending.begin(grower, "hung")
    wait_until(ending.elsewhere, ENDS_S["hung"] + 60, ending.tell, every=0.2)
    running = {uid for uid, pod in stack.kubelet.state()["pods"].items()
               if any(c["state"] == "running" for c in pod["containers"].values())}
    assert ending.before <= running and stack.api.find("nodes", ending.node), "nobody waited for what hangs"
    if grace > 1:
        assert uids(ending.look()) == ending.before
    # A minute after its grace Karpenter waits for no pod; then the garbage collector of pods looks twice.
    wait_until(ending.is_over, ENDS_S["hung"] + 60 + 120, ending.tell)
    ending.check_books()
