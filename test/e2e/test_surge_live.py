"""What C25 has read live just before the label, violated on the real control plane while the new pod already stands beside
the old one: it waits, says for what, and goes on once that is over. And what nobody can see in time: a wrong victim."""

import contextlib

import pytest

from api import ApiError
from helpers import events
from test_rolling import is_ready
from test_surge import COST, HASH, P, STACK, surging_in
from test_surge import fixture_overlay  # noqa: F401, what the tests here stand on
from watching import PodWatch

__all__ = ["STACK"]
APART = True
GATE = "example.com/serves"
QUOTA = "no-more-pods"


class Gates:
    """Plays who says of each pod whether it serves: a readiness gate, which the kubelet asks too. One that stands beside
    another serves when a test says so, and not before."""

    def __init__(self, surging):
        self.surging, self.opened, self.closed, self.told = surging, set(), set(), {}

    def look(self, pods):
        for pod in pods:
            self.tell(pod["metadata"])

    def tell(self, meta):
        shut = meta["name"] in self.closed or (P + "surge" in meta["labels"] and meta["name"] not in self.opened)
        status = "False" if shut else "True"
        if self.told.get(meta["uid"]) != status:
            with contextlib.suppress(ApiError):  # It has just gone.
                self.surging.api.patch("pods", meta["name"], {"status": {"conditions": [{"type": GATE, "status": status}]}},
                                       self.surging.space, sub="status", kind="strategic")
                self.told[meta["uid"]] = status

    def turn(self, pod, serves):
        name = pod["metadata"]["name"]
        (self.closed.discard if serves else self.closed.add)(name)
        (self.opened.add if serves else self.opened.discard)(name)
        self.tell(pod["metadata"])
        self.surging.wait(lambda: is_ready(again(self.surging, pod)) == serves, "its kubelet to know")


def again(surging, pod):
    return surging.api.get("pods", pod["metadata"]["name"], surging.space)


@pytest.fixture(name="surging")
def fixture_surging(stack, name):
    with surging_in(stack, name) as surging:
        surging.gates = Gates(surging)
        with PodWatch(surging.api, surging.space, "rolled=true", surging.gates.look):
            yield surging


def make(surging, name, replicas=1):
    surging.make(name, replicas, minReadySeconds=2, template={"readinessGates": [{"conditionType": GATE}]})


def cost(surging, pod, value):
    surging.api.patch("pods", pod["metadata"]["name"], {"metadata": {"annotations": {COST: value}}}, surging.space)


def short_of_one(surging, pod):
    """Its ReplicaSet has one pod less than it wants, and may make none."""
    surging.api.create("resourcequotas", {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {"pods": "1"}},
                                          "metadata": {"name": QUOTA, "namespace": surging.space}})
    surging.wait(lambda: surging.api.get("resourcequotas", QUOTA, surging.space).get("status", {}).get("hard"),
                 "the quota to be counted")
    surging.api.delete("pods", pod["metadata"]["name"], surging.space, grace=0)


# What comes while the new pod stands there, and words of what is waited for; each goes before those above it.
MEANWHILE = [
    (lambda s, pod: s.budget("web", 3), "web-pdb"),
    (lambda s, pod: cost(s, pod, "-5000"), "as low a deletion cost"),
    (lambda s, pod: s.gates.turn(pod, False), "is not Ready"),
    (short_of_one, "has not as many pods as it should"),
]


@pytest.mark.timeout(600)
def test_c25_what_comes_meanwhile_holds_the_label_back(surging):
    def may_surge():
        log = surging.stack.leader().log(1 << 20)
        return log.rfind("the overlay surge is applied") > log.rfind("the overlay surge is not applied")
    # Of two replicas one would be evicted before the overlay is seen.
    surging.wait(may_surge, "the overlay to be seen")
    make(surging, "web", 2)
    with surging.watched("web"):
        surging.wait_later(surging.beside, "the new pod", 200)
        made, = surging.beside()
        known = {made["metadata"]["uid"], made["metadata"]["labels"][P + "surge"]}
        other, = [p for p in surging.pods(app="web") if p["metadata"]["uid"] not in known]
        grec = surging.api.get("gpurecommendations", "deployment-web", surging.space)
        for comes, words in MEANWHILE:
            comes(surging, other)
            if not is_ready(again(surging, made)):
                surging.gates.turn(made, True)
            surging.wait(lambda w=words: any(w in e["message"] for e in events(surging.stack, grec, "SurgeWaits")),
                         "%s to be named" % words)
            assert HASH not in again(surging, made)["metadata"]["labels"]
        surging.api.delete("resourcequotas", QUOTA, surging.space)
        surging.api.delete("poddisruptionbudgets", "web-pdb", surging.space)
        surging.wait(lambda: HASH in again(surging, made)["metadata"]["labels"], "it to be adopted", 180)
    assert surging.fewest >= 1


@pytest.mark.timeout(600)
def test_c25_a_wrong_victim_stops_the_workload(surging):
    """A person makes the new pod cheaper than the old one once that has its label, and their ReplicaSet looks only then: it
    deletes the new one. That is told, the old one serves on, and nobody tries again by himself."""
    make(surging, "web")
    old, = surging.pods(app="web")
    plane = surging.stack.plane
    with surging.watched("web"):
        surging.wait_later(surging.beside, "the new pod", 200)
        made, = surging.beside()
        # One that only slept would learn of the label first.
        plane.kill("kube-controller-manager")
        try:
            surging.gates.turn(made, True)
            surging.wait(lambda: HASH in again(surging, made)["metadata"]["labels"], "it to have its label", 120)
            cost(surging, made, "-5000")
        finally:
            plane.start("kube-controller-manager")
        surging.wait(lambda: surging.blocked("web")[0] == "SurgeLostRace", "that to be told", 120)
        surging.wait(lambda: surging.at_rest("web"), "nothing of it to be left")
        grec = surging.api.get("gpurecommendations", "deployment-web", surging.space)
        surging.wait(lambda: events(surging.stack, grec, "SurgeLostRace"), "the event")
        surging.forward(3600)
        make(surging, "other")
        surging.wait_later(lambda: surging.beside("other"), "another workload to have its turn", 200)
        assert surging.blocked("web")[0] == "SurgeLostRace"
    left, = surging.pods(app="web")
    assert left["metadata"]["uid"] == old["metadata"]["uid"]
    assert surging.fewest >= 1 and surging.uids == {old["metadata"]["uid"], made["metadata"]["uid"]}
