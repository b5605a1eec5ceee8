"""C39: nodes with tenants that Karpenter itself consolidates, or ends though somebody is still there."""

import functools
import json
import time

import pytest

import growing
from growing import POOL, deploy, homes, of, of_pool, together, uids, wait_budget, wait_moved
from helpers import gates, note
from invariants import Picture
from karpenter import Karpenter, instance_type
from test_karpenter import KEEP, STACK, told
from test_karpenter import fixture_grower  # noqa: F401, what the tests here stand on
from waiting import holds_for, wait_until

__all__ = ["STACK"]
# Each takes minutes, because Karpenter waits before it acts, and needs pools of its own at most.
APART = True
PACKED = "packed"
# Two nodes of one GPU each cost more than one of two, and that more than one of one.
TYPES = [instance_type("plain", 0, 0.1), instance_type("one", 1, 1.0), instance_type("two", 2, 1.5)]
# Tenants of nodes that could be cheaper; Karpenter takes its time with the next while it waits for one, so all are at once.
HALF_EMPTY = {"moving": {}, "kept": {"annotations": {KEEP: "true"}}, "unallowed": {"allowed": 0}}
# The terminationGracePeriod of a node. What is over after it, Karpenter ends without asking budgets.
ENDS_S = {"hung": 15, "ending": 45}
TYPE = "node.kubernetes.io/instance-type"


@pytest.fixture(name="karpenters", scope="module")
def fixture_karpenters(cp):
    with Karpenter(cp, TYPES) as found:
        for pool in (PACKED, *HALF_EMPTY):
            found.pool(pool, {POOL: pool}, "2s", "WhenEmptyOrUnderutilized")
        for pool, seconds in ENDS_S.items():
            found.pool(pool, {POOL: pool}, grace="%ds" % seconds)
        yield found


def types(grower, pool):
    return sorted(node["metadata"]["labels"][TYPE] for node in of_pool(grower.nodes(), pool))


def wait_home(stack, grower, name, replicas, kind, pool=PACKED):
    """Until so many of it run on one node of that type, and no other is there."""
    def home():
        return len(of(stack, name)) == replicas and types(grower, pool) == [kind]
    wait_until(home, 180, told(stack, grower))
    return homes(of(stack, name))


def half_empty(stack, grower, name):
    """{pool: tenants on one GPU of a node of two, whose other GPU is not used any more}"""
    webs = {pool: name() for pool in HALF_EMPTY}
    others = {pool: name() for pool in HALF_EMPTY}
    for pool, more in HALF_EMPTY.items():
        deploy(stack, webs[pool], 2, "0.4", pool, **more)
        deploy(stack, others[pool], 1, "0.7", pool)
    for pool, more in HALF_EMPTY.items():
        wait_home(stack, grower, webs[pool], 2, "two", pool)
        wait_until(lambda name=others[pool]: of(stack, name), 60, told(stack, grower))
        wait_budget(stack, webs[pool], more.get("allowed", 1))
    for each in others.values():
        stack.api.delete("deployments", each, "default", propagationPolicy="Foreground")
    return webs


def check_settled(stack, name):
    assert {note(pod, "gpu-uuid") is not None and not gates(pod) for pod in of(stack, name)} == {True}
    assert stack.leader().metric("aliquot_orphaned_gpus") == 0


def blocked(stack, grower, pool):
    """What Karpenter says of why it leaves the nodes of that pool alone."""
    names = {claim["metadata"]["name"] for claim in of_pool(grower.claims(), pool)}
    return [event["message"] for event in stack.api.list("events", namespace="default")
            if event["reason"] == "DisruptionBlocked" and event["involvedObject"]["name"] in names]


def check_moves(stack, grower, web, pool):
    before = uids(of(stack, web))
    wait_moved(stack, web, homes(of(stack, web)), 2, told(stack, grower))
    wait_home(stack, grower, web, 2, "one", pool)
    assert not before & uids(of(stack, web)), "pods do not move"


def check_stays(stack, grower, web, pool):
    before, old = uids(of(stack, web)), homes(of(stack, web))
    wait_until(lambda: blocked(stack, grower, pool), 90, told(stack, grower))

    def stays():
        node, = [stack.api.get("nodes", each) for each in old]
        return uids(of(stack, web)) == before and types(grower, pool) == ["two"] and not node["spec"].get("taints")
    # Karpenter looks every ten seconds, and waits for fifteen before it acts.
    holds_for(stays, 35, told(stack, grower))


def test_c39_tenants_move_to_a_cheaper_node_within_their_budget_and_not_where_one_stays(stack, grower, name):
    """One stays because of an annotation, and one because its budget lets nobody go."""
    webs = half_empty(stack, grower, name)
    together(*(functools.partial(check_moves if pool == "moving" else check_stays, stack, grower, web, pool)
               for pool, web in webs.items()))
    check_settled(stack, webs["moving"])


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


# --- a node whose terminationGracePeriod is over ----------------------------------------------------


def is_leaving(stack, node):
    found = stack.api.find("nodes", node)
    return found is None or any(t["key"] == "karpenter.sh/disrupted" for t in found["spec"].get("taints", []))


class Ending:
    """Two tenants of each grace, whose budgets let nobody go, on a node of which Karpenter wants another edition."""

    def __init__(self, stack, grower, name, pool, *graces):
        self.stack, self.grower, self.pool = stack, grower, pool
        self.webs = [name() for _ in graces]
        self.tell = told(stack, grower)
        for web, grace in zip(self.webs, graces):
            deploy(stack, web, 2, "0.2", pool, 0, {"fake.kubelet/ignore-term": "true"}, terminationGracePeriodSeconds=grace)
        wait_until(lambda: len(self.running()) == 2 * len(graces), 120, self.tell)
        self.before, (self.node,) = uids(self.running()), homes(self.running())
        self.uuid, = {note(pod, "gpu-uuid") for pod in self.running()}
        self.began = self.first = None

    def running(self):
        return [pod for web in self.webs for pod in of(self.stack, web)]

    def begin(self):
        self.grower.relabel(self.pool, {POOL: self.pool, "example.com/edition": "another"})
        wait_until(lambda: is_leaving(self.stack, self.node), 120, self.tell)
        self.began = time.monotonic()

    def look(self):
        """Nobody else has a share of that GPU, ever."""
        pods = self.stack.api.list("pods", namespace="default")
        assert not [p for p in pods if note(p, "gpu-uuid") == self.uuid and p["metadata"]["uid"] not in self.before]
        there = [p for p in pods if p["metadata"]["uid"] in self.before]
        if self.first is None and (len(there) < len(self.before) or any("deletionTimestamp" in p["metadata"] for p in there)):
            self.first = time.monotonic() - self.began
        return there

    def elsewhere(self):
        """Its successors run, on another node."""
        self.look()
        now = self.running()
        return len(now) == len(self.before) and not uids(now) & self.before and self.node not in homes(now)

    def capacity(self):
        return [p for p in self.stack.capacity_pods() if p["spec"].get("nodeName") == self.node]

    def is_over(self):
        return not self.look() and not self.capacity() and self.stack.api.find("nodes", self.node) is None

    def check_books(self):
        wait_until(lambda: Picture(self.stack.api).check_settled(), 60, self.tell, ignore=(AssertionError,))
        leader = self.stack.leader()
        assert leader.metric("aliquot_orphaned_gpus") == 0
        assert not [each for each in self.before | {self.uuid} if each in json.dumps(leader.dump())]


def check_grace(ending):
    """Their budget is over with the grace of the node."""
    ending.begin()
    held, = wait_until(lambda: [p for p in ending.capacity() if "deletionTimestamp" in p["metadata"]], 30, ending.tell)
    assert held["status"]["phase"] == "Running" and held["metadata"]["deletionGracePeriodSeconds"] > 30
    wait_until(ending.elsewhere, ENDS_S[ending.pool] + 60, ending.tell, every=0.2)
    assert ending.first > ENDS_S[ending.pool] - 15, "the budget counts until their grace is as long as what is left"
    wait_until(ending.is_over, 60, ending.tell)


def check_hung(ending):
    """Its runtime hangs: what runs there outlives every grace, and goes with the machine. The object of a tenant with a
    grace of a second goes at once: for what is left Karpenter deletes it by force."""
    stack = ending.stack
    wait_until(ending.elsewhere, ENDS_S[ending.pool] + 60, ending.tell, every=0.2)
    running = {uid for uid, pod in stack.kubelet.state()["pods"].items()
               if any(c["state"] == "running" for c in pod["containers"].values())}
    assert ending.before <= running and stack.api.find("nodes", ending.node), "nobody waited for what hangs"
    assert [p["spec"]["terminationGracePeriodSeconds"] for p in ending.look()] == [5, 5]
    # A minute after its grace Karpenter waits for no pod; then the garbage collector of pods looks twice.
    wait_until(ending.is_over, ENDS_S[ending.pool] + 60 + 120, ending.tell)


def test_c39_a_node_that_ends_with_tenants_on_it_leaves_nothing_behind(stack, grower, name):
    """One that hangs, and one whose tenants end in time."""
    hung, ending = Ending(stack, grower, name, "hung", 1, 5), Ending(stack, grower, name, "ending", 5)
    stack.kubelet.fault("hang", node=hung.node)
    # It takes longest, and Karpenter one after the other.
    hung.begin()
    together(lambda: check_hung(hung), lambda: check_grace(ending))
    for each in (hung, ending):
        each.check_books()
