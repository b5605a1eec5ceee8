#!/usr/bin/env python3
"""Tenants, connections and reviews that mean ill, through the real API server, while others want to be served.

build: sanitized
smoke: --smoke

Whoever may write in one namespace writes there what the API server takes, as large and as odd as it lets it be, and changes and
deletes it again; whoever reaches a port says one byte, half a handshake, a header without an end; whoever runs the cluster makes
policies, groups and nodes that are no better. All is made from a seed, which is printed (test/soak/_nasty.py, _intruders.py).

Meanwhile a sanitized controller and a plain one share the work, and so do agents, one of each; halfway the lead passes from
the first to the other. None may end or leave a finding; the plain ones, whose memory is the product's, must stay below
96 MiB; pods of other namespaces must be placed within a minute each, and three times what the API server's own watch was late;
and ordinary reviews, asked of the plain controller over a connection of their own, must be answered within 10 ms, 99 of 100,
less what a process that only sends bytes back takes on that machine at that time. The bar is 30 minutes of it, in slices of five with a cluster each; state is kept after each of them.
"""

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(TREE, "test", part) for part in ("lib", "fake", "e2e")]

import agents  # noqa: E402
import controlplane  # noqa: E402
from api import ApiError  # noqa: E402
from _nasty import GPU  # noqa: E402
from helpers import gates, placed  # noqa: E402
from soaking import State  # noqa: E402
from stack import FINDINGS, Controller, Stack, describe, note  # noqa: E402
from waiting import Timeout, wait_until  # noqa: E402
from watching import PodWatch  # noqa: E402

BAR_S, SLICE_S, SMOKE_S = 1800, 300, 40
RSS_MIB, REVIEW_MS, PLACED_S = 96, 10, 60
# The API server's own watch of pods may be late, by half a minute where the machine is busy and pods are megabytes: a pod is
# heard of one turn of it after it was made, given its share, and told once another turn or two have shown that.
TURNS = 3
HOSTILE, KIND = ("mallory-0", "mallory-1", "mallory-2"), ("good-0", "good-1")
PLAIN = os.path.join(TREE, "build", "src", "app", "aliquot")
PLAIN_IMAGE = "aliquot-plain"
SANITIZERS = {"ASAN_OPTIONS": "halt_on_error=1:detect_leaks=1:exitcode=99",
              "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99"}
RIGHTS = [{"apiGroups": ["", "batch", "apps", "policy", "autoscaling"], "resources": ["*"], "verbs": ["*"]}]


def memory_mib(pid):
    """What it has at most had; the plain build's is the product's."""
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        rows = dict(line.split(":", 1) for line in file)
    return int(rows["VmHWM"].split()[0]) / 1024


def p99(figures):
    return sorted(figures)[int(len(figures) * 0.99)] if figures else None


def who_has_what(stack):
    """A line for each pod on a node that has GPUs or a share of one."""
    for pod in stack.api.list("pods"):
        meta, spec = pod["metadata"], pod["spec"]
        gpus = [one["resources"]["limits"][GPU] for one in spec["containers"] if GPU in one.get("resources", {}).get("limits", {})]
        share = {key: note(pod, key) for key in ("share", "compute-milli", "memory-mib", "gpu-count", "gpu-uuid", "capacity-pod", "grants")
                 if note(pod, key) is not None}
        if gpus or share:
            yield "%s/%s on %s, %s%s: GPUs %s, %s" % (
                meta["namespace"], meta["name"], spec.get("nodeName"), pod["status"].get("phase"),
                ", to end by %s" % meta["deletionTimestamp"] if "deletionTimestamp" in meta else "", gpus, json.dumps(share)[:300])


class Lateness:
    """How late the API server's watch is with versions of pods that a read has shown."""

    def __init__(self):
        self.lock, self.most_s, self.shown, self.owed = threading.Lock(), 0, {}, {}

    def read(self, pod):
        with self.lock:
            uid, version = pod["metadata"]["uid"], int(pod["metadata"]["resourceVersion"])
            if version > self.shown.get(uid, 0):
                self.owed.setdefault(uid, {}).setdefault(version, time.monotonic())

    def look(self, pods):
        with self.lock:
            for pod in pods:
                uid = pod["metadata"]["uid"]
                self.shown[uid] = int(pod["metadata"]["resourceVersion"])
                self._settle(uid, self.shown[uid])

    def forget(self, pod):
        with self.lock:
            self._settle(pod["metadata"]["uid"], float("inf"))

    def _settle(self, uid, version):
        owed = self.owed.get(uid, {})
        for one in [one for one in owed if one <= version]:
            self.most_s = max(self.most_s, time.monotonic() - owed.pop(one))

    def seconds(self):
        with self.lock:
            return max([self.most_s, *(time.monotonic() - at for owed in self.owed.values() for at in owed.values())])


class Others:
    """Well-behaved namespaces: a pod after the other, each of which must be placed in time."""

    def __init__(self, stack, rng):
        self.stack, self.rng, self.ended = stack, rng, threading.Event()
        self.took, self.broken, self.late = [], [], Lateness()
        self.threads = [threading.Thread(target=self._live, args=(ns,), daemon=True) for ns in KIND]
        for thread in self.threads:
            thread.start()

    def _live(self, ns):
        with contextlib.suppress(Timeout), PodWatch(self.stack.api, ns, "app=other", self.late.look):
            number = 0
            while not self.ended.wait(0.5) and not self.broken:
                number += 1
                self._live_once(ns, "other-%d" % number)

    def _live_once(self, ns, name):
        try:
            pod = self.stack.create_surely(name, namespace=ns, fraction=self.rng.choice(("0.1", "0.25")), labels={"app": "other"})
            began = time.monotonic()
            self.late.read(pod)
            self._await(ns, name, began)
            self.took.append(time.monotonic() - began)
            self.late.forget(pod)
            self.stack.api.delete("pods", name, ns)
        except (Timeout, AssertionError, ApiError) as error:
            self.broken.append("%s/%s: %s" % (ns, name, str(error)[:3000]))

    def _await(self, ns, name, began):
        last = {}

        def served():
            last["pod"] = self.stack.get_pod(name, ns)
            self.late.read(last["pod"])
            late_s = self.late.seconds()
            assert time.monotonic() - began < PLACED_S + TURNS * late_s, "it is not placed, and the watch is only %d s late: %s\n%s\n%s" % (
                late_s, placed(last["pod"]), "\n".join(who_has_what(self.stack)), describe(last["pod"]))
            return note(last["pod"], "gpu-uuid") is not None and not gates(last["pod"])
        wait_until(served, SLICE_S, lambda: "it to be placed\n%s" % describe(last.get("pod")), ignore=(ApiError,))

    def stop(self):
        self.ended.set()
        for thread in self.threads:
            thread.join(SLICE_S + 70)


class Crowd:
    """The processes of _intruders.py, and what they counted."""

    def __init__(self, stack, seed, smoke):
        self.stack, self.seed, self.smoke, self.processes = stack, seed, smoke, {}
        self.folder, info = stack.plane.dir, stack.plane.info()
        self.server = {"url": info["url"], "ca": info["ca"]}
        self.stolen = {}

    def start(self, name, does, **told):
        out = os.path.join(self.folder, name + ".json")
        told = {"seed": self.seed, "name": name, "does": does, "out": out, "stolen": self.stolen, **self.server,
                "pause_s": 0.15 if self.smoke else 0.25, "keeps": 25, **told}
        process = subprocess.Popen([sys.executable, os.path.join(HERE, "_intruders.py"), json.dumps(told)], stdin=subprocess.PIPE)
        self.processes[name] = (process, out)

    def alive(self):
        return all(process.poll() is None for process, _ in self.processes.values())

    def stop(self):
        """{name: what it left}"""
        left = {}
        for process, _ in self.processes.values():
            process.stdin.close()
        for name, (process, out) in self.processes.items():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if os.path.exists(out):
                with open(out, encoding="utf-8") as file:
                    left[name] = json.load(file)
        return left


class Slice:
    """One cluster for some minutes."""

    def __init__(self, stack, counts, seed, seconds, smoke):
        self.stack, self.counts, self.seed, self.seconds, self.smoke = stack, counts, seed, seconds, smoke
        self.plain = stack.controllers[-1]
        self.crowd = Crowd(stack, seed, smoke)
        self.agents = {}  # pod's name: (its process, whether it is plain)
        self.restarted = set()

    def prepare(self):
        api = self.stack.api
        for ns in HOSTILE + KIND:
            api.create("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {
                "name": ns, "labels": {"hostile": str(ns in HOSTILE).lower()}}})
        for ns in HOSTILE:
            api.create("serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "m", "namespace": ns}})
            api.create("roles", {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": RIGHTS,
                                 "metadata": {"name": "m", "namespace": ns}})
            api.create("rolebindings", {
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "m", "namespace": ns},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "m"},
                "subjects": [{"kind": "ServiceAccount", "name": "m", "namespace": ns}]})
            # As anybody has it who shares a cluster: what they may have is theirs, all else is not.
            api.create("resourcequotas", {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {
                "name": "theirs", "namespace": ns}, "spec": {"hard": {"requests.nvidia.com/gpu": "2", "count/pods": "60"}}})
        self.start_agents()

    def start_agents(self):
        """A sanitized one on the first node, a plain one on the second."""
        stack = self.stack
        agents.start_product(stack, ["gpu-0"])
        plain = agents.product(stack, ["gpu-1"])
        plain["metadata"]["name"] = "plain-agent"
        for key in ("selector", "template"):
            part = plain["spec"][key] if key == "selector" else plain["spec"][key]["metadata"]
            part["matchLabels" if key == "selector" else "labels"]["build"] = "plain"
        for one in plain["spec"]["template"]["spec"]["containers"]:
            one["image"] = PLAIN_IMAGE
        stack.api.create("daemonsets", plain)
        wait_until(lambda: agents.ready(stack, "gpu-1"), 60, lambda: "the plain agent\n" + agents.log(stack, "gpu-1"))

    def steal(self):
        """What a pod that was placed carries, for whoever copies it."""
        self.stack.create_pod("mine", namespace=KIND[0], fraction="0.1")
        pod = self.stack.wait_pod("mine", lambda pod: note(pod, "gpu-uuid") is not None, 60, KIND[0], "placed")
        meta = pod["metadata"]
        self.crowd.stolen = {key: {name: value for name, value in meta.get(key, {}).items() if name.startswith("aliquot.dev/")}
                             for key in ("labels", "annotations")}

    def release(self):
        crowd, stack = self.crowd, self.stack
        doors = ["127.0.0.1:%d" % port for c in stack.controllers for port in (c.webhook_port, c.metrics_port)]
        for node in ("gpu-0", "gpu-1"):
            doors += ["%s:%d" % (agents.address(stack, node), port) for port in (agents.METRICS_PORT, agents.STATE_PORT)]
        for i, ns in enumerate(HOSTILE * 2):
            crowd.start("m%d" % i, "api", namespace=ns, token=stack.api.mint_token("m", ns))
        crowd.start("operator", "operator", token=stack.api.token)
        crowd.start("doors", "doors", ports=doors)
        hooks = ["127.0.0.1:%d" % c.webhook_port for c in stack.controllers]
        crowd.start("reviews", "reviews", ports=hooks)
        crowd.start("neighbour", "neighbour", namespace=KIND[1], ports=["127.0.0.1:%d" % self.plain.webhook_port])

    # Looking.

    def look(self):
        """Everybody lives, with no finding, and the plain ones with little memory; a sentence where not."""
        for controller in self.stack.controllers:
            if not controller.alive():
                return "a controller ended: %s\n%s" % (controller.exit_status(), controller.log())
        findings = self.stack.findings()
        most = memory_mib(self.plain.record["pid"])
        self.counts["controller_mib"] = max(self.counts["controller_mib"], round(most, 1))
        if findings or most > RSS_MIB:
            return findings or "the controller has had %.1f MiB" % most
        return self.look_at_agents()

    def look_at_agents(self):
        state = self.stack.kubelet.state()["pods"]
        for pod in agents.pods(self.stack):
            known = state.get(pod["metadata"]["uid"])
            process = known and known["containers"].get("agent", {}).get("pid")
            for one in pod["status"].get("containerStatuses", []):
                if one["restartCount"] > 0:
                    return "an agent was started again: %s\n%s" % (one, agents.log(self.stack, pod["spec"]["nodeName"]))
            text = agents.log(self.stack, pod["spec"].get("nodeName", ""))
            if any(finding in text for finding in FINDINGS):
                return text
            if process and any(one["image"] == PLAIN_IMAGE for one in pod["spec"]["containers"]):
                try:
                    self.counts["agent_mib"] = max(self.counts["agent_mib"], round(memory_mib(process), 1))
                except OSError:
                    continue
        return "an agent has had %.1f MiB" % self.counts["agent_mib"] if self.counts["agent_mib"] > RSS_MIB else None

    def pass_the_lead(self):
        """The sanitized one is told to end, does so well, and comes back; the plain one leads."""
        first = self.stack.controllers[0]
        status = first.stop()
        if status != 0 or first.findings():
            return "the controller ended with %s\n%s" % (status, first.findings())
        try:
            first.start()
        except Timeout as error:
            return "the controller did not come back: %s" % error
        return None

    def run(self):
        """None, or what went wrong."""
        self.prepare()
        self.steal()
        others = Others(self.stack, random.Random(self.seed))
        self.release()
        end, wrong, passed = time.monotonic() + self.seconds, None, False
        while time.monotonic() < end and wrong is None:
            time.sleep(1)
            wrong = self.look() or "\n".join(others.broken) or None
            if not self.crowd.alive():
                wrong = wrong or "an intruder ended"
            if not passed and time.monotonic() > end - self.seconds / 2:
                passed, wrong = True, wrong or self.pass_the_lead()
        others.stop()
        left = self.crowd.stop()
        self.count(others, left)
        return wrong or self.look() or "\n".join(others.broken) or None

    def count(self, others, left):
        counts = self.counts
        counts["placed"] += len(others.took)
        counts["slowest_placed_s"] = max([counts["slowest_placed_s"], *(round(t, 1) for t in others.took)])
        counts["slowest_watch_s"] = max(counts["slowest_watch_s"], round(others.late.seconds(), 1))
        for name, found in left.items():
            print("%s: %s" % (name, json.dumps(found["counts"])), flush=True)
            for what, number in found["counts"].items():
                key = "objects" if what.endswith(" done") else "refused" if what[-3:].isdigit() else None
                key = "connections" if name == "doors" else "reviews" if name == "neighbour" else key
                if key:
                    counts[key] += number
        figures = left.get("neighbour", {}).get("figures", {})
        took, echo = p99(figures.get("took_ms", [])), p99(figures.get("echo_ms", []))
        if took is not None:
            counts["review_p99_ms"].append(took)
            counts["echo_p99_ms"].append(echo)


def one_slice(counts, seed, seconds, smoke):
    with controlplane.ControlPlane.up(with_parent=os.getpid()) as plane, \
            Stack.up(plane, nodes=[("gpu-0", 4), ("gpu-1", 4)], service=True, arguments=["--idle-grace-seconds=5"],
                     kubelet_arguments=["--image", "%s=%s" % (PLAIN_IMAGE, PLAIN)]) as stack:
        plain = Controller(plane, arguments=stack.arguments, program=PLAIN)
        stack.controllers.append(plain)
        plain.start()
        wrong = Slice(stack, counts, seed, seconds, smoke).run()
        return wrong and "%s\n%s" % (wrong, "\n".join(c.log(8000) for c in stack.controllers))


def judge(counts, smoke):
    """In a smoke run, which shares the machine, no figure of time counts."""
    quick = [took - echo <= REVIEW_MS for took, echo in zip(counts["review_p99_ms"], counts["echo_p99_ms"])]
    held = {"violations": counts["violations"] == 0, "placed": counts["placed"] > 0,
            "memory": max(counts["controller_mib"], counts["agent_mib"]) <= RSS_MIB}
    if not smoke:
        held.update(reviews=bool(quick) and all(quick), time=counts["seconds"] >= BAR_S)
    counts.update(held=held, holds=all(held.values()), bar="%d s, %d MiB, %d ms, %d s" % (BAR_S, RSS_MIB, REVIEW_MS, PLACED_S))


def build_plain():
    """The plain binary beside the sanitized one, also where nobody has set up its folder."""
    folder = os.path.join(TREE, "build")
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        subprocess.run(["meson", "setup", folder, TREE], check=True, stdout=sys.stderr)
    subprocess.run(["ninja", "-C", folder, "src/app/aliquot"], check=True, stdout=sys.stderr)


def main():
    parser = argparse.ArgumentParser(prog="hack/soak hostile", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="about a minute, of which nothing is kept")
    parser.add_argument("--seed", type=int, help="of the first slice; without it, any")
    parser.add_argument("--seconds", type=int, help="so long now; without it, up to the bar of %d" % BAR_S)
    parser.add_argument("--fresh", action="store_true", help="count for this run only")
    options = parser.parse_args()
    os.environ.update(SANITIZERS)
    build_plain()
    state = State("hostile", {
        "seconds": 0, "slices": 0, "violations": 0, "seeds_of_violations": [], "objects": 0, "refused": 0, "connections": 0,
        "reviews": 0, "placed": 0, "slowest_placed_s": 0.0, "slowest_watch_s": 0.0, "controller_mib": 0.0, "agent_mib": 0.0, "review_p99_ms": [],
        "echo_p99_ms": []}, options.fresh or options.smoke)
    counts = state.counts
    left = SMOKE_S if options.smoke else options.seconds or BAR_S - counts["seconds"]
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    while left > 0 and counts["violations"] == 0:
        seconds = min(left, SLICE_S)
        print("seed %d, %d s" % (seed, seconds), flush=True)
        wrong = one_slice(counts, seed, seconds, options.smoke)
        counts["seconds"] += seconds
        counts["slices"] += 1
        if wrong:
            counts["violations"] += 1
            counts["seeds_of_violations"].append(seed)
            print("seed %d: %s" % (seed, wrong), flush=True)
        state.save()
        left, seed = left - seconds, seed + 1
    judge(counts, options.smoke)
    print(json.dumps(counts))
    return 0 if counts["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
