"""Another share as it runs: a hundred times, by what pods use, and nothing restarts."""

import contextlib

import pytest

import asking
import exporting
from api import ApiError
from helpers import is_tenant, note, on
from waiting import wait_until

PORT = 9400
STACK = {"nodes": [("turn-0", 24)],
         "arguments": ["--idle-grace-seconds=1", "--usage-seconds=5", "--rightsizing-seconds=1", "--checkpoint-seconds=5",
                       "--usage-exporter=default/app=dcgm:%d" % PORT]}
# Minutes count as soon as they are over, and nothing of two hours ago does.
POLICY = {"compute": {"percentile": 98, "headroomPercent": 25, "minPercent": 10, "maxPercent": 100, "stepPercent": 5},
          "memory": {"headroomPercent": 15, "min": "1Gi", "step": "256Mi"},
          "history": {"windowSeconds": 3600, "requiredSeconds": 60, "halfLifeSeconds": 600},
          # A Deployment's pod without room would be moved, to another pod; here is seen what stays.
          "update": {"scaleDownDelaySeconds": 0, "byKind": [{"kind": "Deployment", "strategy": "OnCreate"}]},
          "mode": "Automate", "sharing": {"maxTenants": 2, "idleGraceSeconds": 2}}
# Two of a GPU can have the second, and not the third.
LOW, HIGH, TOO_HIGH = (20, 6144), (35, 12288), (50, 12288)
SHARES = {LOW: ("300", "7168"), HIGH: ("450", "14336")}
KINDS = ("Deployment", "StatefulSet", "Job")
PODS, TURNS = 8, 5


class Turning:
    """Workloads of each kind with pods of one namespace, and an exporter that tells what they use."""

    def __init__(self, stack, space, where):
        self.stack, self.api, self.space, self.where = stack, stack.api, space, where
        self.use = LOW

    def make(self):
        labels = {"app": "turned"}
        for kind in KINDS:
            own = dict(labels, kind=kind.lower())
            pod = self.stack.pod("x", **on(self.where))["spec"]
            spec = {"template": {"metadata": {"labels": own}, "spec": pod}}
            if kind == "Job":
                pod["restartPolicy"] = "Never"
                # Of pods that are deleted its controller makes others 10 s later, and doubles that for each.
                spec.update(parallelism=1, completions=PODS, backoffLimit=100)
            else:
                spec.update(replicas=PODS, selector={"matchLabels": own})
            if kind == "StatefulSet":
                spec.update(serviceName="none", podManagementPolicy="Parallel")
            self.api.create({"Job": "jobs"}.get(kind, kind.lower() + "s"), {
                "apiVersion": "batch/v1" if kind == "Job" else "apps/v1", "kind": kind,
                "metadata": {"name": "turned", "namespace": self.space}, "spec": spec})

    def remove(self):
        for kind in ("deployments", "statefulsets", "jobs"):
            with contextlib.suppress(ApiError):
                self.api.delete(kind, "turned", self.space, propagationPolicy="Background")

    def pods(self):
        return [p for p in self.api.list("pods", self.space, labelSelector="app=turned")
                if not p["metadata"].get("deletionTimestamp")]

    def begin_anew(self):
        """Another pod in place of each, and all of the Job's."""
        for pod in self.pods():
            self.api.delete("pods", pod["metadata"]["name"], self.space, grace=0)
        self.api.patch("jobs", "turned", {"spec": {"parallelism": PODS}}, self.space)

    def run(self, count, what):
        """All of them."""
        found = {}

        def there():
            found["pods"] = self.pods()
            return (len(found["pods"]) == count and
                    all(p["status"].get("phase") == "Running" and what(p) for p in found["pods"]))
        wait_until(there, 90, lambda: "all pods to run\n" + self.stack.logs())
        return found["pods"]

    def told(self):
        return "".join(exporting.use(pod, *self.use) for pod in self.pods())

    def pass_time(self, seconds):
        for controller in self.stack.controllers:
            controller.forward(seconds)

    def wait_turned(self, condition, what):
        """Policy time goes on until it is so: a minute counts when it is over."""
        def turned():
            if condition():
                return True
            self.pass_time(50)
            return False
        wait_until(turned, 90, lambda: "%s; %s, targets %s, blocked %s\n%s" % (
            what, self.shares(), self.targets(), self.blocked(), self.stack.logs()), every=1)

    def grecs(self):
        return self.api.list("gpurecommendations", self.space)

    def saved(self):
        return self.api.list("gpuusagecheckpoints", self.space)

    def targets(self):
        """Of all workloads that may be applied: (compute, memory)."""
        return [(c.get("target", {}).get("computePercent"), c.get("target", {}).get("memory"))
                for g in self.grecs() for c in g.get("status", {}).get("containers", [])
                if any(d["type"] == "Ready" and d["status"] == "True" for d in g["status"]["conditions"])]

    def blocked(self):
        return [(d["reason"], d["message"]) for g in self.grecs() for d in g.get("status", {}).get("conditions", [])
                if d["type"] == "UpdateBlocked" and d["status"] == "True"]

    def known(self):
        """Whether who comes instead of each of them would be a tenant: what was written is known to the webhook."""
        made = []
        for pod in self.pods():
            probe = self.stack.pod("probe", self.space, labels=pod["metadata"]["labels"])
            probe["metadata"]["ownerReferences"] = pod["metadata"]["ownerReferences"]
            made.append(self.api.create("pods", probe, dryRun="All"))
        return made and all(is_tenant(pod) for pod in made)

    def lives(self):
        """What a restart or another pod would change."""
        return {p["metadata"]["name"]: (p["metadata"]["uid"], [
            (s["restartCount"], s["containerID"]) for s in p["status"]["containerStatuses"]]) for p in self.pods()}

    def shares(self):
        return {p["metadata"]["name"]: (note(p, "compute-milli"), note(p, "memory-mib")) for p in self.pods()}


@pytest.fixture(name="turning")
def fixture_turning(stack, name):
    with asking.ruled_namespace(stack, POLICY) as space:
        turning = Turning(stack, space, "turn-0")
        with exporting.exporter_on(stack, "turn-0", name(), PORT, turning.told):
            try:
                yield turning
            finally:
                turning.remove()


@pytest.mark.timeout(600)
def test_u6_a_hundred_resizes_restart_nothing(turning, say):
    """Of a Deployment, a StatefulSet and a Job alike: their targets follow what the exporter tells, up and down, their
    shares follow the targets, and every container is the one that was started at the beginning."""
    turning.make()
    turning.run(PODS * (len(KINDS) - 1) + 1, lambda p: not is_tenant(p))
    turning.wait_turned(lambda: turning.targets() == [(30, "7Gi")] * len(KINDS), "targets of all three")
    wait_until(turning.known, 60, "the targets to be known to the webhook")
    turning.begin_anew()
    turning.run(PODS * len(KINDS), is_tenant)
    assert set(turning.shares().values()) == {SHARES[LOW]}
    before, resizes = turning.lives(), 0
    for turn in range(TURNS):
        turning.use = HIGH if turn % 2 == 0 else LOW
        turning.pass_time(7200)
        turning.wait_turned(lambda: set(turning.shares().values()) == {SHARES[turning.use]},
                            "all to have %s" % (SHARES[turning.use],))
        resizes += len(turning.shares())
    turning.wait_turned(lambda: not turning.blocked(), "nothing to keep them")
    assert turning.lives() == before
    say("%d resizes of %d pods" % (resizes, len(before)))
    assert resizes >= 100
    for kind in ("deployments", "statefulsets", "jobs"):
        owner = turning.api.get(kind, "turned", turning.space)
        assert owner["metadata"]["generation"] == (2 if kind == "jobs" else 1)
        assert "aliquot" not in {m["manager"] for m in owner["metadata"]["managedFields"]}

    # I7: what keeps them from more is named; what they have stays.
    turning.use = TOO_HIGH
    turning.pass_time(7200)
    gpus = {note(p, "gpu-uuid") for p in turning.pods()}

    def no_room():
        told = turning.blocked()
        return len(told) == len(KINDS) and all(
            reason == "NoRoomOnGPU" and "65% and 14Gi" in message and any(gpu in message for gpu in gpus)
            for reason, message in told)
    turning.wait_turned(no_room, "all to be told that there is no room")
    assert set(turning.shares().values()) <= {SHARES[turn] for turn in SHARES} | {("650", "14336")}
    turning.use = LOW
    turning.pass_time(7200)
    turning.wait_turned(lambda: set(turning.shares().values()) == {SHARES[LOW]} and not turning.blocked(),
                        "all to have less again, and nothing to keep them")
    assert turning.lives() == before

    # G4: what was known goes with the workloads, and their GPUs are given back.
    wait_until(lambda: len(turning.saved()) == len(KINDS), 60, "what was measured to be written")
    assert sorted(o["kind"] for g in turning.grecs() for o in g["metadata"]["ownerReferences"]) == sorted(KINDS)
    turning.remove()
    wait_until(lambda: not turning.grecs() and not turning.saved(), 90, "what was known to go with them")
    wait_until(lambda: not turning.stack.capacity_pods(), 60, "idle capacity pods to go")
