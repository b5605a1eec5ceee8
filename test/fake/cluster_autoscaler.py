"""Plays Cluster Autoscaler, with a cloud whose machines are Node objects: it adds nodes for pods that wait, and takes away those
that nobody needs. What it thinks of pods and nodes is in autoscaler_rules.py, which says where the rules are from. The rest is,
at the same tag, from

the loop, young pods         core/static_autoscaler.go
pods that are to be helped   core/podlistprocessor/: filter_out_expendable, currently_drained_nodes, filter_out_schedulable, filter_out_daemon_sets
nodes that are on their way  clusterstate/clusterstate.go (GetUpcomingNodes): as if they were there, so no second one is made
what a new node is like      simulator/node_info_utils.go: one of the group that is there, else what the cloud says (scale from zero)
how long it is unneeded      core/scaledown/unneeded/nodes.go, utils/taints/taints.go
how it is emptied            core/scaledown/actuation/: actuator.go, drain.go

It looks every --scan seconds, as the real one every 10, at lists of the API server. Groups are of the cheapest first, as its expander `price`
has it. Its times (10 minutes that a node is unneeded, 20 where it is unready,
10 after one was added) are given in the file of --config, since they are too long for a test:

{"groups": [{"name", "labels", "gpus", "price", "most", "least" 0, "cpu", "memory", "taints", "start_s" 1, "late": false}],
 "gpu_label": ..., "unneeded_s", "unready_s", "after_add_s", "after_taint_s", "eviction_s"}

A group's node that is `late` is Ready without its GPUs until somebody calls POST /gpus. GET /state tells what it thinks.
"""

import argparse
import http.server
import json
import os
import secrets
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "lib"))

import autoscaler_rules as rules  # noqa: E402
import fleet  # noqa: E402
from api import Api, ApiError  # noqa: E402

GROUP = "example.com/node-group"
# No eviction has a longer grace (--max-graceful-termination-sec), and pods are waited for as long and 30 s more.
GRACE_MAX_S, HEADROOM_S = 600, 30


class Group:
    def __init__(self, given, gpu_label):
        self.name, self.price, self.most, self.least = given["name"], given["price"], given["most"], given.get("least", 0)
        self.start_s, self.late, self.gpus = given.get("start_s", 1), given.get("late", False), given["gpus"]
        self.target = self.least
        labels = {**given["labels"], GROUP: self.name, **({gpu_label: "some"} if self.gpus else {})}
        self.shape = {"cpu": given.get("cpu", "16"), "memory": given.get("memory", "64Gi"), "pods": 110,
                      "taints": given.get("taints", [])}
        self.labels = labels

    def machine(self, name, gpus):
        """A Node object as its kubelet registers it: no label of GPU feature discovery."""
        shape = dict(self.shape)
        node = fleet.node(name, 0, labels=self.labels, taints=shape.pop("taints"), **shape)
        if gpus:
            for part in ("capacity", "allocatable"):
                node["status"][part][rules.GPU] = str(gpus)
        return node

    def template(self, name, there):
        """What the next one will be like."""
        like = next((n for n in there if rules.is_ready(n) and rules.amount(
            n["status"]["allocatable"].get(rules.GPU, 0)) == self.gpus), None)
        if like is None:
            return self.machine(name, self.gpus)
        return {"metadata": {"name": name, "labels": {**like["metadata"]["labels"], "kubernetes.io/hostname": name}},
                "spec": {"taints": [t for t in like["spec"].get("taints", []) if t["key"] not in (rules.GOES, rules.CANDIDATE)]},
                "status": {"allocatable": like["status"]["allocatable"], "conditions": fleet.conditions()}}


class Cloud:
    """Machines: they come some time after they were asked for."""

    def __init__(self, api, groups, adopt):
        self.api, self.groups, self.adopt = api, groups, adopt
        self.coming = []

    def grow(self, group, count):
        for _ in range(count):
            group.target += 1
            self.coming.append((time.monotonic() + group.start_s, group, "%s-%s" % (group.name, secrets.token_hex(3))))

    def work(self):
        for item in [each for each in self.coming if each[0] <= time.monotonic()]:
            _, group, name = item
            node = group.machine(name, 0 if group.late else group.gpus)
            if not group.late:
                node["metadata"]["labels"].update(self.adopt)
            self.api.create("nodes", node)
            self.api.patch("nodes", name, {"status": node["status"]}, sub="status")
            self.coming.remove(item)

    def give_gpus(self):
        """The driver and the device plugin are there by now."""
        for node in self.api.list("nodes", labelSelector=GROUP):
            group = self.groups[node["metadata"]["labels"][GROUP]]
            if group.late and not rules.amount(node["status"]["allocatable"].get(rules.GPU, 0)):
                room = {rules.GPU: str(group.gpus)}
                self.api.patch("nodes", rules.name_of(node), {"status": {"capacity": room, "allocatable": room}}, sub="status")
                self.api.patch("nodes", rules.name_of(node), {"metadata": {"labels": self.adopt}})

    def end(self, node):
        self.groups[node["metadata"]["labels"][GROUP]].target -= 1
        self.api.delete("nodes", rules.name_of(node))


class Autoscaler:
    def __init__(self, api, config, adopt):
        self.api, self.config, self.gpu_label = api, config, config["gpu_label"]
        self.groups = {g["name"]: Group(g, self.gpu_label) for g in config["groups"]}
        self.cloud = Cloud(api, self.groups, adopt)
        self.unneeded, self.stays, self.draining = {}, {}, {}
        self.grown_at = -1e9
        self.asked = self.scans = 0
        self.log = []

    def say(self, text):
        self.log.append(text)
        print("%s %s" % (fleet.now(), text), flush=True)

    # One scan.

    def scan(self):
        self.cloud.work()
        pods, nodes = self.api.list("pods"), self.api.list("nodes")
        mine = [n for n in nodes if n["metadata"].get("labels", {}).get(GROUP) in self.groups]
        for name in [n for n in self.draining if n not in {rules.name_of(n) for n in mine}]:
            del self.draining[name]
        lack, expected = self.scale_up(pods, nodes, mine)
        if not lack:
            self.scale_down(pods + expected, nodes, mine)
        self.scans += 1

    def of(self, mine, group):
        return [n for n in mine if n["metadata"]["labels"][GROUP] == group.name]

    def serves(self, node):
        return rules.is_ready(node) and not rules.lacks_its_gpu(node, self.gpu_label)

    # Up.

    def to_help(self, pods):
        """Pods that the scheduler has given up, and those of nodes that are emptied, who will come again."""
        waiting = [p for p in pods if rules.is_unschedulable(p)]
        for pod in pods:
            if pod["spec"].get("nodeName") in self.draining and "deletionTimestamp" not in pod["metadata"] and \
                    rules.controller(pod) and not rules.is_over(pod):
                waiting.append({**pod, "spec": {**pod["spec"], "nodeName": ""}})
        waiting = [p for p in waiting if not rules.is_expendable(p)]
        return sorted(waiting, key=lambda p: -(p["spec"].get("priority") or 0))

    def scale_up(self, pods, nodes, mine):
        """(whether somebody needs a node, and then none is taken away; those who wait and will be bound to one, as bound)"""
        there = rules.Snapshot([n for n in nodes if self.serves(n)], [p for p in pods if not rules.is_expendable(p)])
        for group in self.groups.values():
            coming = group.target - len([n for n in self.of(mine, group) if self.serves(n)])
            for i in range(coming):
                there.add(group.template("upcoming-%s-%d" % (group.name, i), self.of(mine, group)))
        waiting, expected = [], []
        for pod in self.to_help(pods):
            name = there.place(pod)
            if name is not None:
                expected.append({**pod, "spec": {**pod["spec"], "nodeName": name}})
            elif not rules.is_daemon(pod):
                waiting.append(pod)
        for group in sorted(self.groups.values(), key=lambda g: g.price):
            count, names = self.estimate(group, waiting, self.of(mine, group))
            if names and count:
                self.say("up %s by %d for %s" % (group.name, count, ", ".join(names)))
                self.cloud.grow(group, count)
                self.asked += count
                self.grown_at = time.monotonic()
                break
        return bool(waiting), expected

    def estimate(self, group, waiting, there):
        """How many nodes of that group help, and whom."""
        new, names = rules.Snapshot(), []
        for pod in waiting:
            if new.place(pod) is None and len(new.nodes) + group.target < group.most:
                one = rules.Snapshot([group.template("template-%s-%d" % (group.name, len(new.nodes)), there)])
                if one.place(pod) is None:
                    continue
                new.add(next(iter(one.nodes.values())))
                new.place(pod)
                names.append(rules.name_of(pod))
        return len(new.nodes), names

    # Down.

    def scale_down(self, pods, nodes, mine):
        now, budgets = time.time(), self.api.list("poddisruptionbudgets")
        by_node = {}
        for pod in pods:
            if not rules.is_over(pod) and not rules.is_expendable(pod):
                by_node.setdefault(pod["spec"].get("nodeName"), []).append(pod)
        self.stays, found = {}, {}
        for node in mine:
            name, group = rules.name_of(node), self.groups[node["metadata"]["labels"][GROUP]]
            others = [n for n in nodes if rules.name_of(n) not in (name, *found) and self.serves(n)]
            elsewhere = [p for n in others for p in by_node.get(rules.name_of(n), [])]
            why = "NodeGroupMinSizeReached" if group.target <= group.least else rules.why_it_stays(
                node, by_node.get(name, []), (others, elsewhere, budgets), self.gpu_label, now)
            if why is None:
                found[name] = self.unneeded.get(name, time.monotonic())
            else:
                self.stays[name] = why
        self.mark(mine, found)
        self.unneeded = found
        if time.monotonic() - self.grown_at >= self.config["after_add_s"]:
            for node in mine:
                since = found.get(rules.name_of(node))
                # One whose GPUs are late counts as unready.
                needs = self.config["unneeded_s" if self.serves(node) else "unready_s"]
                if since is not None and time.monotonic() - since >= needs:
                    self.remove(node)

    def mark(self, mine, found):
        """The soft taint of those that may go soon."""
        for node in mine:
            taints = node["spec"].get("taints", [])
            has = any(t["key"] == rules.CANDIDATE for t in taints)
            if has != (rules.name_of(node) in found):
                self.taint(node, rules.CANDIDATE, "PreferNoSchedule", not has)

    def taint(self, node, key, effect, on):
        def changed(taints):
            left = [t for t in taints if t["key"] != key]
            return left + ([{"key": key, "value": str(int(time.time())), "effect": effect}] if on else [])
        for _ in range(5):
            try:
                fresh = self.api.get("nodes", rules.name_of(node))
                return self.api.patch("nodes", rules.name_of(node), {
                    "metadata": {"resourceVersion": fresh["metadata"]["resourceVersion"]},
                    "spec": {"taints": changed(fresh["spec"].get("taints", []))}})
            except ApiError as error:
                if error.status != 409:
                    raise
        return None

    def remove(self, node):
        """In a thread of its own: others are looked at meanwhile."""
        name = rules.name_of(node)
        if name not in self.draining:
            self.draining[name] = True
            self.unneeded.pop(name, None)
            self.taint(node, rules.GOES, "NoSchedule", True)
            threading.Thread(target=self._remove, args=(node,), daemon=True).start()

    def _remove(self, node):
        name = rules.name_of(node)
        try:
            time.sleep(self.config["after_taint_s"])
            if self.empty(name):
                self.say("down %s" % name)
                self.cloud.end(node)
                return
        except ApiError as error:
            self.say("not down %s: %s" % (name, error))
        self.taint(node, rules.GOES, "NoSchedule", False)
        self.draining.pop(name, None)

    def empty(self, name):
        """Evicts who is there and waits until all have gone; False: the node stays."""
        def there():
            return [p for p in self.api.list("pods", fieldSelector="spec.nodeName=" + name)
                    if not rules.is_daemon(p) and not rules.is_over(p)]
        budgets, longest = self.api.list("poddisruptionbudgets"), 0
        for pod in there():
            why = rules.blocks(pod, budgets, time.time())
            if why is not None:
                self.say("not down %s: %s (%s)" % (name, rules.name_of(pod), why))
                return False
        for pod in there():
            grace = min(pod["spec"].get("terminationGracePeriodSeconds", 30), GRACE_MAX_S)
            longest = max(longest, grace)
            if not self.evict(pod, grace):
                self.say("not down %s: %s was not evicted" % (name, rules.name_of(pod)))
                return False
        until = time.monotonic() + longest + HEADROOM_S
        while there() and time.monotonic() < until:
            time.sleep(0.2)
        return not there()

    def evict(self, pod, grace):
        until = time.monotonic() + self.config["eviction_s"]
        while True:
            try:
                self.api.evict(rules.name_of(pod), pod["metadata"]["namespace"], deleteOptions={"gracePeriodSeconds": grace})
                return True
            except ApiError as error:
                if error.status == 404:
                    return True
            if time.monotonic() >= until:
                return False
            time.sleep(0.5)

    # For tests.

    def state(self):
        return {"scans": self.scans, "asked": self.asked, "stays": self.stays, "unneeded": sorted(self.unneeded),
                "draining": sorted(self.draining), "log": self.log[-50:],
                "targets": {group.name: group.target for group in self.groups.values()}}

    def command(self, name, arguments):
        if name == "gpus":
            self.cloud.give_gpus()
        elif name == "drain":
            # As somebody does who knows more than the simulation.
            self.remove(self.api.get("nodes", arguments["node"]))
        else:
            raise KeyError(name)


def serve(port, scaler):
    class Door(http.server.BaseHTTPRequestHandler):
        def answer(self, status, body):
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):  # pylint: disable=invalid-name
            self.answer(200, scaler.state())

        def do_POST(self):  # pylint: disable=invalid-name
            given = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            scaler.command(self.path.strip("/"), given)
            self.answer(200, {})

        def log_message(self, *_):  # pylint: disable=arguments-differ
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Door)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--kubeconfig", "--config", "--port"):
        parser.add_argument(option, required=True)
    parser.add_argument("--adopt", required=True, metavar="LABEL=VALUE", help="the label by which the fake kubelet plays its nodes")
    parser.add_argument("--scan", type=float, default=0.5)
    args = parser.parse_args()
    with open(args.config, encoding="utf-8") as file:
        config = json.load(file)
    key, _, value = args.adopt.partition("=")
    scaler = Autoscaler(Api.from_kubeconfig(args.kubeconfig), config, {key: value})
    serve(int(args.port), scaler)
    while True:
        try:
            scaler.scan()
        except ApiError as error:
            scaler.say("a scan failed: %s" % error)
        time.sleep(args.scan)


if __name__ == "__main__":
    main()
