"""The story that hack/demo tells: builds what is missing, starts everything, runs the job, explains.

Everything that is started is a child of this process and ends with it, also where it is killed.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TREE, "test", "lib"), os.path.join(TREE, "test", "fake")]

import binaries  # noqa: E402
import controlplane  # noqa: E402
import demo_job as job  # noqa: E402
import demo_view as view  # noqa: E402
from api import ApiError  # noqa: E402
from stack import Stack  # noqa: E402
from waiting import wait_until  # noqa: E402

BUILD = "build-demo"
NODES = [("node-a", 4), ("node-b", 4)]
NAMESPACE = "default"
SETTLE_S = 2.0
TICK_S = 0.3
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A person, or the system, asked us to end. No Exception, so that nobody takes it for a failure."""


class DemoError(Exception):
    """What could not be done, in a sentence."""


def say(text="", indent=""):
    print(view.sentence(text, indent) if text else "", flush=True)


@contextlib.contextmanager
def progress(text):
    """A line when it begins, one every half minute that it lasts, and how long it took if long."""
    began = time.monotonic()
    over = threading.Event()

    def remind():
        while not over.wait(30):
            print("    still at it after %d s" % (time.monotonic() - began), flush=True)
    print("  " + text, flush=True)
    threading.Thread(target=remind, daemon=True).start()
    try:
        yield
    finally:
        over.set()
    if time.monotonic() - began > 10:
        print("    done in %d s" % (time.monotonic() - began), flush=True)


# --- what must be there first --------------------------------------------------------------------

def logged(argv, log):
    if subprocess.run(argv, cwd=TREE, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                      check=False).returncode != 0:
        log.flush()
        with open(log.name, encoding="utf-8", errors="replace") as file:
            tail = "".join(file.readlines()[-15:])
        raise DemoError("%s failed; its last words, all of them are in %s:\n%s" % (
            " ".join(argv[:2]), log.name, tail))


def build(log):
    """The binary: given by $ALIQUOT_BINARY, else built for release in a folder of the demo's own."""
    given = os.environ.get("ALIQUOT_BINARY")
    if given:
        if not os.access(given, os.X_OK):
            raise DemoError("$ALIQUOT_BINARY names %s, which is no program" % given)
        return
    if not os.path.exists(os.path.join(TREE, BUILD, "build.ninja")):
        logged(["meson", "setup", "--buildtype=release", "-Dtests=false", BUILD], log)
    target = os.path.join("src", "app", "aliquot")
    logged(["ninja", "-C", BUILD, target], log)
    os.environ["ALIQUOT_BINARY"] = os.path.join(TREE, BUILD, target)


def prepare():
    os.makedirs(binaries.cache_dir(), exist_ok=True)
    with open(os.path.join(binaries.cache_dir(), "demo.log"), "w", encoding="utf-8") as log:
        with progress("building aliquot (a minute the first time)"):
            build(log)
        missing = [name for name in binaries.CORE if name not in found_programs()]
        text = "building %s from source; only the first time, 5 to 30 minutes" % ", ".join(missing)
        with progress(text if missing else "etcd and Kubernetes %s: already built" %
                      binaries.pinned_version("kube-apiserver")):
            binaries.find(binaries.CORE, log=log)


def found_programs():
    here = binaries.bin_dir()
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    return [name for name in binaries.CORE if os.path.exists(os.path.join(here, name + ".version"))
            or os.path.exists(os.path.join(assets or here, name))]


# --- looking -------------------------------------------------------------------------------------

class Watcher:
    """Tells what is new since it looked last: pods, GPUs that were opened, and Aliquot's own words."""

    def __init__(self, stack):
        self.stack = stack
        self.api = stack.api
        self.began = time.monotonic()
        self.seen = {}    # pod uid: its last state
        self.told = set()  # events and conditions that were printed
        self.opened = {}  # capacity pod: UUID
        self.rows = []
        self.leader = leader_of(stack)

    def pods(self):
        return sorted(self.api.list("pods", namespace=NAMESPACE),
                      key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]))

    def look(self):
        """Lines of what changed; the rows are those of now."""
        state = self.stack.kubelet.state()
        pods, lines = self.pods(), []
        visible = {uid: seen["containers"].get("main", {}).get("visible") or []
                   for uid, seen in state["pods"].items()}
        self.rows = [view.Row(pod, visible.get(pod["metadata"]["uid"])) for pod in pods]
        lines += self._capacity()
        for pod, row in zip(pods, self.rows):
            lines += self._pod(pod, row)
        for uid in set(self.seen) - {pod["metadata"]["uid"] for pod in pods}:
            lines.append("%s is gone" % self.seen.pop(uid)[0])
        return lines + self._events() + self._leadership()

    def _leadership(self):
        now = leader_of(self.stack)
        if now is self.leader:
            return []
        self.leader = now
        if now is None:
            return ["nobody leads: pods are still admitted, the other controller waits for the Lease"]
        return ["the controller with the pid %d leads now" % now.record["pid"]]

    def _capacity(self):
        lines, now = [], {}
        for pod in self.stack.capacity_pods():
            state = self.stack.kubelet.pod(pod["metadata"]["name"], "aliquot-system") or {}
            visible = state.get("containers", {}).get("hold", {}).get("visible") or []
            if visible and pod["status"].get("phase") == "Running":
                now[pod["metadata"]["name"]] = (visible[0], pod["spec"]["nodeName"])
        for name, (uuid, node) in now.items():
            if name not in self.opened:
                lines.append("a capacity pod holds %s of %s, to be shared" % (
                    uuid[:view.UUID_SHOWN], node))
        for name in set(self.opened) - set(now):
            lines.append("a capacity pod gives %s of %s back" % (
                self.opened[name][0][:view.UUID_SHOWN], self.opened[name][1]))
        self.opened = now
        return lines

    def _pod(self, pod, row):
        uid = pod["metadata"]["uid"]
        before = self.seen.get(uid, (row.name, None))[1]
        # Running is told once its container is seen.
        now = "Starting" if row.state == "Running" and not row.uuid else row.state
        self.seen[uid] = (row.name, now)
        lines = []
        condition = view.placed_condition(pod)
        if condition.get("status") == "False":
            lines += self._once((uid, condition["reason"]), "%s: %s" % (row.name, condition["message"]))
        if now == before:
            return lines
        if now == "Running":
            lines.append("%s runs: %s on %s of %s" % (
                row.name, "a whole GPU" if row.whole else "%s GPU and %s" % (row.share(), row.memory()),
                row.uuid[:view.UUID_SHOWN], row.node))
        elif now == "waits":
            lines.append("%s was converted: it gave up nvidia.com/gpu and waits for its share" % row.name)
        elif now in ("Succeeded", "Failed", "Terminating"):
            lines.append("%s: %s" % (row.name, now))
        return lines

    def _events(self):
        lines = []
        for event in self.api.list("events.events.k8s.io/v1", namespace=NAMESPACE):
            about = event.get("regarding", {})
            if event.get("reportingController") != "aliquot.dev/controller" or \
                    event.get("reason") == "Placed":
                continue
            lines += self._once((about.get("uid"), event["reason"]),
                                "%s: %s" % (about.get("name"), event.get("note", "")))
        return lines

    def _once(self, key, line):
        if key in self.told:
            return []
        self.told.add(key)
        return [line]

    def follow(self, condition, timeout, what):
        """Prints what happens until CONDITION holds for the rows."""
        deadline = time.monotonic() + timeout
        while True:
            self.tell(self.look())
            if condition(self.rows):
                return
            if time.monotonic() > deadline:
                raise DemoError("waited %d s for %s\n%s" % (timeout, what, self.stack.logs()[-2000:]))
            time.sleep(TICK_S)

    def tell(self, lines):
        for line in lines:
            at = "%5.1f s  " % (time.monotonic() - self.began)
            print(view.sentence(line, " " * len(at)).replace(" " * len(at), at, 1), flush=True)

    def picture(self):
        nodes = {name: node["uuids"] for name, node in self.stack.kubelet.state()["nodes"].items()}
        held = {uuid for uuid, _ in self.opened.values()}
        return "\n\n".join("\n".join(part) for part in (
            view.table(self.rows), view.gpus(self.rows, nodes, held), view.summary(self.rows)) if part)


# --- the story -----------------------------------------------------------------------------------

def running(names, count=1):
    """Condition: COUNT pods of each of these groups run, and their containers were seen."""
    def holds(rows):
        return all(sum(row.group == name and row.state == "Running" and row.uuid != "" for row in rows)
                   >= count for name in names)
    return holds


def chapter(text):
    print(flush=True)
    say(text)


def run_story(stack, watcher):
    api = stack.api

    def create(obj):
        api.create("deployments" if obj["kind"] == "Deployment" else "pods", obj, namespace=NAMESPACE)
    chapter('1. A pod that asks for nvidia.com/gpu: 1 and nothing else. Nobody asked for a share, so '
            'it is left alone.')
    create(job.pod("trainer"))
    watcher.follow(running(["trainer"]), 60, "the whole-GPU pod")
    chapter('2. A Deployment of four replicas. The template says aliquot.dev/gpu-fraction: "0.25" '
            'beside nvidia.com/gpu: 1. The webhook converts each pod, a GPU is opened, and all four fit on it.')
    create(job.deployment("chat", 4, gpu_fraction="0.25"))
    watcher.follow(running(["chat"], 4), 90, "the Deployment")
    chapter('3. Two bare pods with aliquot.dev/gpu-fraction: "0.5". The first GPU is full: another is opened.')
    create(job.pod("embed-0", "embed", gpu_fraction="0.5"))
    create(job.pod("embed-1", "embed", gpu_fraction="0.5"))
    watcher.follow(running(["embed"], 2), 60, "the halves")
    chapter('4. A notebook that only knows how much memory it needs: aliquot.dev/gpu-memory: "8Gi". '
            'Its compute follows from that.')
    create(job.pod("notebook", gpu_memory="8Gi"))
    watcher.follow(running(["notebook"]), 60, "the notebook")
    chapter('5. Somebody writes aliquot.dev/gpu-fraction: "half". A mistake never stops a pod: it starts whole '
            'and is told why.')
    create(job.pod("typo", gpu_fraction="half"))
    watcher.follow(lambda rows: running(["typo"])(rows) and any(
        reason == "BadValue" for _, reason in watcher.told), 60, "the pod with the mistake")
    chapter('6. A pod that wants more memory than any GPU has. It waits, and after ten seconds says for what.')
    create(job.pod("giant", gpu_fraction="0.25", gpu_memory="200Gi"))
    watcher.follow(lambda rows: any(row.name == "giant" and row.state.startswith("waits: ")
                                    for row in rows), 60, "the reason of the giant")
    time_to_settle(watcher)
    print("\n" + watcher.picture(), flush=True)


def time_to_settle(watcher):
    """Looks until a look brings nothing new."""
    wait_until(lambda: not watcher.look(), 10, "the pods to come to rest", every=TICK_S)


def leader_of(stack):
    """The controller that leads, or None."""
    for controller in stack.controllers:
        with contextlib.suppress(OSError):
            if controller.leads():
                return controller
    return None


def try_next(stack, watcher):
    leader = watcher.leader or stack.controllers[0]
    lines = [
        ("export KUBECONFIG=%s" % stack.plane.kubeconfig(), ""),
        ("kubectl scale deployment chat --replicas=7", "three more shares; watch them here"),
        ("kubectl delete pod notebook", "its GPU is given back after a minute"),
        ("kubectl describe pod giant", "the condition aliquot.dev/Placed"),
        ("kubectl annotate pod embed-0 aliquot.dev/gpu-uuid=GPU-mine --overwrite", "refused: guarded"),
        ("kubectl -n aliquot-system get pods -L aliquot.dev/in-use", "the capacity pods"),
        ("kubectl explain gpol.spec.sharing", "policies; see docs/policies.md"),
        ("kill -9 %d" % leader.record["pid"], "the leader; the other takes over within 15 s"),
        ("curl -s 127.0.0.1:%d/metrics" % leader.metrics_port, "metrics; see docs/metrics.md"),
    ]
    chapter("Try it yourself, from another terminal:")
    for command, why in lines:
        print(("  %-54s %s" % (command, "# " + why if why else "")).rstrip())
    if shutil.which("kubectl") is None:
        say("kubectl is not on this machine; any release from 1.35 to 1.37 will do.", "  ")
    print("\nEvery change is told here. Ctrl-C ends everything and removes it.", flush=True)


def stay(watcher):
    """Tells changes, and draws the picture anew when they have settled."""
    changed = None
    while True:
        try:
            lines = watcher.look()
        except (ApiError, OSError):
            time.sleep(1)  # A person may be stopping parts of it; that is what it is for.
            continue
        watcher.tell(lines)
        if lines:
            changed = time.monotonic()
        elif changed is not None and time.monotonic() - changed > SETTLE_S:
            changed = None
            print("\n" + watcher.picture() + "\n", flush=True)
        time.sleep(TICK_S)


def run(once):
    """True once the story was told."""
    told = False
    say("Aliquot shares GPUs. This demo runs a real Kubernetes control plane on loopback; only the nodes "
        "and their GPUs are played.")
    prepare()
    with contextlib.ExitStack() as ends:
        with progress("starting etcd, the API server, its controllers and the scheduler"):
            plane = ends.enter_context(controlplane.ControlPlane.up(with_parent=os.getpid()))
        with progress("applying manifests/, starting %d nodes with %d GPUs and two controllers" % (
                len(NODES), sum(gpus for _, gpus in NODES))):
            stack = ends.enter_context(Stack.up(plane, nodes=NODES, controllers=2, service=True))
        try:
            watcher = Watcher(stack)
            run_story(stack, watcher)
            told = True
            if not once:
                try_next(stack, watcher)
                stay(watcher)
        except Stopped:
            print("\nstopping; a few seconds", flush=True)
            if not told:
                raise
    say("Everything was stopped and removed.")


def on_signal(number, _frame):
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def main():
    parser = argparse.ArgumentParser(prog="hack/demo")
    parser.add_argument("--once", action="store_true", help="end when the story is told")
    options = parser.parse_args()
    for number in SIGNALS:
        signal.signal(number, on_signal)
    try:
        run(options.once)
    except Stopped as stopped:
        print("hack/demo: stopped before the story was told", file=sys.stderr)
        return 128 + stopped.args[0]
    except (DemoError, controlplane.PlaneError, binaries.BinaryError, controlplane.Timeout, ApiError,
            AssertionError, OSError) as error:
        print("hack/demo: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
