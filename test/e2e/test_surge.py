"""Surge by adoption: the new pod stands beside the old one, is Ready, and takes its place in the ReplicaSet, while nobody
writes a word on the Deployment (C24, C25)."""

import contextlib
import json
import os

import pytest

import asking
import exporting
import manifests
import surge_kills
from api import ApiError
from helpers import events, is_tenant, is_whole, note, on
from test_rolling import POLICY, Rolling, is_over, is_ready
from waiting import wait_until
from watching import PodWatch

P = "aliquot.dev/"
PORT = 9402
WHERE = "surge-0"
FEW = "surge-few-0"
OVERLAY = os.path.join(manifests.MANIFESTS, "overlays", "surge")
# The shares of a controller's tenants that is killed are held for minutes, each with a GPU: one for each kill of a soak.
STACK = {"nodes": [(WHERE, 20), (FEW, 5)], "controllers": [["--identity=leader"]],
         "arguments": ["--idle-grace-seconds=1", "--usage-seconds=5", "--rightsizing-seconds=1",
                       "--usage-exporter=default/app=dcgm:%d" % PORT]}
APART = True
UPDATE = dict(POLICY["update"], replacement="SurgeThenEvict")
HASH, COST = "pod-template-hash", "controller.kubernetes.io/pod-deletion-cost"


class Surging(Rolling):
    """Workloads on whole GPUs of one node, and what is seen of their surges."""

    percent = 20

    def __init__(self, stack, space, where=WHERE):
        super().__init__(stack, space)
        self.where = where

    def told(self):
        return "".join(exporting.use(pod, self.percent, 6144) for pod in self.pods(rolled="true") if is_ready(pod))

    def user_manifest(self, name, replicas=1, notes=None, template=None, **spec):
        chosen = {"app": name}
        meta = {"labels": dict(chosen, rolled="true"), "annotations": notes or {}}
        body = dict(self.stack.pod("x", **on(self.where))["spec"], terminationGracePeriodSeconds=0)
        body.update(template or {})
        return {"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": name, "namespace": self.space, "labels": {"app.kubernetes.io/instance": "argo"}},
                "spec": dict({"replicas": replicas, "selector": {"matchLabels": chosen},
                              "template": {"metadata": meta, "spec": body}}, **spec)}

    def make(self, name, replicas=1, **options):
        self.api.apply(self.user_manifest(name, replicas, **options), manager="kubectl")
        self.wait(lambda: len(self.running(name)) == replicas, "the pods of %s to run" % name)
        assert all(is_whole(pod) for pod in self.running(name))

    def frozen(self, name):
        """What must be byte for byte the same before and after."""
        deployment = self.api.get("deployments", name, self.space)
        sets = self.api.list("replicasets", self.space, labelSelector="app=" + name)
        return json.dumps([deployment["metadata"]["generation"], deployment["spec"], deployment["metadata"].get("labels"),
                           {s["metadata"]["name"]: [s["spec"], s["metadata"]["generation"]] for s in sets}],
                          sort_keys=True)

    def converted(self, name, replicas=1):
        pods = self.pods(app=name)
        return len(pods) == replicas and all(is_ready(p) and is_tenant(p) for p in pods)

    def beside(self, name=None):
        """Pods of ours that nobody has adopted."""
        return [p for p in self.api.list("pods", self.space, labelSelector=P + "surge" + (",app=" + name if name else ""))
                if not any(o.get("controller") for o in p["metadata"].get("ownerReferences", []))]

    def blocked(self, name):
        return self.condition(name, "UpdateBlocked")

    def is_busy(self):
        """A pod that stands beside another has some minutes of policy time to be adopted, and that takes a dozen requests."""
        return super().is_busy() or self.beside()

    def at_rest(self, name, replicas=1):
        """No pod too many, none of ours left over, no cost of ours on anybody."""
        pods = [p for p in self.api.list("pods", self.space, labelSelector="app=" + name) if not is_over(p)]
        return len(pods) == replicas and not self.beside(name) and not any(
            note(p, "surged-by") or COST in p["metadata"].get("annotations", {}) for p in pods)


def apply_overlay(api):
    for obj in manifests.render(OVERLAY):
        api.apply(obj)


def remove_overlay(api):
    plural = {"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings",
              "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
              "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings"}
    for obj in reversed(manifests.render(OVERLAY)):
        with contextlib.suppress(ApiError):
            api.delete(plural[obj["kind"]], obj["metadata"]["name"])


@pytest.fixture(name="overlay", scope="module", autouse=True)
def fixture_overlay(cp):
    """Before the controller starts: whether it is there it asks again 30 s later."""
    apply_overlay(cp.admin)
    yield
    remove_overlay(cp.admin)


@contextlib.contextmanager
def surging_in(stack, name, where=WHERE):
    with asking.ruled_namespace(stack, dict(POLICY, update=UPDATE)) as space:
        surging = Surging(stack, space, where)
        with exporting.exporter_on(stack, where, name(), PORT, surging.told) as surging.exporter:
            yield surging


@pytest.fixture(name="surging")
def fixture_surging(stack, name):
    with surging_in(stack, name) as surging:
        yield surging


@contextlib.contextmanager
def births(surging, name):
    """Every pod of the workload as it was born."""
    seen = {}

    def look(pods):
        for pod in pods:
            seen.setdefault(pod["metadata"]["uid"], pod)
    with PodWatch(surging.api, surging.space, "app=" + name, look):
        yield seen


@pytest.mark.timeout(900)
def test_u5_four_whole_gpus_become_one(stack, name):
    """U5: four Deployments of one replica on four whole GPUs, one GPU free: one capacity pod serves all four, four GPUs
    are free, and each had a Ready pod all the time. One has a volume for many, which is no hindrance (C25)."""
    with surging_in(stack, name, FEW) as surging:
        four_become_one(surging)
        surging.api.delete("persistentvolumes", surging.space)


def four_become_one(surging):
    surging.percent = 19
    names = ["web-%d" % i for i in range(4)]
    shared = claim(surging, "ReadWriteMany")
    for name in names:
        surging.make(name, **(shared if name == names[0] else {}))
    before = [surging.frozen(name) for name in names]
    surging.fewest = 1000
    with contextlib.ExitStack() as all_watched:
        watches = []
        for name in names:
            watch = Surging(surging.stack, surging.space, FEW)
            all_watched.enter_context(watch.watched(name))
            watches.append(watch)
        # One in ten minutes.
        surging.wait_later(lambda: all(surging.converted(name) and surging.at_rest(name) for name in names),
                           "all four to be converted", 600, 100)
        surging.wait(lambda: len([p for p in surging.stack.capacity_pods() if p["spec"].get("nodeName") == FEW]) == 1,
                     "one capacity pod to be left")
    assert [watch.fewest >= 1 for watch in watches] == [True] * 4
    uuids = {note(pod, "gpu-uuid") for name in names for pod in surging.pods(app=name)}
    assert len(uuids) == 1 and {note(p, "share") for n in names for p in surging.pods(app=n)} == {"0.25"}
    surging.wait(lambda: len(surging.stack.kubelet.state()["nodes"][FEW]["free"]) == 4, "four free GPUs")
    assert [surging.frozen(name) for name in names] == before


@pytest.mark.timeout(600)
def test_u3_one_replica_is_converted_and_never_zero_are_ready(surging):
    """U3, G1, G2, G3: one replica on a whole GPU. At every moment at least one pod is Ready; Deployment and
    ReplicaSet are the same to the byte; the new pod has an owner from birth, and no label that its template has not."""
    surging.make("web")
    before = surging.frozen("web")
    old, = surging.pods(app="web")
    with births(surging, "web") as seen, surging.watched("web"):
        surging.wait_later(lambda: surging.converted("web") and surging.at_rest("web"), "it to be converted", 300)
    assert surging.fewest >= 1
    assert surging.frozen("web") == before
    new, = surging.pods(app="web")
    assert new["metadata"]["uid"] != old["metadata"]["uid"] and len(surging.uids) == 2
    assert (note(new, "share"), note(new, "memory")) == ("0.30", "7Gi")
    owner, = new["metadata"]["ownerReferences"]
    assert owner["kind"] == "ReplicaSet" and owner["controller"]
    first = seen[new["metadata"]["uid"]]
    owner, = first["metadata"]["ownerReferences"]
    assert owner["kind"] == "ReplicaSet" and not owner.get("controller")
    template = old["metadata"]["labels"]
    assert {k: v for k, v in first["metadata"]["labels"].items() if not k.startswith(P)} == {
        k: v for k, v in template.items() if k != HASH}
    result = surging.api.apply(dict(surging.user_manifest("web")), manager="kubectl")
    assert surging.frozen("web") == before and result["metadata"]["generation"] == 1
    grec = surging.api.get("gpurecommendations", "deployment-web", surging.space)
    surging.wait(lambda: events(surging.stack, grec, "UpdateStarted"), "the event")
    surging.wait_later(lambda: surging.status("web").get("lastUpdate", {}).get("result") == "Succeeded", "that to be told")
    assert surging.blocked("web") == (None, "")

    def columns():
        found = surging.api.columns("gpurecommendations", "deployment-web", surging.space)
        return [found[c] or "" for c in ("Kind", "Compute", "Memory", "Alloc-C", "Alloc-M", "Pods", "Ready", "Healing")]
    wanted = ["Deployment", "30%", "7Gi", "30%", "7Gi", "1/1", "True", ""]
    surging.wait(lambda: columns() == wanted, "S1: what kubectl shows of it to be %s" % wanted)


def claim(surging, mode):
    """A volume that is there and bound, and the part of a template that mounts it."""
    size = {"storage": "1Gi"}
    surging.api.create("persistentvolumes", {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": surging.space},
        "spec": {"capacity": size, "accessModes": [mode], "hostPath": {"path": "/none"}, "storageClassName": "",
                 "claimRef": {"namespace": surging.space, "name": "model"}}})
    surging.api.create("persistentvolumeclaims", {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "model", "namespace": surging.space},
        "spec": {"accessModes": [mode], "resources": {"requests": size}, "storageClassName": "",
                 "volumeName": surging.space}})
    return {"template": {"volumes": [{"name": "model", "persistentVolumeClaim": {"claimName": "model"}}]}}


def host_port(surging):
    spec = surging.stack.pod("x", **on(WHERE))["spec"]
    spec["containers"][0]["ports"] = [{"containerPort": 9999, "hostPort": 9999}]
    return {"template": {"containers": spec["containers"]}}


def greedy(surging, kind, name):
    """Its selector matches the new pod, which has no controller yet."""
    labels = {"app": name}
    spec = {"selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels}, "spec": dict(surging.stack.pod("x", gpus=0, **on("nowhere"))["spec"])}}
    if kind == "StatefulSet":
        spec["serviceName"] = "none"
    surging.api.create(kind.lower() + "s", {"apiVersion": "apps/v1", "kind": kind, "spec": dict(spec, replicas=0),
                                            "metadata": {"name": "greedy", "namespace": surging.space}})


def scaler(surging, name):
    surging.api.create("horizontalpodautoscalers", {
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "hpa", "namespace": surging.space},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}, "minReplicas": 1,
                 "maxReplicas": 3, "metrics": [{"type": "External", "external": {
                     "metric": {"name": "queue"}, "target": {"type": "Value", "value": "5"}}}]}})
    surging.api.patch("horizontalpodautoscalers", "hpa", {"status": {"currentReplicas": 1, "desiredReplicas": 2}},
                      surging.space, sub="status")


# What makes it unfit or forbids it, each of a workload of its own: how it comes about, and words of the reason that people
# are told.
VIOLATIONS = {
    "host-port": (host_port, None, "ports of the node"),
    "own-cost": (lambda s: {"notes": {COST: "5"}}, None, "deletion costs"),
    "exclusive-volume": (lambda s: claim(s, "ReadWriteOnce"), None, "only one of them can have"),
    "budget": (None, lambda s, name: s.budget(name, 2), "budget-pdb"),
    "other-replica-set": (None, lambda s, name: greedy(s, "ReplicaSet", name), "ReplicaSet greedy"),
    "other-stateful-set": (None, lambda s, name: greedy(s, "StatefulSet", name), "StatefulSet greedy"),
    "autoscaler": (None, scaler, "hpa"),
}


@pytest.mark.timeout(400)
def test_c25_violated_on_purpose_there_is_no_surge(surging):
    """And the reason is named of each; the old pods serve on."""
    # Nobody goes before all is as it should be, however long it takes all to run.
    surging.api.patch("gpupolicies", surging.space, {"spec": {"mode": "Recommend"}})
    for name, (options, violate, _) in VIOLATIONS.items():
        surging.make(name, **(options(surging) if options else {}))
        if violate:
            violate(surging, name)
    before = {name: surging.frozen(name) for name in VIOLATIONS}
    uids = {name: {p["metadata"]["uid"] for p in surging.pods(app=name)} for name in VIOLATIONS}

    def wait_named(timeout):
        unnamed = set(VIOLATIONS)

        def all_named():
            # While it is tried again there is none for a moment.
            unnamed.difference_update(n for n in set(unnamed) if VIOLATIONS[n][2] in surging.blocked(n)[1])
            return not unnamed
        surging.wait_later(all_named, "each reason to be named", timeout)
    watches = {name: Surging(surging.stack, surging.space) for name in VIOLATIONS}
    with contextlib.ExitStack() as all_watched:
        for name, watch in watches.items():
            all_watched.enter_context(watch.watched(name))
        surging.api.patch("gpupolicies", surging.space, {"spec": {"mode": "Automate"}})
        wait_named(200)
        surging.go_on(600)
        wait_named(60)
    for name, watch in watches.items():
        assert (watch.fewest, watch.uids) == (1, uids[name]) and not surging.beside(name), name
        assert surging.frozen(name) == before[name], name
    surging.api.delete("persistentvolumes", surging.space)


@pytest.mark.timeout(400)
def test_c24_without_the_overlay_nothing_is_made(stack, name):
    """It is off, says so, and comes alive when a person applies the overlay."""
    controller, = stack.controllers
    remove_overlay(stack.api)
    try:
        # It asks when it starts, and then each 30 s.
        assert controller.stop() == 0
        controller.start(wait_ready=False)
        stack.heal()
        with surging_in(stack, name) as surging:
            surging.make("web")
            with surging.watched("web"):
                surging.wait_later(lambda: "overlay surge is not applied" in surging.blocked("web")[1], "that to be told", 200)
                assert surging.fewest == 1 and len(surging.uids) == 1
                apply_overlay(stack.api)
                surging.wait_later(lambda: surging.converted("web") and surging.at_rest("web"), "it to be converted", 200)
            assert surging.fewest >= 1
    finally:
        apply_overlay(stack.api)


GATE = "example.com/may-serve"


def open_gate(surging):
    """Somebody else lets its pods be Ready, all that there are; false without any."""
    pods = surging.pods(app="web")
    for pod in pods:
        surging.api.patch("pods", pod["metadata"]["name"], {"status": {"conditions": [{"type": GATE, "status": "True"}]}},
                          surging.space, "status", "strategic")
    return pods


@pytest.mark.timeout(400)
def test_c25_what_comes_meanwhile_is_waited_for(surging):
    """The new pod stands there Ready; a disruption budget that would not allow the old one to go is honoured although
    the ReplicaSet would not ask it."""
    surging.api.apply(surging.user_manifest("web", template={"readinessGates": [{"conditionType": GATE}]}), manager="kubectl")
    surging.wait(lambda: open_gate(surging) and surging.running("web"), "its pod to be Ready")
    with surging.watched("web"):
        surging.wait_later(surging.beside, "the new pod", 200)
        # The new pod is not Ready before the budget is there, however long that takes.
        surging.budget("web", 2)
        surging.wait(lambda: surging.stack.leader().metric('aliquot_around_objects{kind="poddisruptionbudgets"}') > 0,
                     "the budget to be known")
        open_gate(surging)
        grec = surging.api.get("gpurecommendations", "deployment-web", surging.space)
        surging.wait(lambda: any("web-pdb" in e["message"] for e in events(surging.stack, grec, "SurgeWaits")),
                     "the budget to be named")
        assert len(surging.pods(app="web")) == 2 and surging.beside()
        surging.api.delete("poddisruptionbudgets", "web-pdb", surging.space)
        surging.wait(lambda: surging.converted("web") and surging.at_rest("web"), "it to be adopted")
    assert surging.fewest >= 1 and len(surging.uids) == 2


@pytest.mark.timeout(400)
def test_u15_a_rollout_of_a_persons_wins(surging):
    """The image changes while the new pod of the old template gets ready, and from then on pods need no time for that: our
    new pod goes all the same, none is left over."""
    surging.make("web", minReadySeconds=40)
    with surging.watched("web"):
        surging.wait_later(surging.beside, "the new pod", 200)
        made, = surging.beside()
        surging.api.patch("deployments", "web", {"spec": {"minReadySeconds": 0, "template": {
            "metadata": {"annotations": {"v": "2"}}}}}, surging.space)
        surging.wait(lambda: not surging.api.find("pods", made["metadata"]["name"], surging.space) or
                     made["metadata"]["uid"] not in {p["metadata"]["uid"] for p in surging.pods(app="web")},
                     "our pod of the old template to go")
        surging.wait(lambda: surging.at_rest("web") and surging.converted("web"), "their rollout to end", 180)
    pod, = surging.pods(app="web")
    assert pod["metadata"]["annotations"]["v"] == "2" and surging.fewest >= 1
    assert surging.api.get("deployments", "web", surging.space)["metadata"]["generation"] == 2


def crash(surging, boundary):
    """Until it has ended at that write."""
    controller, = surging.stack.controllers
    for _ in range(150):
        if not controller.alive():
            break
        if not surging.is_busy():
            surging.forward(60)
        with contextlib.suppress(AssertionError):
            wait_until(lambda: not controller.alive(), 1, "its end")
    grec = surging.api.find("gpurecommendations", "deployment-web", surging.space)
    assert not controller.alive(), "%s does not come: %s %s %s" % (
        boundary, surging.blocked("web"), [e["message"] for e in events(surging.stack, grec)],
        [(p["metadata"]["name"], is_tenant(p), is_ready(p)) for p in surging.pods(app="web")])
    controller.wait_crashed()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("boundary", surge_kills.KILLS)
def test_u16_a_kill_between_any_two_writes_leaves_nothing(surging, boundary):
    """Whoever leads next has it adopted or deleted within 60 s, finds its costs, and begins no second one."""
    controller, = surging.stack.controllers
    surging.make("web")
    before = surging.frozen("web")
    # Before there is a target: once there is one, a surge may be over as soon as we see it.
    controller.arm(boundary)
    with surging.watched("web"):
        crash(surging, boundary)
        surging.stack.heal()
        surging.wait(lambda: surging.at_rest("web"), "it to be adopted or deleted", 60)
        surging.wait_later(lambda: surging.converted("web") and surging.at_rest("web"), "it to be converted", 300)
    assert surging.fewest >= 1 and surging.frozen("web") == before
    assert len(surging.uids) == 2, surging.uids


@pytest.mark.timeout(600)
@pytest.mark.parametrize("boundary", surge_kills.GIVEN_UP)
def test_u16_a_kill_while_it_is_given_up_leaves_nothing(surging, boundary):
    """Killed once the old pod is cheap; a person's rollout comes meanwhile; killed again where it takes that back."""
    controller, = surging.stack.controllers
    surging.make("web")
    controller.arm("after SurgeCheapen")
    with surging.watched("web"):
        crash(surging, "after SurgeCheapen")
        surging.api.patch("deployments", "web", {"spec": {"template": {
            "metadata": {"annotations": {"v": "2"}},
            "spec": {"schedulingGates": [{"name": "example.com/hold"}]}}}}, surging.space)
        surging.wait(lambda: len(surging.api.list("replicasets", surging.space, labelSelector="app=web")) == 2,
                     "their ReplicaSet")
        controller.arm(boundary)
        controller.start(wait_ready=False)
        # It has to lead first.
        controller.wait_crashed(120)
        surging.stack.heal()
        surging.wait(lambda: not surging.beside() and not any(
            note(p, "surged-by") or COST in p["metadata"].get("annotations", {}) for p in surging.pods(app="web")),
                     "nothing of it to be left", 60)
    assert surging.fewest >= 1
