"""What the benches on a real API server share: a filled cluster, the controller, its peer."""

import contextlib
import hashlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))

import binaries  # noqa: E402
import controlplane  # noqa: E402
import manifests  # noqa: E402
import ports  # noqa: E402
import processes  # noqa: E402
from api import ApiError  # noqa: E402

GO = os.path.join(HERE, "go")
PROGRAMS = ("burst", "informer", "pods", "reviews")
MARK = "bench-dataset"
BUILD_TIMEOUT_S = 1200
RESTART_TRIES = 5
# The servers and what is measured, all alike, before whatever else the machine does.
RANK = -5


def say(text):
    """Progress, with the time; only the last line of standard output is the result."""
    print("%s %s" % (time.strftime("%H:%M:%S"), text), flush=True)


# --- our Go programs ---

def _sources():
    for folder, dirs, names in sorted(os.walk(GO)):
        dirs.sort()
        for name in sorted(names):
            yield os.path.join(folder, name)


def programs():
    """Paths of the programs under test/bench/go, built once for their content."""
    digest = hashlib.sha256()
    for path in _sources():
        with open(path, "rb") as file:
            digest.update(file.read())
    folder = os.path.join(binaries.cache_dir(), "bench-" + digest.hexdigest()[:12])
    if not all(os.path.exists(os.path.join(folder, name)) for name in PROGRAMS):
        say("building %s; only the first run pays for this" % ", ".join(PROGRAMS))
        env = dict(os.environ, CGO_ENABLED="0", GOTOOLCHAIN="local", GOFLAGS="-mod=readonly")
        aside = "%s.%d" % (folder, os.getpid())
        os.makedirs(aside)
        subprocess.run([binaries.find_go(), "build", "-trimpath", "-o", aside + os.sep,
                        *("./" + name for name in PROGRAMS)], cwd=GO, env=env, check=True,
                       stdout=sys.stderr, timeout=BUILD_TIMEOUT_S)
        os.makedirs(folder, exist_ok=True)
        for name in PROGRAMS:
            os.replace(os.path.join(aside, name), os.path.join(folder, name))
        os.rmdir(aside)
    return {name: os.path.join(folder, name) for name in PROGRAMS}


# --- the cluster ---

def add_arguments(parser):
    parser.add_argument("--pods", type=int, default=100000, help="pods of the cluster (100000)")
    parser.add_argument("--nodes", type=int, help="its nodes (one for 100 pods)")
    parser.add_argument("--seed", type=int, default=1, help="what it is drawn from")
    parser.add_argument("--through", choices=("etcd", "api"), default="etcd",
                        help="how pods come in: in storage form, or each by requests (slow)")
    parser.add_argument("--plane", metavar="DIR", help="use this control plane, filled before")
    parser.add_argument("--keep", action="store_true", help="leave the control plane up")
    parser.add_argument("--binary", default=os.environ.get("ALIQUOT_BINARY"), help="aliquot")
    parser.add_argument("--limit", type=int, default=1500, help="seconds it may take (1500)")


class OutOfTime(RuntimeError):
    """The whole bench took longer than it may."""


def guard(limit):
    """Lets signals and the limit end the bench by an exception, so that it cleans up after itself."""
    def leave(number, _frame):
        raise SystemExit(128 + number)

    def expire(_number, _frame):
        raise OutOfTime("the bench was not done after %d s" % limit)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, leave)
    signal.signal(signal.SIGALRM, expire)
    signal.alarm(limit)


def rank(pid, nice):
    """Sets the priority of a process; False where we may not. Linux counts it among the processes
    of one session only, unless the session itself (its autogroup) is ranked too."""
    try:
        for thread in os.listdir("/proc/%d/task" % pid):
            os.setpriority(os.PRIO_PROCESS, int(thread), nice)
        group = "/proc/%d/autogroup" % pid
        if os.path.exists(group):
            with open(group, "w", encoding="ascii") as file:
                file.write(str(nice))
        return True
    except OSError:
        return False


class Ground:
    """A control plane of etcd and API server, filled; with what was started on it."""

    def __init__(self, args):
        self.args = args
        self.args.nodes = args.nodes or max(1, args.pods // 100)
        self.programs = programs()
        self._stack = contextlib.ExitStack()
        self.started = []

    def __enter__(self):
        try:
            self._up()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        signal.alarm(0)
        processes.stop(self.started, 15)
        self._stack.close()

    def _up(self):
        if self.args.plane:
            self.plane = controlplane.ControlPlane(self.args.plane)
        else:
            parent = None if self.args.keep else os.getpid()
            self.plane = controlplane.ControlPlane.up(with_parent=parent, only_apiserver=True)
            if not self.args.keep:
                self._stack.callback(self.plane.down)
        for name in ("etcd", "kube-apiserver"):
            rank(self.plane.pid(name), RANK)
        self.api = self.plane.client("admin", timeout=60)
        self.webhook_port, self.metrics_port, self.peer_port = ports.reserve(
            controlplane.home(), self.plane.dir, 3)
        # Given back when the bench ends, also on a plane that stays.
        self._stack.callback(ports.release, controlplane.home(),
                             (self.webhook_port, self.metrics_port, self.peer_port))
        say("control plane in %s" % self.plane.dir)
        self._fill()
        manifests.install(self.api, webhook_url="https://127.0.0.1:%d/admit" % self.webhook_port,
                          without=manifests.WORKLOADS)

    def _fill(self):
        wanted = {"pods": str(self.args.pods), "nodes": str(self.args.nodes),
                  "seed": str(self.args.seed)}
        mark = self.api.find("configmaps", MARK, "default")
        if mark is None:
            say("filling it with %s pods on %s nodes" % (wanted["pods"], wanted["nodes"]))
            if self.args.through == "api":
                done = self.pods("fill", timeout=7200)
            else:
                done = self.pods("seed", "--etcd", self.plane.etcd_url(), timeout=1800)
                # So that its cache was read in one piece, not grown event by event.
                self.restart_server()
            say("filled in %d s" % done["fill_s"])
            self.api.create("configmaps", {
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": MARK, "namespace": "default"}, "data": dict(wanted, runs="0")})
        elif {key: mark["data"][key] for key in wanted} != wanted:
            raise SystemExit("that plane is filled with %s, not with %s" % (mark["data"], wanted))

    def servers(self):
        """Their processes, which on a plane that was there before are nobody's children here."""
        return {self.plane.pid(name) for name in ("etcd", "kube-apiserver")}

    def restart_server(self):
        """With a full etcd and on a busy machine its start may take minutes."""
        self.plane.stop("kube-apiserver")
        # While start() waits for it, which is when it is slow.
        early = threading.Timer(2, lambda: rank(self.plane.pid("kube-apiserver"), RANK))
        early.start()
        for attempt in range(RESTART_TRIES):
            try:
                self.plane.start("kube-apiserver")
                break
            except controlplane.PlaneError:
                if attempt == RESTART_TRIES - 1 or not self.plane.alive("kube-apiserver"):
                    raise
                say("the API server is not ready yet")
        early.join()
        rank(self.plane.pid("kube-apiserver"), RANK)

    def churn_seed(self):
        """Another number for every run of churn on this cluster, so that newcomers are new."""
        mark = self.api.get("configmaps", MARK, "default")
        runs = int(mark["data"]["runs"]) + 1
        self.api.patch("configmaps", MARK, {"data": {"runs": str(runs)}}, "default")
        return runs

    def pods(self, verb, *flags, timeout):
        """Runs the program pods to its end and returns its counts."""
        argv = [self.programs["pods"], verb, "--kubeconfig", self.plane.kubeconfig("admin"),
                "--pods", str(self.args.pods), "--nodes", str(self.args.nodes),
                "--seed", str(self.args.seed), *flags]
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True, timeout=timeout)
        return json.loads(done.stdout.strip().rsplit("\n", 1)[-1])

    def churn(self, seconds, rate):
        return self.pods("churn", "--length", "%ds" % seconds, "--rate", str(rate),
                         "--churn-seed", str(self.churn_seed()), timeout=seconds * 4 + 120)

    # What is measured.

    def controller(self, prefix=()):
        argv = [*prefix, self.args.binary, "controller",
                "--kubeconfig", self.plane.kubeconfig("controller"),
                "--webhook-listen", "127.0.0.1:%d" % self.webhook_port,
                "--metrics-listen", "127.0.0.1:%d" % self.metrics_port,
                "--debug", "--journal-memory-mib=0", "--log-level", "info",
                # Its nodes have no container runtime that could answer a probe.
                "--injection=env"]
        return self._start("controller", argv, self.metrics_port)

    def informer(self):
        argv = [self.programs["informer"], "--kubeconfig", self.plane.kubeconfig("admin"),
                "--listen", "127.0.0.1:%d" % self.peer_port]
        return self._start("informer", argv, self.peer_port)

    def _start(self, name, argv, port):
        if shutil.which("setpriv"):
            # Even a bench that is killed takes with it what it has started.
            argv = ["setpriv", "--pdeathsig", "KILL", "--", *argv]
        log = os.path.join(self.plane.dir, "bench-%s-%d.log" % (name, len(self.started)))
        subject = Subject(name, processes.start(argv, log), port)
        rank(subject.record["pid"], RANK)
        self.started.append(subject.record)
        return subject

    # Making history go away.

    def compact(self):
        """Drops etcd's history up to now: no watch can resume from before."""
        etcd = controlplane.Api(self.plane.etcd_url(), timeout=60)
        now = etcd.request("POST", "/v3/maintenance/status", {})["header"]["revision"]
        etcd.request("POST", "/v3/kv/compaction", {"revision": now, "physical": True})


class Subject:
    """One program under measurement: it answers HTTP on a port, and /proc knows the rest."""

    def __init__(self, name, record, port):
        self.name, self.record, self.port = name, record, port
        self.begun = time.monotonic()

    def ask(self, method, path, timeout=30):
        """(status, bytes); status 0 where nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def json(self, method, path):
        status, content = self.ask(method, path)
        if status != 200:
            raise RuntimeError("%s: %s %s: status %d: %s" % (
                self.name, method, path, status, content[:200].decode("utf-8", "replace")))
        return json.loads(content) if method == "GET" else {}

    def await_ready(self, timeout):
        """Seconds from its start until /readyz said 200, asked every 10 ms."""
        while True:
            status = self.ask("GET", "/readyz", timeout=10)[0]
            took = time.monotonic() - self.begun
            if status == 200:
                return took
            self.must_live()
            if took > timeout:
                raise RuntimeError("%s was not ready after %d s:\n%s" % (
                    self.name, timeout, self.log(3000)))
            time.sleep(0.01)

    def must_live(self):
        if not processes.alive(self.record):
            raise RuntimeError("%s ended:\n%s" % (self.name, self.log(3000)))

    def memory_kib(self, key="VmHWM"):
        with open("/proc/%d/status" % self.record["pid"], encoding="ascii") as file:
            for line in file:
                if line.startswith(key + ":"):
                    return int(line.split()[1])
        raise RuntimeError("%s has no %s" % (self.name, key))

    def cpu_s(self):
        """Processor time so far: unlike elapsed time, what else the machine does hardly shows."""
        with open("/proc/%d/stat" % self.record["pid"], encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def metric(self, name, **labels):
        """Sum of a counter over the series that carry the labels."""
        total = 0.0
        for line in self.ask("GET", "/metrics")[1].decode("utf-8", "replace").splitlines():
            series, _, value = line.rpartition(" ")
            if series.partition("{")[0] == name and all(
                    '%s="%s"' % pair in series for pair in labels.items()):
                total += float(value)
        return int(total)

    def pictures(self, kind="pods"):
        """How many complete pictures of a kind it has taken. Its log leaves lines out that come too often."""
        return self.metric("aliquot_watch_pictures_total", kind=kind)

    def stop(self):
        processes.stop([self.record], 15)


def wait(condition, timeout, what, every=0.05):
    """Seconds until the condition held."""
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > timeout:
            raise RuntimeError("waited %d s for %s" % (timeout, what))
        time.sleep(every)
    return time.monotonic() - begun


def machine():
    with open("/proc/meminfo", encoding="ascii") as file:
        total = int(file.readline().split()[1])
    return {"cores": os.cpu_count(), "memory_gib": round(total / (1 << 20), 1),
            "load": [round(value, 2) for value in os.getloadavg()]}


def finish(result):
    """Prints the result as the last line; the exit status says whether the bar was met."""
    print(json.dumps(result), flush=True)
    return 0 if result["holds"] else 1


def fail(name, error):
    """The result of a bench that could not be run to its end."""
    text = str(error)
    if len(text) > 2000:
        text = "%s\n...\n%s" % (text[:500], text[-1500:])
    return finish({"name": name, "holds": False, "error": text})


TROUBLE = (RuntimeError, ApiError, OSError, ValueError, AssertionError,
           subprocess.SubprocessError)
