"""The whole product on one machine: control plane, manifests, fake nodes and real controllers.

    with Stack.up(plane, nodes=[("node-0", 2)], binary=path) as stack:
        stack.create_pod("a", fraction="0.25")
        stack.wait_placed("a")

Controllers run with exactly the rights of the manifests: their token is that of the service account.
"""

import contextlib
import http.client
import json
import os
import signal
import tempfile
import time
import urllib.request

import manifests
import ports
import processes
from api import ApiError
from fakekubelet import FakeKubelet
from forwarder import Forwarder
from waiting import wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IMAGE = "aliquot:test"
GRACE_S = 30  # terminationGracePeriodSeconds of manifests/controller.yaml
# What a sanitizer leaves in a log.
FINDINGS = ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:")


def binary():
    """The built controller: $ALIQUOT_BINARY, or the development build."""
    return os.environ.get("ALIQUOT_BINARY", os.path.join(ROOT, "build", "src", "app", "aliquot"))


class Controller:
    """One controller process."""

    def __init__(self, plane, webhook_port=None, metrics_port=None, arguments=(), program=None):
        taken = ports.reserve(os.path.dirname(plane.dir), plane.dir, 2)
        self.plane = plane
        self.webhook_port = webhook_port or taken[0]
        self.metrics_port = metrics_port or taken[1]
        self.dir = tempfile.mkdtemp(prefix="controller-", dir=plane.dir)
        self.log_path = os.path.join(self.dir, "controller.log")
        self.argv = [program or binary(), "controller",
                     "--kubeconfig", plane.kubeconfig("controller"),
                     "--webhook-listen", "127.0.0.1:%d" % self.webhook_port,
                     "--metrics-listen", "127.0.0.1:%d" % self.metrics_port,
                     "--webhook-names", "127.0.0.1,localhost",
                     # There is no autoscaler of nodes: only the test of C14 wants capacity pods that wait for one.
                     "--image", IMAGE, "--debug", "--scale-up-seconds=0", *arguments]
        self.crash_at = os.path.join(self.dir, "crash-at")
        self._ahead_at, self._ahead_s = os.path.join(self.dir, "ahead"), 0
        self.record = None
        self.told_to_stop = False
        self.told_at = self.took_s = 0

    def start(self, wait_ready=True):
        self.told_to_stop = False
        self.record = processes.start(self.argv, self.log_path,
                                      env=dict(os.environ, ALIQUOT_CRASH_AT=self.crash_at,
                                               ALIQUOT_AHEAD=self._ahead_at))
        self.plane.adopt("controller-%d" % self.metrics_port, self.record)
        if wait_ready:
            self.wait_ready()
        return self

    def wait_ready(self, timeout=60):
        def ready():
            assert self.alive(), "the controller ended:\n" + self.log()
            return self.get("/readyz", check=False)[0] == 200
        wait_until(ready, timeout, "the controller's /readyz\n", ignore=(OSError,))

    def wait_open(self, timeout=60):
        """It would convert (C2): it has seen the leader renew the Lease, among others."""
        wait_until(lambda: self.metric("aliquot_conversion_open") == 1, timeout,
                   lambda: "it to convert\n" + self.log(), ignore=(OSError,))

    def alive(self):
        return self.record is not None and processes.alive(self.record)

    def get(self, path, method="GET", check=True, timeout=15):
        request = urllib.request.Request(
            "http://127.0.0.1:%d%s" % (self.metrics_port, path), method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            if check:
                raise
            return error.code, error.read().decode()

    def metrics(self):
        """{series: value} of /metrics."""
        values = {}
        for line in self.get("/metrics")[1].splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        return values

    def metric(self, prefix):
        """The sum of all series whose name and labels begin with PREFIX."""
        return sum(value for name, value in self.metrics().items() if name.startswith(prefix))

    def writes(self):
        """How many requests other than reads it has had answered by the API server."""
        return sum(value for name, value in self.metrics().items()
                   if name.startswith("aliquot_api_requests_total") and
                   not any('verb="%s"' % verb in name for verb in ("GET", "LIST", "WATCH")))

    def dump(self):
        return json.loads(self.get("/debug/dump")[1])

    def _dumped(self):
        try:
            return json.dumps(self.dump())
        except OSError as error:
            return "no dump: %s" % error

    def leads(self):
        return self.alive() and json.loads(self.get("/debug/dump", timeout=5)[1])["leads"]

    def log(self, size=6000):
        return processes.log_tail(self.log_path, size)

    def signal(self, number):
        processes.send(self.record, number)

    def pause(self):
        """SIGSTOP: alive, but silent."""
        self.signal(signal.SIGSTOP)

    def resume(self):
        if self.alive():
            self.signal(signal.SIGCONT)

    def kill(self):
        self.signal(signal.SIGKILL)
        processes.await_exit([self.record], 60)

    def can_crash(self):
        """Whether this build ends itself at a write that is named: sanitized ones do."""
        with open(self.argv[0], "rb") as file:
            return b"ALIQUOT_CRASH_AT" in file.read()

    def forward(self, seconds):
        """Its policy time goes on by so much at once (C32), where can_crash(). If it answers, it knows by now."""
        self._ahead_s += seconds
        with open(self._ahead_at + ".part", "w", encoding="ascii") as file:
            file.write("%d\n" % (self._ahead_s * 1000))
        os.replace(self._ahead_at + ".part", self._ahead_at)
        # It looks at each turn of its loop, and the second question is answered in a later turn than the first.
        with contextlib.suppress(OSError, http.client.HTTPException):
            for _ in range(2):
                self.get("/readyz", check=False, timeout=5)

    def policy_time(self):
        """Seconds since 1970."""
        return time.time() + self._ahead_s

    def arm(self, boundary):
        """Lets it end at its next write of that name, for example "before Grant"."""
        with open(self.crash_at + ".part", "w", encoding="ascii") as file:
            file.write(boundary + "\n")
        os.replace(self.crash_at + ".part", self.crash_at)

    def wait_crashed(self, timeout=60):
        """It came to that write and ended there, by nothing else."""
        wait_until(lambda: not self.alive(), timeout, lambda: "it to end at a write\n%s\n%s" % (
            self.log(), self._dumped()))
        processes.await_exit([self.record], 60)
        assert not os.path.exists(self.crash_at), "it ended elsewhere:\n" + self.log()
        assert self.exit_status() == -signal.SIGKILL, self.exit_status()

    def terminate(self):
        self.told_to_stop = True
        self.told_at = time.monotonic()
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)

    def stop(self, timeout=60):
        """SIGTERM, unless it was sent already; the exit status. How long it took is one of findings()."""
        if self.alive() and not self.told_to_stop:
            self.terminate()
        watched = self.alive()
        processes.await_exit([self.record], timeout)
        if watched:
            self.took_s = max(self.took_s, time.monotonic() - self.told_at)
        return self.exit_status()

    def findings(self):
        """What no log may hold, and an exit that was not the one asked for."""
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            found = [line for line in file if any(text in line for text in FINDINGS)]
        if self.told_to_stop and self.exit_status() != 0:
            found.append("SIGTERM ended it with %s" % self.exit_status())
        if self.took_s > GRACE_S:
            found.append("it took %.1f s to end, and a kubelet kills after %d s" % (self.took_s, GRACE_S))
        return "%s: %s\n%s" % (self.dir, "".join(found), self.log()) if found else ""

    def exit_status(self):
        """None where it cannot be known (the process was adopted)."""
        return self.record.get("status")


class Stack:
    standing = []  # those that are not down yet, for who tells of a failure

    def __init__(self, plane, nodes, arguments=(), kubelet_arguments=(), component=None, linger_s=0):
        self.plane = plane
        self.api = plane.admin
        self.nodes = [dict(*shape, name=name, gpus=gpus) for name, gpus, *shape in nodes]
        self._given = ["--linger-seconds=%d" % linger_s, *arguments]
        self.take(component)
        self.kubelet = FakeKubelet(plane, self.nodes, binary=binary(), images={},
                                   arguments=list(kubelet_arguments))
        self.controllers = []
        self.webhook_port = None
        self.service = None
        Stack.standing.append(self)

    @classmethod
    @contextlib.contextmanager
    def up(cls, plane, nodes=(("node-0", 2),), controllers=1, arguments=(), kubelet_arguments=(),
           service=False, component=None):
        """NODES: (name, GPUs) or (name, GPUs, what else they are like). CONTROLLERS: how many, or the further
        arguments of each. With SERVICE a forwarder stands where the webhook configuration points, and every
        controller listens on its own port. COMPONENT: an overlay of the manifests, beside them."""
        each = [()] * controllers if isinstance(controllers, int) else controllers
        # Who is the only one lingers for nobody.
        stack = cls(plane, nodes, arguments, kubelet_arguments, component, 2 if service and len(each) > 1 else 0)
        try:
            stack.install()
            if service:
                stack.service = Forwarder(stack.webhook_port, stack.backends).start()
            stack.kubelet.start()
            for further in each:
                stack.add_controller(further)
            if controllers:
                stack.heal()
            yield stack
        finally:
            stack.down()

    def rendered(self):
        """The objects that are installed."""
        objects = manifests.render(image=IMAGE)
        return manifests.with_component(objects, self.component) if self.component else objects

    def take(self, component):
        """From now on what is rendered, and who is started, is that of the manifests with this component (None: with none)."""
        def arguments(objects):
            deployment = next(obj for obj in objects if obj["kind"] == "Deployment")
            return deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        self.component = component
        objects, plain = self.rendered(), arguments(manifests.render())
        agent = next(obj for obj in objects if obj["kind"] == "DaemonSet")
        self.agent_namespace = agent["metadata"]["namespace"]
        self.arguments = [one for one in arguments(objects) if one not in plain] + self._given

    def install(self):
        self.webhook_port = ports.reserve(os.path.dirname(self.plane.dir), self.plane.dir, 1)[0]
        manifests.install(self.api, self.rendered(),
                          webhook_url="https://127.0.0.1:%d/admit" % self.webhook_port,
                          without=manifests.WORKLOADS)

    def backends(self):
        return [(c.webhook_port, "http://127.0.0.1:%d/readyz" % c.metrics_port)
                for c in self.controllers]

    def add_controller(self, arguments=(), webhook_port=None, wait_ready=True):
        """Without a service the first one listens where the webhook configuration points."""
        first = not self.controllers and self.service is None
        port = webhook_port or (self.webhook_port if first else None)
        controller = Controller(self.plane, webhook_port=port,
                                arguments=self.arguments + list(arguments))
        self.controllers.append(controller)
        return controller.start(wait_ready)

    def heal(self):
        """Every controller runs again, whatever a test did to it, and pods are converted."""
        for controller in self.controllers:
            controller.resume()
            if not controller.alive():
                controller.start(wait_ready=False)
        for controller in self.controllers:
            controller.wait_ready()
            controller.wait_open()
        self.wait_converting()

    def converts(self):
        """Whether a pod would be converted now: a dry run tells."""
        pod = self.pod("probe", fraction="0.5")
        try:
            answer = self.api.create("pods", pod, namespace="default", dryRun="All")
        except ApiError:
            return False
        return "aliquot.dev/tenant" in answer["metadata"].get("labels", {})

    def wait_converting(self, timeout=60):
        """Somebody leads, and the API server reaches the webhook."""
        wait_until(self.converts, timeout, lambda: "the webhook to convert\n" + self.logs())

    def leaders(self):
        """The controllers that say that they lead; who does not answer says nothing."""
        found = []
        for controller in self.controllers:
            with contextlib.suppress(OSError):
                if controller.leads():
                    found.append(controller)
        return found

    def leader(self):
        """The controller that leads; None where none does."""
        return next(iter(self.leaders()), None)

    def wait_leader(self, timeout=60, other_than=None):
        """The one controller that leads."""
        def only():
            found = self.leaders()
            return len(found) == 1 and found[0] is not other_than and found
        return wait_until(only, timeout, lambda: "one leader\n" + self.logs())[0]

    def holder(self):
        """Who holds the Lease, as the API server has it."""
        lease = self.api.get("leases", "aliquot-controller", "aliquot-system")
        return lease["spec"].get("holderIdentity") or ""

    def logs(self):
        return "\n".join(c.log() for c in self.controllers)

    def account(self):
        """What is there, and the ends of all logs: for whoever reads of a failure."""
        parts = []
        for tell in (self._account_of_pods, lambda: "the Lease: " + self.holder(), self.logs,
                     lambda: "kubelet: %s\n%s" % (self.kubelet.state()["errors"], self.kubelet.log())):
            try:
                parts.append(tell())
            except Exception as error:  # pylint: disable=broad-except
                parts.append("%s: %s" % (type(error).__name__, error))
        return "\n\n".join(parts)

    def _account_of_pods(self):
        return "\n".join(line_of(pod) for pod in self.api.list("pods"))

    def down(self):
        Stack.standing.remove(self)
        for controller in self.controllers:
            if controller.alive():
                controller.stop()
        if self.service is not None:
            self.service.stop()
        self.kubelet.stop()

    def findings(self):
        """What the sanitizers and the exits of all controllers say; empty where all is well."""
        return "\n".join(filter(None, (c.findings() for c in self.controllers)))

    def clean(self, timeout=60):
        """Takes away what tests made, in whatever namespace, and then the capacity pods. Agents stay."""
        for ours in (False, True):
            wait_until(lambda each=ours: self._emptied(each), timeout,
                       lambda each=ours: "no pods in %s\n%s" % (
                           "aliquot-system" if each else "namespaces of tests", self.account()), every=0.2)

    def _emptied(self, ours):
        kinds = ["pods"] if ours else ["deployments", "replicasets", "jobs", "gpupolicies", "pods"]
        spaces = ("aliquot-system",) if ours else ("aliquot-system", "aliquot-agents")
        found = [(kind, obj) for kind in kinds for obj in self.api.list(kind)
                 if (obj["metadata"].get("namespace") in spaces) == ours]
        # By force the shares of tenants would be held for minutes (C22).
        for kind, obj in found:
            self._remove(kind, obj, **({"grace": 0 if ours else 1} if kind == "pods" else {}))
        return not found

    def _remove(self, kind, obj, **options):
        try:
            meta = obj["metadata"]
            self.api.delete(kind, meta["name"], meta.get("namespace"), **options)
        except ApiError as error:
            if error.status != 404:
                raise

    # Pods.

    @staticmethod
    def pod(name, namespace="default", fraction=None, memory=None, gpus=1, annotations=None,
            labels=None, **spec):
        notes = dict(annotations or {})
        if fraction is not None:
            notes["aliquot.dev/gpu-fraction"] = fraction
        if memory is not None:
            notes["aliquot.dev/gpu-memory"] = memory
        resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
        if gpus:
            resources["limits"] = {"nvidia.com/gpu": str(gpus)}
        return {"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "namespace": namespace, "annotations": notes,
                             "labels": dict(labels or {})},
                "spec": {"containers": [{"name": "main", "image": "app", "resources": resources}],
                         "terminationGracePeriodSeconds": 1, **spec}}

    def create_pod(self, name, **options):
        obj = self.pod(name, **options)
        return self.api.create("pods", obj, namespace=obj["metadata"]["namespace"])

    def create_surely(self, name, timeout=60, **options):
        """Creates the pod though the API server may be away; the pod as it is then."""
        def made():
            try:
                return self.create_pod(name, **options)
            except ApiError as error:
                # An earlier attempt arrived, and only its answer was lost.
                if error.status == 409:
                    return self.get_pod(name, options.get("namespace", "default"))
                raise
        return wait_until(made, timeout, "the API server to take " + name, ignore=(ApiError,))

    def get_pod(self, name, namespace="default"):
        return self.api.get("pods", name, namespace=namespace)

    def wait_pod(self, name, condition, timeout=60, namespace="default", what="state"):
        last = {}

        def holds():
            last["pod"] = self.api.find("pods", name, namespace)
            return last["pod"] is not None and condition(last["pod"])
        wait_until(holds, timeout, lambda: "pod %s: %s\n%s\n%s" % (
            name, what, describe(last.get("pod")), self.logs()))
        return last["pod"]

    def wait_running(self, name, timeout=60, namespace="default"):
        def runs(pod):
            phase = pod["status"].get("phase")
            assert phase not in ("Failed", "Succeeded"), \
                "pod %s will never run:\n%s" % (name, describe(pod))
            return phase == "Running"
        return self.wait_pod(name, runs, timeout, namespace, "Running")

    def capacity_pods(self):
        return self.api.list("pods", namespace="aliquot-system",
                             labelSelector="aliquot.dev/capacity=true")


def describe(pod):
    """What one wants to know of a pod that is not as it should be."""
    if pod is None:
        return "there is none"
    meta, spec = pod["metadata"], pod["spec"]
    shown = {key: meta.get(key) for key in ("annotations", "labels", "deletionTimestamp")}
    shown["nodeName"], shown["gates"] = spec.get("nodeName"), spec.get("schedulingGates")
    return json.dumps({**shown, "status": pod["status"]}, indent=1)


def line_of(pod):
    """A pod in one line: where it is, how it goes, what it has of a GPU or gives of it, and why it has none."""
    meta, spec, status = pod["metadata"], pod["spec"], pod["status"]
    shown = {key: note(pod, key) for key in ("share", "gpu-uuid", "capacity-pod", "grants")}
    shown["gates"] = [gate["name"] for gate in spec.get("schedulingGates", [])]
    shown["why"] = status.get("message") or next(
        (c.get("message") for c in status.get("conditions", []) if c["status"] == "False" and c.get("message")), None)
    return "%s/%s on %s: %s%s %s" % (
        meta["namespace"], meta["name"], spec.get("nodeName"), status.get("phase"),
        ", goes since " + meta["deletionTimestamp"] if "deletionTimestamp" in meta else "",
        {key: value for key, value in shown.items() if value})


def note(pod, key):
    return pod["metadata"].get("annotations", {}).get("aliquot.dev/" + key)
