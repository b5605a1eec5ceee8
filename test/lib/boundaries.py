"""The controller ends at one of its own writes, by name, and is started again: it must converge.

A boundary is "before NAME", when the request has not left, or "after NAME", when it was done and nobody but the
API server knows. The names are those of test/crash/crash.c, which only sanitized builds have.
"""

import contextlib
import itertools
import os
import re
import signal

import exporting
from api import ApiError
from binaries import TREE
from invariants import P, Picture, check_devices, note
from waiting import wait_until

HOME, EXPORTER_PORT = "aliquot-system", 9400
OTHER_GATE = "example.com/not-yet"
UPGRADE = "nvidia.com/gpu-driver-upgrade-state"
POOL = {"example.com/pool": "to-come"}
# To be told in a test's time what is measured.
MEASURING = ["--usage-seconds=5", "--rightsizing-seconds=1", "--checkpoint-seconds=5"]
# For each write the method of Stories that leads to it.
STORIES = {"Access": "starting", "Canary": "starting", "CreateCompanion": "growing",
           "DeleteCompanion": "growing", "CreateCapacity": "placing", "CreateProbe": "placing", "Grant": "placing",
           "DeleteProbe": "placing", "DeleteCapacity": "leaving", "Place": "placing", "Condition": "waiting",
           "Evict": "evicting", "PolicyStatus": "judging", "Event": "placing", "LeaseTake": "taking", "TermRaise": "taking",
           "LeaseRelease": "ending", "LeaseRenew": "renewing", "Secret": "uncertified", "Webhook": "untrusted",
           "GroupStatus": "grouping", "Recommendation": "measuring", "RecommendationStatus": "measuring",
           "Checkpoint": "measuring", "CheckpointStatus": "measuring", "Resize": "resizing",
           "RecommendationDelete": "retiring"}
# Names that no story leads to, and why.
ELSEWHERE = {"EventSeries": "written five minutes after the first word, at the earliest: unit test kube/events",
             **{"Surge" + write: "with the overlay surge and policy time ahead: test/e2e/test_surge.py"
                for write in ("Try", "Create", "Cheapen", "Restore", "Adopt", "Drop")},
             **{"Request" + write: "no agent asks in these stories; what is found half done: unit test certificates/signer"
                for write in ("Verdict", "Certificate")},
             "LeaseCreate": "the manifests make the Lease, and the controller has no right to"}


def names():
    """Every write that the controller knows, in the order of its source."""
    with open(os.path.join(TREE, "test", "crash", "crash.c"), encoding="utf-8") as file:
        return re.findall(r'^\t\{"(\w+)", WIRE_', file.read(), re.M)


def every():
    """All boundaries that the stories lead to."""
    return ["%s %s" % (when, name) for name in names() if name not in ELSEWHERE for when in ("before", "after")]


class Measured:
    """A Deployment of one pod in a namespace of its own, and an exporter that tells what it uses."""

    LESS, MORE = (20, 6144), (40, 12288)

    def __init__(self, stack, name):
        self.stack, self.api, self.name = stack, stack.api, name
        self.leader = stack.controllers[0]
        self.use, self.exporter = self.LESS, None
        self.node = stack.nodes[-1]["name"]

    def begin(self):
        self.api.create("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name}})
        self.api.create("gpupolicies", {
            "apiVersion": P + "v1alpha1", "kind": "GPUPolicy", "metadata": {"name": self.name},
            "spec": {"mode": "Automate", "update": {"scaleDownDelaySeconds": 0},
                     "history": {"windowSeconds": 3600, "requiredSeconds": 60, "halfLifeSeconds": 600},
                     "selector": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.name}}}}})
        here = {"kubernetes.io/hostname": self.node}
        told = self.stack.create_surely(self.name, namespace=self.name, gpus=0, labels={"app": "dcgm"}, nodeSelector=here)
        labels, pod = {"app": self.name}, self.stack.pod("x", nodeSelector=here)["spec"]
        self.api.create("deployments", {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": self.name},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": pod}}})
        told = self.stack.wait_running(self.name, 60, self.name)
        self.exporter = exporting.Exporter(told["status"]["podIP"], EXPORTER_PORT, self._told)

    def pods(self):
        return [p for p in self.api.list("pods", self.name, labelSelector="app=" + self.name)
                if not p["metadata"].get("deletionTimestamp")]

    def _told(self):
        return "".join(exporting.use(pod, *self.use) for pod in self.pods())

    def pass_time(self, seconds):
        self.leader.forward(seconds)

    def learnt(self):
        """Time goes on until it is so. Nothing was made twice, and it all belongs to somebody."""
        grecs = self.api.list("gpurecommendations", self.name)
        saved = self.api.list("gpuusagecheckpoints", self.name)
        assert len(grecs) <= 1 and len(saved) <= 1, (grecs, saved)
        status = grecs[0].get("status", {}) if grecs else {}
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", []))
        if not ready or not saved or not saved[0].get("status", {}).get("samples"):
            self.pass_time(20)
            return False
        owner, = grecs[0]["metadata"]["ownerReferences"]
        deployment = self.api.get("deployments", "web", self.name)
        assert owner["uid"] == deployment["metadata"]["uid"]
        assert saved[0]["metadata"]["ownerReferences"][0]["uid"] == grecs[0]["metadata"]["uid"]
        target = status["containers"][0]["target"]
        assert target == {"computePercent": 30, "memory": "7Gi"}, target
        return True

    def convert(self):
        """Its pod anew, which has the share; the uid."""
        for pod in self.pods():
            self.api.delete("pods", pod["metadata"]["name"], self.name, grace=0)

        def converted():
            pods = self.pods()
            return len(pods) == 1 and pods[0]["status"].get("phase") == "Running" and note(pods[0], "gpu-uuid") and pods[0]
        pod = wait_until(converted, 60, lambda: "the pod to have a share\n" + self.stack.logs())
        return pod["metadata"]["uid"]

    def grown(self, uid):
        pod, = self.pods()
        assert pod["metadata"]["uid"] == uid
        if (note(pod, "compute-milli"), note(pod, "memory-mib")) == ("550", "14336"):
            return True
        self.pass_time(20)
        return False

    def end(self):
        self.exporter.stop()
        going = [pod["metadata"]["uid"] for pod in self.api.list("pods", self.name)]
        self.api.delete("deployments", "web", self.name, propagationPolicy="Background")
        self.api.delete("pods", self.name, self.name, grace=1)
        # Whoever leads next never saw them, and would keep a share of theirs for minutes (C22).
        wait_until(lambda: not self.api.list("pods", self.name) and not any(
            uid in (note(pod, "grants") or "") for pod in self.stack.capacity_pods() for uid in going), 60,
                   "its pods to go, and their shares")
        wait_until(lambda: not self.api.list("gpurecommendations", self.name) and
                   not self.api.list("gpuusagecheckpoints", self.name), 60, "what was measured to go with its workload")
        self.api.delete("gpupolicies", self.name)
        self.api.delete("namespaces", self.name)


class Stories:
    """For each write something that leads to it. A story ARMS the controller, makes it write, and returns a check
    that is to come true once it runs again."""

    def __init__(self, stack, prefix="cross", pods=3):
        self.stack, self.api = stack, stack.api
        self.leader = stack.controllers[0]
        self._numbers = itertools.count()
        self._prefix, self._pods = prefix, pods
        self._made = []

    # What happens.

    def pods(self, count=None, fraction="0.4", **options):
        made = ["%s-%d" % (self._prefix, next(self._numbers)) for _ in range(count or self._pods)]
        for name in made:
            self.stack.create_surely(name, fraction=fraction, **options)
        self._made += made
        return made

    def all_run(self, made):
        return lambda: all(self.api.get("pods", name, "default")["status"].get("phase") == "Running" for name in made)

    def running(self, **options):
        made = self.pods(**options)
        wait_until(self.all_run(made), 60, lambda: "pods to run\n" + self.stack.logs())
        return made

    def remove(self):
        for name in self._made:
            with contextlib.suppress(ApiError):
                self.api.delete("pods", name, "default", grace=1)
        self._made = []

    def placing(self, boundary):
        """All are there and converted before the first is acted for: another gate holds them until then."""
        made = self.pods(schedulingGates=[{"name": OTHER_GATE}])
        self.leader.arm(boundary)
        for name in made:
            self.api.patch("pods", name, {"spec": {"schedulingGates": [{"name": P + "gpu"}]}}, "default")
        return self.all_run(made)

    def leaving(self, boundary):
        self.running()
        self.leader.arm(boundary)
        self.remove()
        return lambda: not self.stack.capacity_pods()

    def waiting(self, boundary):
        self.leader.arm(boundary)
        name, = self.pods(1, memory="200Gi")

        def told():
            conditions = self.api.get("pods", name, "default")["status"].get("conditions", [])
            return any(c["type"] == P + "Placed" and c["reason"] == "LargerThanAnyGpu" for c in conditions)
        return told

    def growing(self, boundary):
        """Somebody fits nowhere, and a pod that stands in for it waits for a node; then one suits."""
        usual, node = self.leader.argv, self.stack.nodes[-1]["name"]
        whole = self.whole_on(node)
        self.leader.kill()
        self.leader.argv = ["--scale-up-seconds=1" if a.startswith("--scale-up-seconds") else a for a in usual]
        self.leader.arm(boundary)
        self.leader.start(wait_ready=False)
        made = self.pods(1, nodeSelector=POOL)

        def waiting():
            return len(self.at_home("companion=true")) == 1

        def comes():
            self.api.delete("pods", whole, "default", grace=1)
            self.wait_free(node)
            self.api.patch("nodes", node, {"metadata": {"labels": POOL}})

        if boundary.endswith(" DeleteCompanion"):
            wait_until(waiting, 60, lambda: "a pod that waits for a node\n" + self.stack.logs())
            # The scheduler is faster than the controller, which would else open a GPU there itself.
            self.leader.pause()
            comes()
            wait_until(lambda: any(p["status"].get("phase") == "Running" for p in self.at_home("companion=true")), 60,
                       "the one that waited to run")
            self.leader.resume()

        def grown():
            if waiting() and self.api.find("pods", whole, "default"):
                comes()
            if not self.all_run(made)() or self.at_home("companion=true"):
                return False
            self.api.patch("nodes", node, {"metadata": {"labels": {key: None for key in POOL}}})
            self.leader.kill()
            self.leader.argv = usual
            self.leader.start(wait_ready=False)
            return True
        return grown

    def whole_on(self, node):
        """A pod that has its GPU: no share can be given there meanwhile."""
        name = "%s-whole-%d" % (self._prefix, next(self._numbers))
        self.wait_free(node)
        self.stack.create_surely(name, nodeSelector={"kubernetes.io/hostname": node})
        wait_until(self.all_run([name]), 60, "the whole pod to run")
        self._made.append(name)
        return name

    def wait_free(self, node):
        """A kubelet has a GPU back a while after the pod is gone, and refuses whoever comes before."""
        wait_until(lambda: self.stack.kubelet.state()["nodes"][node]["free"], 60, "a free GPU of " + node)

    def at_home(self, selector):
        return self.api.list("pods", HOME, labelSelector=P + selector)

    def evicting(self, boundary):
        # They take their time: who goes and is gone while nobody leads has its share kept for minutes (C22).
        made = self.running(count=2, annotations={"fake.kubelet/ignore-term": "true"}, terminationGracePeriodSeconds=20)
        where = self.api.get("pods", made[0], "default")["spec"]["nodeName"]
        self.leader.arm(boundary)
        self.api.patch("nodes", where, {"metadata": {"labels": {UPGRADE: "pod-deletion-required"}}})

        def emptied():
            if any(p["spec"].get("nodeName") == where for p in self.api.list("pods", "default")):
                return False
            self.api.patch("nodes", where, {"metadata": {"labels": {UPGRADE: None}}})
            return True
        return emptied

    def judging(self, boundary):
        self.leader.arm(boundary)
        name = "%s-%d" % (self._prefix, next(self._numbers))
        self.api.create("gpupolicies", {"apiVersion": P + "v1alpha1", "kind": "GPUPolicy", "metadata": {"name": name},
                                        "spec": {"selector": {"podSelector": {"matchLabels": {"of": name}}}}})

        def shown():
            found = self.api.find("gpupolicies", name)
            if found is None:
                return True
            if found.get("status", {}).get("conditions"):
                self.api.delete("gpupolicies", name)
            return False
        return shown

    def starting(self, boundary):
        """It is written when a leader begins."""
        self.leader.kill()
        self.leader.arm(boundary)
        self.leader.start(wait_ready=False)
        return self.leader.leads

    def taking(self, boundary):
        """The Lease is nobody's: it is not merely renewed."""
        self.leader.kill()
        self.api.patch("leases", "aliquot-controller", {"spec": {"holderIdentity": ""}}, HOME)
        self.leader.arm(boundary)
        self.leader.start(wait_ready=False)
        return self.leader.leads

    def ending(self, boundary):
        self.leader.arm(boundary)
        self.leader.signal(signal.SIGTERM)
        return self.leader.leads

    def renewing(self, boundary):
        self.leader.arm(boundary)
        return self.leader.leads

    def uncertified(self, boundary):
        self.leader.arm(boundary)
        self.api.patch("secrets", "aliquot-webhook", {"data": {"tls.crt": None, "tls.key": None}}, HOME)
        return lambda: self.api.get("secrets", "aliquot-webhook", HOME).get("data", {}).get("tls.crt")

    def untrusted(self, boundary):
        self.leader.arm(boundary)
        hook = self.api.get("mutatingwebhookconfigurations", "zz-aliquot")
        before = hook["webhooks"][0]["clientConfig"].pop("caBundle")
        self.api.replace("mutatingwebhookconfigurations", hook)

        def mended():
            now = self.api.get("mutatingwebhookconfigurations", "zz-aliquot")
            return now["webhooks"][0]["clientConfig"].get("caBundle") == before
        return mended

    def grouping(self, boundary):
        self.leader.arm(boundary)
        name = "%s-%d" % (self._prefix, next(self._numbers))
        self.api.create("gpuworkloadgroups", {
            "apiVersion": P + "v1alpha1", "kind": "GPUWorkloadGroup", "metadata": {"name": name},
            "spec": {"rules": [{"labels": [{"key": "of", "value": name}]}], "keyFrom": "Constant", "keyName": "x"}})

        def shown():
            found = self.api.find("gpuworkloadgroups", name)
            if found is None:
                return True
            if found.get("status", {}).get("conditions"):
                self.api.delete("gpuworkloadgroups", name)
            return False
        return shown

    # What is measured: its policy time passes as fast as it likes.

    def measured(self):
        """A Deployment whose pod an exporter measures; the leader is started anew for that."""
        self._usual = self.leader.argv
        self.leader.kill()
        name = "%s-%d" % (self._prefix, next(self._numbers))
        self.leader.argv = [*self._usual, *MEASURING, "--usage-exporter=%s/app=dcgm:%d" % (name, EXPORTER_PORT)]
        return Measured(self.stack, name)

    def measuring(self, boundary):
        """From the first figure to a recommendation that is kept, whatever is cut off: one object of each, and the
        target that the figures come to (R11)."""
        sized = self.measured()
        self.leader.arm(boundary)
        self.leader.start(wait_ready=False)
        sized.begin()
        return lambda: self._done(sized, sized.learnt)

    def resizing(self, boundary):
        sized = self.measured()
        self.leader.start()
        sized.begin()
        wait_until(sized.learnt, 60, lambda: "a target\n" + self.stack.logs(), every=0.5)
        uid = sized.convert()
        sized.use = sized.MORE
        sized.pass_time(7200)
        self.leader.arm(boundary)
        return lambda: self._done(sized, lambda: sized.grown(uid))

    def retiring(self, boundary):
        """What was known of a workload that nobody owns, and that is not heard of any more."""
        name = "gpuworkloadgroup-%s" % self._prefix
        self.api.create("gpurecommendations", {
            "apiVersion": P + "v1alpha1", "kind": "GPURecommendation", "metadata": {"name": name, "namespace": "default"},
            "spec": {"targetRef": {"group": P[:-1], "kind": "GPUWorkloadGroup", "name": self._prefix}}})
        self.leader.arm(boundary)
        self.leader.forward(9 * 86400)
        return lambda: self.api.find("gpurecommendations", name, "default") is None

    def _done(self, sized, condition):
        if not condition():
            return False
        sized.end()
        self.leader.kill()
        self.leader.argv = self._usual
        self.leader.start(wait_ready=False)
        return True

    # How it is judged.

    def crash(self, boundary, timeout=60):
        """To that write, and what is true of the cluster while nobody leads; then the check."""
        came = getattr(self, STORIES[boundary.split()[1]])(boundary)
        self.leader.wait_crashed(timeout)
        Picture(self.api).check(resizing=boundary.endswith(" Resize"))
        return came

    def tell(self, boundary):
        """One boundary from the beginning to rest."""
        came = self.crash(boundary)
        self.leader.start(wait_ready=False)
        wait_until(came, 60, lambda: "%s to be made good\n%s" % (boundary, self.stack.logs()),
                   ignore=(ApiError, OSError))
        self.stack.heal()
        picture = wait_until(lambda: Picture(self.api).check(), 60, "the promises", ignore=(AssertionError,))
        check_devices(picture, self.stack.kubelet.state())
        placed = {p["metadata"]["name"] for p in picture.placed}
        unplaced = {p["metadata"]["name"] for p in picture.tenants if not note(p, "gpu-uuid")}
        self.remove()
        wait_until(lambda: not self.stack.capacity_pods() and not self.at_home("probe"), 60,
                   lambda: "all capacity pods and probes to leave\n" + self.stack.logs())
        return placed, unplaced
