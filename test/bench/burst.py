"""A burst on a real control plane: 4,000 tenants of 0.2 wait at their gate on 100 nodes of 8 GPUs whose capacity pods
run, and all are to be placed at once.

Beside the controller stands the floor: a program that decides nothing and watches nothing and sends the same patches, one
compare-and-swap a GPU and one placement a tenant, as fast as the API server answers; with as many requests at
once as served it best. Both start from the same etcd, restored before each run, by turns the first;
etcd, API server and scheduler start anew each time, and a watch of metadata takes the time of both, from the first ledger to the
last tenant. The scheduler binds what was placed meanwhile in both; its limit of requests is raised, or it would be
what is measured. The cold case, in which the controller has to open all 800 GPUs first, is told beside.

Each pair of a run of both, one after the other, gives a ratio. Told of each run is what the servers spent on it: processor time,
requests, and what went to watches.

The bar: in the median of the pairs, tenants a second at least 90 % of the floor's, and at most 2 writes a tenant.

smoke: --nodes 3 --tenants 60 --rounds 1 --workers 16 --no-cold --bar 0
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

import _ground
import _others
import _served
import controlplane
import manifests
import ports
import processes
from api import ApiError

SCHEDULER_QPS = 5000
PARTS = ("etcd", "kube-apiserver", "kube-scheduler")
WORKERS = (8, 16, 32, 64)
WRITES_BAR = 2.0
RUN_TIMEOUT_S = 600
TENANTS_A_GPU = 5


class Program:
    """`burst MODE` as a process; its last line is the result."""

    def __init__(self, ground, mode, *flags):
        # The floor writes in the controller's name: nobody else may write the keys of a share.
        user = "controller" if mode == "floor" else "admin"
        self.argv = [ground.program, mode, "--kubeconfig", ground.plane.kubeconfig(user),
                     "--nodes", str(ground.args.nodes), "--gpus", str(ground.args.gpus),
                     "--tenants", str(ground.args.tenants), *flags]
        self.process = subprocess.Popen(self.argv, stdout=subprocess.PIPE, text=True)
        ground.programs.append(self)

    def await_line(self, wanted):
        line = self.process.stdout.readline().strip()
        if line != wanted:
            raise RuntimeError("%s said %r, not %r" % (self.argv[1], line, wanted))
        return self

    def result(self):
        said, _ = self.process.communicate(timeout=RUN_TIMEOUT_S)
        if self.process.returncode != 0:
            raise RuntimeError("%s ended with %d" % (self.argv[1], self.process.returncode))
        return json.loads(said.strip().rsplit("\n", 1)[-1])

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)


class Ground:
    """The control plane, and its etcd as it was before any run."""

    def __init__(self, args):
        self.args = args
        self.program = _ground.programs()["burst"]
        self.programs, self.started = [], []
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        try:
            self.plane = controlplane.ControlPlane.up(
                with_parent=os.getpid(), scheduler_qps=SCHEDULER_QPS, service_accounts=False)
            self._stack.callback(self.plane.down)
            # Nobody plays kubelets, and nodes without a heartbeat would be called not ready.
            self.plane.stop("kcm")
            self.plane.stop("scheduler")
            self.api = self.plane.client("admin", timeout=60)
            self.webhook_port, self.metrics_port = ports.reserve(
                controlplane.home(), self.plane.dir, 2)
            manifests.install(self.api, webhook_url="https://127.0.0.1:%d/admit" % self.webhook_port,
                              without=manifests.WORKLOADS)
            self._without_webhook()
            # Where one picture is all, the servers need not start once more for it.
            self.empty = self._save("empty") if self.args.cold else None
            self.warm = self._seed("warm")
            self.cold = self._seed("cold", "--cold") if self.args.cold else None
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        signal.alarm(0)
        self.stop_programs()
        self._stack.close()

    def stop_programs(self):
        for program in self.programs:
            program.stop()
        processes.stop(self.started, 15)
        self.programs, self.started = [], []

    def _without_webhook(self):
        """Tenants are made as the webhook leaves them."""
        self.api.delete("mutatingwebhookconfigurations", "zz-aliquot")

    def _halt(self):
        for name in reversed(PARTS):
            self.plane.stop(name, timeout=20)

    def _folder(self, name):
        return os.path.join(self.plane.dir, name)

    def _save(self, name):
        self._halt()
        shutil.copytree(self._folder("etcd"), self._folder("etcd-" + name))
        return name

    def restore(self, name, scheduler=True):
        """Everything from the beginning, caches of the servers included."""
        self.stop_programs()
        self._halt()
        shutil.rmtree(self._folder("etcd"))
        shutil.copytree(self._folder("etcd-" + name), self._folder("etcd"))
        for part in PARTS if scheduler else PARTS[:2]:
            self.plane.start(part)

    def _seed(self, name, *flags):
        if self.empty is not None:
            self.restore(self.empty, scheduler=False)
        owner = self.api.get("configmaps", "aliquot-capacity", "aliquot-system")["metadata"]["uid"]
        begun = time.monotonic()
        made = Program(self, "seed", "--owner-uid", owner,
                       "--creator", self.plane.kubeconfig("controller"), *flags).result()
        _ground.say("%s: %s in %.1f s" % (name, made, time.monotonic() - begun))
        return self._save(name)

    def controller(self):
        argv = [self.args.binary, "controller", "--kubeconfig", self.plane.kubeconfig("controller"),
                "--webhook-listen", "127.0.0.1:%d" % self.webhook_port,
                "--metrics-listen", "127.0.0.1:%d" % self.metrics_port,
                "--image", "aliquot:bench", "--journal-memory-mib=0", "--log-level", "info",
                # Its nodes have no container runtime that could answer a probe.
                "--injection=env"]
        log = os.path.join(self.plane.dir, "bench-controller.log")
        subject = _ground.Subject("controller", processes.start(argv, log), self.metrics_port)
        self.plane.adopt("controller", subject.record)
        self.started.append(subject.record)
        return subject


def check(seen, args):
    """What would make the figures worthless."""
    entries = seen["entries"]
    if seen["placed"] != args.tenants or seen["moved"] or seen["twice"] or entries != args.tenants \
            or seen["most_on_a_gpu"] > TENANTS_A_GPU:
        raise RuntimeError("wrongly placed: %s" % seen)


def steady(ground, picture, measure):
    """A run that begins with this etcd, in which nobody else took the cores, if there is one."""
    found, others = _others.undisturbed(measure, told=_ground.say,
                                        prepare=lambda: ground.restore(picture))
    return dict(found, others=others, plane_cpu_s=round(sum(found["served"]["cpu_s"].values()), 1))


def floor_run(ground, workers):
    return steady(ground, ground.warm, lambda: floor_once(ground, workers))


def floor_once(ground, workers):
    served = _served.Served(ground.plane, PARTS)
    watch = Program(ground, "watch").await_line("ready")
    own = Program(ground, "floor", "--workers", str(workers)).result()
    seen = watch.result()
    check(seen, ground.args)
    return figures(ground, seen, {"workers": workers, "cpu_s": round(own["cpu_s"], 2), "served": served.tell()})


def ours_run(ground, picture, *beside):
    return steady(ground, picture, lambda: ours_once(ground, *beside))


def ours_once(ground, *beside):
    served = _served.Served(ground.plane, PARTS)
    for mode in beside:
        Program(ground, mode).await_line("ready")
    watch = Program(ground, "watch").await_line("ready")
    subject = ground.controller()
    begun = time.time()
    seen = watch.result()
    found = {"cpu_s": round(subject.cpu_s(), 2), "rss_kib": subject.memory_kib("VmRSS"),
             "peak_kib": subject.memory_kib(), "start_to_first_s": round(seen["first_unix"] - begun, 2),
             "start_to_last_s": round(seen["last_unix"] - begun, 2),
             "patches": subject.metric("aliquot_api_requests_total", verb="PATCH"),
             "posts": subject.metric("aliquot_api_requests_total", verb="POST"),
             "served": served.tell()}
    check(seen, ground.args)
    subject.must_live()
    return figures(ground, seen, found)


def figures(ground, seen, more):
    writes = seen["grants"] + seen["placed"]
    return {"seconds": round(seen["seconds"], 2),
            "tenants_per_s": round(seen["placed"] / max(seen["seconds"], 0.001), 1),
            "writes_per_s": round(writes / max(seen["seconds"], 0.001), 1),
            "writes_per_tenant": round(writes / ground.args.tenants, 3), **more}


def told(name, found):
    _ground.say("%-12s %7.1f tenants/s, %7.1f writes/s, %.3f writes a tenant  %s" % (
        name, found["tenants_per_s"], found["writes_per_s"], found["writes_per_tenant"],
        dict({key: found[key] for key in ("workers", "cpu_s", "rss_kib", "start_to_last_s") if key in found},
             **found["served"]["cpu_s"], **found["others"])))
    return found


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def run(args):
    with Ground(args) as ground:
        tried = [told("floor, tried", floor_run(ground, workers)) for workers in args.workers] \
            if len(args.workers) > 1 else []
        workers = max(tried, key=lambda found: found["tenants_per_s"])["workers"] if tried else args.workers[0]
        floors, ours = [], []
        for number in range(args.rounds):
            turns = [lambda: floors.append(told("floor", floor_run(ground, workers))),
                     lambda: ours.append(told("controller", ours_run(ground, ground.warm)))]
            for turn in reversed(turns) if number % 2 else turns:
                turn()
        cold = told("cold", ours_run(ground, ground.cold, "kubelet")) if ground.cold else None
    return verdict(args, workers, {"floors": floors, "ours": ours, "tried": tried, "cold": cold})


def verdict(args, workers, runs):
    floors, ours = runs["floors"], runs["ours"]
    pairs = [round(our["tenants_per_s"] / floor["tenants_per_s"], 3) for our, floor in zip(ours, floors)]
    ratio = round(statistics.median(pairs), 3)
    writes = max(found["writes_per_tenant"] for found in ours)
    held = {"ratio": ratio >= args.bar, "writes_per_tenant": writes <= WRITES_BAR}
    keys = ("tenants_per_s", "writes_per_s", "writes_per_tenant", "cpu_s")
    return {"name": "burst", "nodes": args.nodes, "gpus": args.nodes * args.gpus, "tenants": args.tenants,
            "controller": {**{key: median(ours, key) for key in keys},
                           "peak_mib": round(max(found["peak_kib"] for found in ours) / 1024, 1)},
            "peer": {"name": "floor: the same writes without a decision", "workers": workers,
                     **{key: median(floors, key) for key in keys}},
            "ratio": ratio, "pairs": pairs, **_others.summary([found["others"] for found in ours + floors]),
            "controller_runs": ours, "floor_runs": floors, "floor_tried": runs["tried"], "cold": runs["cold"],
            "scheduler_qps": SCHEDULER_QPS, "machine": _ground.machine(),
            "bar": {"ratio": args.bar, "writes_per_tenant": WRITES_BAR}, "held": held, "holds": all(held.values())}


def main():
    parser = argparse.ArgumentParser(prog="hack/bench burst", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100, help="nodes (100)")
    parser.add_argument("--gpus", type=int, default=8, help="GPUs of each (8)")
    parser.add_argument("--tenants", type=int, default=4000, help="tenants of 0.2 (4000)")
    parser.add_argument("--rounds", type=int, default=9, help="runs of each (9)")
    parser.add_argument("--workers", type=int, nargs="*", default=list(WORKERS),
                        help="requests at once of the floor; of several the best is taken")
    parser.add_argument("--no-cold", dest="cold", action="store_false", help="leave the cold case out")
    parser.add_argument("--bar", type=float, default=0.9, help="least ratio to the floor (0.9)")
    parser.add_argument("--binary", default=os.environ.get("ALIQUOT_BINARY"), help="aliquot")
    parser.add_argument("--limit", type=int, default=3000, help="seconds it may take (3000)")
    args = parser.parse_args()
    _ground.guard(args.limit)
    try:
        return _ground.finish(run(args))
    except (*_ground.TROUBLE, ApiError) as error:
        return _ground.fail("burst", error)


if __name__ == "__main__":
    sys.exit(main())
