"""Running pods on whole GPUs are brought to the share that is recommended, one after the other."""

import contextlib
import datetime
import zoneinfo

import pytest

import asking
import exporting
import invariants
from helpers import events, is_tenant, is_whole, note, on
from waiting import wait_until
from watching import PodWatch

PORT = 9401
WHERE = "roll-0"
# Who is started again after a kill has the same name, as in one pod, and may take the Lease at once.
STACK = {"nodes": [(WHERE, 12)], "controllers": [["--identity=leader"]],
         "arguments": ["--idle-grace-seconds=1", "--usage-seconds=5", "--rightsizing-seconds=1",
                       "--usage-exporter=default/app=dcgm:%d" % PORT]}
APART = True
POLICY = {"compute": {"percentile": 98, "headroomPercent": 25, "minPercent": 10, "maxPercent": 100, "stepPercent": 5},
          "memory": {"headroomPercent": 15, "min": "1Gi", "step": "256Mi"},
          "history": {"windowSeconds": 3600, "requiredSeconds": 60, "halfLifeSeconds": 600},
          "update": {"scaleDownDelaySeconds": 0, "minPodAgeSeconds": 0, "cooldownSeconds": 0, "replacement": "Evict"},
          "mode": "Automate"}
DAY = 86400


class Rolling:
    """Workloads of one namespace, what they use, and policy time."""

    def __init__(self, stack, space):
        self.stack, self.api, self.space = stack, stack.api, space
        self.uids, self.fewest, self.made, self.exporter = set(), None, {}, None

    def deploy(self, name, replicas, kind="Deployment", **template):
        labels = {"app": name, "rolled": "true"}
        spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": dict(template, labels=labels), "spec": dict(self.stack.pod("x", **on(WHERE))["spec"],
                                                                    terminationGracePeriodSeconds=0)}}
        if kind == "StatefulSet":
            spec.update(serviceName="none", podManagementPolicy="Parallel")
        self.made[name] = {"apiVersion": "apps/v1", "kind": kind, "spec": spec,
                           "metadata": {"name": name, "namespace": self.space}}
        self.api.create(kind.lower() + "s", self.made[name])
        self.wait(lambda: len(self.running(name)) == replicas, "the pods of %s to run" % name)
        assert all(is_whole(pod) for pod in self.running(name))

    def budget(self, name, available):
        self.api.create("poddisruptionbudgets", {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": name + "-pdb", "namespace": self.space},
            "spec": {"minAvailable": available, "selector": {"matchLabels": {"app": name}}}})
        wait_until(lambda: self.api.get("poddisruptionbudgets", name + "-pdb", self.space).get("status", {}).get(
            "expectedPods"), 60, "the budget to be counted")

    def pods(self, **selector):
        chosen = ",".join("%s=%s" % item for item in selector.items())
        return [p for p in self.api.list("pods", self.space, labelSelector=chosen) if is_there(p)]

    def running(self, name):
        return [p for p in self.pods(app=name) if is_ready(p)]

    def told(self):
        return "".join(exporting.use(pod, 20, 6144) for pod in self.pods(rolled="true") if is_ready(pod))

    def status(self, name, kind="deployment"):
        found = self.api.find("gpurecommendations", "%s-%s" % (kind, name), self.space)
        return (found or {}).get("status", {})

    def condition(self, name, which, kind="deployment"):
        """(reason, message) where it is True."""
        return next(((c["reason"], c["message"]) for c in self.status(name, kind).get("conditions", [])
                     if c["type"] == which and c["status"] == "True"), (None, ""))

    def forward(self, seconds):
        for controller in self.stack.controllers:
            controller.forward(seconds)

    def go_on(self, seconds):
        """So much policy time passes, and then their use is told again, and looked at."""
        self.forward(seconds)
        self.exporter.wait_read()
        self.look()

    def look(self):
        """Two whole rounds pass: whatever follows from how it is now has been decided."""
        def rounds():
            return self.stack.leader().metric("aliquot_recommendation_rounds")
        seen = rounds()
        self.wait(lambda: rounds() > seen + 2, "rounds to end")

    def wait(self, condition, what, timeout=90):
        return wait_until(condition, timeout, lambda: "%s; %s\n%s" % (what, [(p["metadata"]["name"], is_tenant(p), is_ready(p))
                                                                      for p in self.pods(rolled="true")],
                                                               self.stack.logs()), every=0.2)

    def is_busy(self):
        """Somebody gets ready: who takes too long of policy time has failed, and what starts pods goes by the clock on the wall."""
        return not all(is_ready(pod) for pod in self.pods(rolled="true"))

    def wait_later(self, condition, what, timeout=120, seconds=50):
        """Policy time goes on until it is so, unless it is busy. Use is read each 5 s on the wall and may be 300 s old."""
        def later():
            if condition():
                return True
            if not self.is_busy():
                self.forward(seconds)
            return False
        wait_until(later, timeout, lambda: "%s; %s\n%s" % (what, self.api.list("gpurecommendations", self.space),
                                                          self.stack.logs()), every=1)

    def wait_kept(self, name, reason, words):
        def blocked():
            found, message = self.condition(name, "UpdateBlocked")
            return found == reason and words in message
        self.wait_later(blocked, "%s and %s to be told of %s" % (reason, words, name), 200)

    def learn(self, name, kind="deployment"):
        def learnt():
            containers = self.status(name, kind).get("containers", [])
            return containers and containers[0].get("target", {}).get("computePercent") == 30
        self.wait_later(learnt, "a target of " + name)

    @contextlib.contextmanager
    def watched(self, name):
        """Looks all the time at how many are Ready, and who they are."""
        self.uids, self.fewest = set(), 1000

        def look(pods):
            there = [p for p in pods if is_there(p)]
            self.uids |= {p["metadata"]["uid"] for p in there}
            self.fewest = min(self.fewest, sum(is_ready(p) for p in there))
        with PodWatch(self.api, self.space, "app=" + name, look):
            yield

    def untouched(self, kind, name):
        """G1, G2: nobody wrote it, and what its owner would apply again is no change."""
        owner = self.api.get(kind, name, self.space)
        again = self.api.patch(kind, name, self.made[name], self.space, kind="apply", fieldManager="theirs",
                               force="true", dryRun="All")
        assert owner["metadata"]["generation"] == again["metadata"]["generation"] == 1
        assert again["spec"] == owner["spec"]
        invariants.check_audit(self.stack.plane)


def is_over(pod):
    """It may have been refused by its kubelet, whose devices come back a moment after their last pod; its controller
    makes others, and it stays to be looked at."""
    return pod["status"].get("phase") in ("Failed", "Succeeded")


def is_there(pod):
    return not pod["metadata"].get("deletionTimestamp") and not is_over(pod)


def is_ready(pod):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))


@pytest.fixture(name="rolling")
def fixture_rolling(stack, name):
    with asking.ruled_namespace(stack, POLICY) as space:
        rolling = Rolling(stack, space)
        with exporting.exporter_on(stack, WHERE, name(), PORT, rolling.told) as rolling.exporter:
            yield rolling


@pytest.mark.timeout(600)
def test_u1_one_at_a_time(rolling):
    """A Deployment of three on whole GPUs, with a budget that allows one to be away: three evictions, never more than
    one that is not Ready, nothing of the Deployment's written (G1, G2), and the reason told first (I5)."""
    rolling.deploy("web", 3)
    rolling.budget("web", 2)
    with rolling.watched("web"):
        rolling.wait_later(lambda: all(is_tenant(p) for p in rolling.running("web")) and
                           len(rolling.running("web")) == 3, "all three to have a share", 400)
    assert rolling.fewest == 2 and len(rolling.uids) == 6, (rolling.fewest, rolling.uids)
    assert {(note(p, "share"), note(p, "memory")) for p in rolling.running("web")} == {("0.30", "7Gi")}
    rolling.wait_later(lambda: rolling.status("web").get("lastUpdate", {}).get("result") == "Succeeded" and
                       rolling.status("web")["summary"].get("pods") == "3/3", "that to be told")
    rolling.untouched("deployments", "web")
    grec = rolling.api.get("gpurecommendations", "deployment-web", rolling.space)
    for reason in ("UpdateStarted", "PodReplaced"):
        rolling.wait(lambda: events(rolling.stack, grec, reason), reason)  # pylint: disable=cell-var-from-loop
    assert rolling.condition("web", "UpdateBlocked") == (None, "")


@pytest.mark.timeout(400)
def test_u2_a_budget_that_allows_none(rolling):
    """Nobody goes, and it says which budget and when it is asked again."""
    rolling.deploy("web", 3)
    rolling.budget("web", 3)
    with rolling.watched("web"):
        rolling.wait_kept("web", "PDB", "web-pdb")
        for _ in range(3):
            rolling.go_on(200)
        # Where much time passed at once something else may have kept them for a moment.
        rolling.wait_kept("web", "PDB", "web-pdb")
    assert rolling.fewest == 3 and len(rolling.uids) == 3


@pytest.mark.timeout(400)
def test_u6_a_stateful_set_gets_it_when_its_pods_are_made(rolling):
    """Nothing for a day; the pod that a person deletes comes back with a share."""
    rolling.deploy("db", 3, "StatefulSet")
    with rolling.watched("db"):
        rolling.learn("db", "statefulset")
        for _ in range(4):
            rolling.go_on(DAY // 4)
    assert rolling.fewest == 3 and len(rolling.uids) == 3
    rolling.api.delete("pods", "db-2", rolling.space, grace=0)
    rolling.wait(lambda: len(rolling.running("db")) == 3, "the third to come back")
    pods = {p["metadata"]["name"]: p for p in rolling.running("db")}
    assert is_tenant(pods["db-2"]) and is_whole(pods["db-0"]) and is_whole(pods["db-1"])
    assert not pods["db-2"]["spec"]["containers"][0]["resources"].get("limits", {}).get("nvidia.com/gpu")
    rolling.untouched("statefulsets", "db")


@pytest.mark.timeout(400)
def test_u10_an_annotation_keeps_a_pod(rolling):
    rolling.deploy("web", 2, annotations={"karpenter.sh/do-not-disrupt": "true"})
    with rolling.watched("web"):
        rolling.wait_kept("web", "NotEvictable", "pod web-")
        rolling.go_on(3600)
        rolling.wait_kept("web", "NotEvictable", "pod web-")
    assert rolling.fewest == 2 and len(rolling.uids) == 2


BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


@pytest.mark.timeout(500)
def test_u17_a_window(rolling):
    """At noon of a working day, where they are open at night: nobody goes, and it says when. At night they do."""
    controller = rolling.stack.controllers[0]
    rolling.api.patch("gpupolicies", rolling.space, {"spec": {"update": {"windows": [{
        "days": ["Mon", "Tue", "Wed", "Thu", "Fri"], "start": "22:00", "end": "04:00", "timeZone": "Europe/Berlin"}]}}})
    now = datetime.datetime.fromtimestamp(controller.policy_time(), BERLIN)
    noon = (now + datetime.timedelta(days=1)).replace(hour=12, minute=0, second=0)
    while noon.weekday() > 4:
        noon += datetime.timedelta(days=1)
    rolling.forward(int(noon.timestamp() - controller.policy_time()))
    rolling.deploy("web", 2)
    with rolling.watched("web"):
        rolling.wait_later(lambda: rolling.condition("web", "UpdateBlocked")[0] == "Window", "the window to be named", 200)
        opens = noon.replace(hour=22).astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M")
        assert opens in rolling.condition("web", "UpdateBlocked")[1], rolling.condition("web", "UpdateBlocked")
        assert len(rolling.uids) == 2 and rolling.fewest == 2
        rolling.forward(int(noon.replace(hour=22, minute=1).timestamp() - controller.policy_time()))
        rolling.wait_later(lambda: any(is_tenant(p) for p in rolling.running("web")), "the first to go", 200)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("boundary", ["before Evict", "after Evict"])
def test_a_kill_at_an_eviction_evicts_nobody_twice(rolling, boundary):
    """U16 for evictions: the controller ends before the request leaves, or before it knows the answer; whoever leads
    next goes on, and each pod was evicted once."""
    controller, = rolling.stack.controllers
    controller.arm(boundary)
    rolling.deploy("web", 2)
    with rolling.watched("web"):
        for _ in range(100):
            if not controller.alive():
                break
            rolling.forward(60)
            with contextlib.suppress(AssertionError):
                wait_until(lambda: not controller.alive(), 1, "its end")
        controller.wait_crashed()
        rolling.stack.heal()
        rolling.wait_later(lambda: all(is_tenant(p) for p in rolling.running("web")) and
                           len(rolling.running("web")) == 2, "both to have a share", 400)
    # What came while nobody answered for the webhook came whole, and went once more.
    assert len(rolling.uids) in ((4,) if boundary == "before Evict" else (4, 5)) and rolling.fewest >= 1
