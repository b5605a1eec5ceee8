"""Tenants in need get more where they are, and what GPUs cost adds up."""

import contextlib
import re

import pytest

import asking
import exporting
from helpers import events, is_tenant, note, on, restarted
from waiting import wait_until

PORT = 9402
WHERE, PRICED = "heal-0", "bill-0"
# Rounds are frequent: where something must not wait for one they are made rare (one_round).
STACK = {"nodes": [(WHERE, 8), (PRICED, 2)],
         "arguments": ["--idle-grace-seconds=1", "--usage-seconds=5", "--rightsizing-seconds=1",
                       "--gpu-prices=*=2", "--team-label=team", "--usage-exporter=default/app=dcgm:%d" % PORT]}
APART = True
POLICY = {"compute": {"percentile": 98, "headroomPercent": 25, "minPercent": 10, "maxPercent": 100, "stepPercent": 5},
          "memory": {"headroomPercent": 0, "min": "1Gi", "step": "256Mi"},
          "history": {"windowSeconds": 3600, "requiredSeconds": 60, "halfLifeSeconds": 600},
          "update": {"scaleDownDelaySeconds": 0}}
OUT_OF_MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
HEALED = "7424"  # 6 GiB, a fifth more, in steps of 256 MiB


class Healing:
    """One Deployment or Job, what its pod uses, and policy time."""

    def __init__(self, stack, space):
        self.stack, self.api, self.space = stack, stack.api, space
        self.percent, self.mib, self.exporter = 20, 6144, None
        self.object = "deployment-llm"

    def pods(self):
        return [p for p in self.api.list("pods", self.space, labelSelector="app=llm")
                if not p["metadata"].get("deletionTimestamp") and p["status"].get("phase") not in ("Failed", "Succeeded")]

    def told(self):
        return "".join(exporting.use(pod, self.percent, self.mib) for pod in self.pods()
                       if pod["status"].get("phase") == "Running")

    def grec(self):
        return self.api.find("gpurecommendations", self.object, self.space) or {"status": {}}

    def status(self):
        return self.grec().get("status", {})

    def condition(self, kind):
        """(status, reason, message)"""
        return next(((c["status"], c["reason"], c["message"]) for c in self.status().get("conditions", [])
                     if c["type"] == kind), None)

    def target(self):
        containers = self.status().get("containers", [])
        return containers and containers[0].get("target", {}).get("memory")

    def wait(self, condition, what, timeout=60, forward=0):
        def holds():
            if condition():
                return True
            if forward:
                for controller in self.stack.controllers:
                    controller.forward(forward)
            return False
        wait_until(holds, timeout, lambda: "%s; %s\n%s" % (what, self.grec(), self.stack.logs()),
                   every=1 if forward else 0.2)

    def create(self, kind):
        pod = self.stack.pod("x", **on(WHERE))["spec"]
        pod["terminationGracePeriodSeconds"] = 0
        what = {"metadata": {"name": "llm", "namespace": self.space}, "kind": kind}
        template = {"metadata": {"labels": {"app": "llm"}}, "spec": pod}
        if kind == "Job":
            pod["restartPolicy"] = "Never"
            self.object = "job-llm"
            self.api.create("jobs", dict(what, apiVersion="batch/v1", spec={
                "template": template, "backoffLimit": 6, "parallelism": 1, "completions": 2}))
        else:
            self.api.create("deployments", dict(what, apiVersion="apps/v1", spec={
                "replicas": 1, "selector": {"matchLabels": {"app": "llm"}}, "template": template}))

    def tenant(self, kind="Deployment"):
        """Its one pod, as a tenant with what was learnt of it: 6 GiB, all of which it uses."""
        self.create(kind)
        self.wait(lambda: self.target() == "6Gi" and (self.condition("HistorySufficient") or "?")[0] == "True",
                  "its target to be known", 150, forward=60)
        self.api.patch("gpupolicies", self.space, {"spec": {"mode": "Automate"}})
        self.wait(lambda: (self.condition("Ready") or "??")[1] == "Ready", "the mode to be known")
        for one in self.pods():
            if kind == "Job":  # makes another one at once after one that has done its work, and else 10 s later
                self.end(one, code=0)
            else:
                self.api.delete("pods", one["metadata"]["name"], self.space, grace=0)
        self.wait(lambda: any(is_tenant(p) and p["status"].get("phase") == "Running" for p in self.pods()),
                  "a tenant to run", 90)
        pod, = self.pods()
        assert note(pod, "memory-mib") == "6144"
        return pod

    def end(self, pod, code, message=""):
        self.stack.kubelet.fault("kill", namespace=self.space, pod=pod["metadata"]["name"], container="main", code=code,
                                 message=message)

    def share(self):
        pod, = self.pods()
        return note(pod, "memory-mib")

    def life(self):
        pod, = self.pods()
        return pod["metadata"]["uid"], [s["restartCount"] for s in pod["status"]["containerStatuses"]]

    def rounds(self):
        return self.stack.leader().metric("aliquot_recommendation_rounds")

    def look(self):
        """Two whole rounds pass: whatever follows from how it is now has been decided."""
        before = self.rounds()
        self.wait(lambda: self.rounds() > before + 2, "rounds to end")

    def later(self, seconds):
        """So much policy time has passed, their use was read again, and what follows from that was decided."""
        self.stack.leader().forward(int(seconds))
        self.exporter.wait_read()
        self.look()


@pytest.fixture(name="healing")
def fixture_healing(stack, name, request):
    policy = dict(POLICY, mode="Recommend", **getattr(request, "param", {}))
    with asking.ruled_namespace(stack, policy) as space:
        healing = Healing(stack, space)
        with exporting.exporter_on(stack, WHERE, name(), PORT, healing.told) as healing.exporter:
            yield healing


@pytest.mark.timeout(600)
def test_h1_memory_near_its_limit_is_healed_where_it_is(healing):
    """95 % of its share for 5 minutes: more for the same pod, no restart; what blocks a shrink is said, and the next pod
    has it, too."""
    healing.tenant()
    life = healing.life()

    def grows():
        # What was used counts for two minutes.
        healing.exporter.wait_read()
        healing.stack.leader().forward(100)
        return healing.share() == HEALED
    healing.wait(grows, "its share to grow", 120)
    assert healing.life() == life == (life[0], [0])
    healing.wait(lambda: healing.target() == "7424Mi", "that to be told")
    assert healing.status()["healing"]["kind"] == "MemoryPressure" and healing.status()["healing"]["step"] == 1
    assert healing.condition("Healing")[:2] == ("True", "MemoryPressure")
    status, reason, message = healing.condition("ScaleDownBlocked")
    assert (status, reason) == ("True", "Healing") and "main: nothing shrinks before" in message
    wait_until(lambda: events(healing.stack, healing.grec(), "HealingStarted"), 60, "the event")

    pod, = healing.pods()
    healing.api.delete("pods", pod["metadata"]["name"], healing.space, grace=0)
    healing.wait(lambda: [note(p, "memory") for p in healing.pods() if p["metadata"]["uid"] != life[0]] == ["7424Mi"],
                 "another pod with the same")


@contextlib.contextmanager
def one_round(healing):
    """The controller is started anew, has had its first round, and another one is an hour away."""
    with restarted(healing.stack, "--rightsizing-seconds", 3600):
        healing.stack.wait_leader()
        healing.wait(lambda: healing.rounds() == 1, "the first round to end")
        yield


@pytest.mark.timeout(600)
def test_h1_an_out_of_memory_is_healed_before_the_next_round(healing):
    """The container's last words are a CUDA out-of-memory: one scrape later it has more, and the ledger says so."""
    tenant = healing.tenant()
    healing.mib = 4096
    uid = tenant["metadata"]["uid"]
    with one_round(healing):
        healing.end(tenant, 1, OUT_OF_MEMORY)
        healing.wait(lambda: healing.share() == HEALED, "its share to grow")
        assert healing.rounds() == 1, "it waited for a round"
    assert healing.life() == (uid, [1])
    healing.wait(lambda: healing.target() == "7424Mi", "that to be told")
    capacity, = [p for p in healing.stack.capacity_pods() if uid in (note(p, "grants") or "")]
    assert HEALED in note(capacity, "grants")


@pytest.mark.timeout(600)
def test_h1_the_next_run_of_one_that_never_restarts_has_more(healing):
    """A Job with restartPolicy Never: its pod ends for good, and the next one comes after some seconds."""
    tenant = healing.tenant("Job")
    healing.mib = 4096
    healing.look()
    healing.end(tenant, 1, OUT_OF_MEMORY)
    healing.wait(lambda: healing.target() == "7424Mi", "that to be told", 90)
    assert healing.status()["healing"]["kind"] == "MemoryPressure" and healing.status()["healing"]["step"] == 1
    healing.wait(lambda: [note(p, "memory-mib") for p in healing.pods()] == [HEALED], "the next run to have it", 120)
    pod, = healing.pods()
    assert pod["metadata"]["uid"] != tenant["metadata"]["uid"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("healing", [{"healing": {"memory": {"state": "Disabled"}}}], indirect=True)
def test_h13_a_policy_that_does_not_heal_gets_an_event(healing):
    """Nothing changes but what is told."""
    tenant = healing.tenant()
    healing.mib = 4096
    healing.look()
    healing.end(tenant, 1, OUT_OF_MEMORY)
    healing.wait(lambda: events(healing.stack, healing.grec(), "OutOfMemory"), "the event")
    healing.look()
    assert healing.share() == "6144" and healing.condition("Healing") is None
    assert not events(healing.stack, healing.grec(), "HealingStarted")


def bill(stack):
    """{family: {labels: value}} of what costs."""
    found = {}
    for series, value in stack.leader().metrics().items():
        name, _, rest = series.partition("{")
        if name.endswith("_per_hour"):
            found.setdefault(name, {})[frozenset(re.findall(r'(\w+)="([^"]*)"', rest))] = round(value, 6)
    return found


def total(costs, name, **labels):
    return round(sum(value for found, value in costs.get("aliquot_" + name, {}).items()
                     if set(labels.items()) <= found), 6)


def adds_up(costs):
    pods = total(costs, "pods_cost_per_hour")
    return (total(costs, "bill_per_hour") == round(pods + total(costs, "idle_cost_per_hour"), 6) and
            total(costs, "pod_cost_per_hour") == total(costs, "namespace_cost_per_hour") == pods)


@pytest.mark.timeout(300)
def test_k1_the_costs_of_four_quarters_add_up_to_the_bill(stack):
    """Four of 25 % on one GPU of 2 $/h pay 0.50 each; of three a quarter stays idle; a whole GPU pays all of itself."""
    with asking.namespace(stack) as space:
        for i in range(4):
            stack.create_surely("quarter-%d" % i, namespace=space, fraction="0.25", labels={"team": "search"},
                                **on(PRICED))
        for i in range(4):
            stack.wait_running("quarter-%d" % i, 60, space)
        last = {}

        def costs(condition):
            last["bill"] = bill(stack)
            return adds_up(last["bill"]) and condition(last["bill"])

        def wait_costs(condition, what):
            wait_until(lambda: costs(condition), 60, lambda: "%s: %s" % (what, last["bill"]), every=0.5)
        def elsewhere():
            """What GPUs cost that tests before this one have left, for as long as they are held."""
            return 2 * sum(p["spec"].get("nodeName") != PRICED for p in stack.capacity_pods())
        gpus = sum(int(n["status"]["allocatable"].get("nvidia.com/gpu", 0)) for n in stack.api.list("nodes"))
        wait_costs(lambda b: total(b, "bill_per_hour", currency="USD") == 2 * gpus, "the price of all GPUs")
        wait_costs(lambda b: all(total(b, "pod_cost_per_hour", namespace=space, pod="quarter-%d" % i) == 0.5
                                 for i in range(4)), "a quarter each")
        wait_costs(lambda b: total(b, "idle_cost_per_hour", gpus="shared") == elsewhere() and
                   total(b, "namespace_cost_per_hour", namespace=space) == 2 and
                   total(b, "team_cost_per_hour", team="search") == 2, "nothing of it idle, and all of one team")
        stack.api.delete("pods", "quarter-3", space, grace=0)
        wait_costs(lambda b: total(b, "idle_cost_per_hour", gpus="shared") == elsewhere() + 0.5 and
                   total(b, "pod_cost_per_hour", namespace=space, pod="quarter-3") == 0, "a quarter idle")
        stack.create_pod("whole", namespace=space, **on(PRICED))
        stack.wait_running("whole", 60, space)
        wait_costs(lambda b: total(b, "pod_cost_per_hour", namespace=space, pod="whole") == 2, "a whole one")
        for i in range(3):
            stack.api.delete("pods", "quarter-%d" % i, space, grace=0)
        stack.api.delete("pods", "whole", space, grace=0)
