"""Memory and time of a full cache: the controller beside a client-go informer, on a real API server.

The cluster's pods differ in labels, env and size (2 to 12 KB), one in five asks for a GPU. It has
5,000 GPURecommendations and their checkpoints, which the controller alone reads. Both
programs are started anew in every round, one after the other and by turns the first, so that each
fills its cache while the other does nothing; the best time of each counts. The processor time that
each took is given beside it. Those of the last round live on: they are stopped for a while (SIGSTOP) in which pods change and go, history is
compacted and the API server restarted, so that what they resume from is gone (410) and they must
take a complete new picture; then come two minutes of updates. At the end the controller's debug
dump must say of every node what the API server says.

smoke: --pods 2000 --rounds 1 --updates 5 --recommended 20
"""

import argparse
import signal
import sys
import time

import _ground
import _others
import _recommended
import _sums
import processes

HWM_BAR_KIB = 64 * 1024
TIME_BAR = 1.0
READY_TIMEOUT_S = 600
SETTLE_TIMEOUT_S = 120


def begun(ground, start):
    """One program, started and full; anew where others took the cores meanwhile."""
    subjects = []

    def fill():
        subject = start()
        subjects.append(subject)
        took = subject.await_ready(READY_TIMEOUT_S)
        return {"took_s": took, "cpu_s": subject.cpu_s(), "peak_kib": subject.memory_kib()}

    def stop_last():
        if subjects:
            subjects[-1].stop()
    seen, others = _others.undisturbed(fill, ground.servers(), told=_ground.say, prepare=stop_last)
    return dict(seen, subject=subjects[-1], others=others)


def round_of(ground, number, rounds):
    """One start of each; {name: what was seen of it}."""
    begin = [ground.controller, ground.informer]
    if number % 2:
        begin.reverse()
    found = {}
    for start in begin:
        seen = begun(ground, start)
        subject = seen["subject"]
        found[subject.name] = seen
        _ground.say("round %d: %s was ready after %.2f s, %.2f s of them on a core, peak %.1f MiB" % (
            number, subject.name, seen["took_s"], seen["cpu_s"], seen["peak_kib"] / 1024))
        if number < rounds:
            subject.stop()
    return found


def forced_relist(ground, controller, informer, args):
    """Makes both take a complete new picture because history is gone; says how it went."""
    expired = controller.metric("aliquot_watch_errors_total", kind="pods", reason="Expired")
    relists = controller.metric("aliquot_watch_relists_total", kind="pods")
    pictures = controller.pictures()
    for subject in (controller, informer):
        processes.send(subject.record, signal.SIGSTOP)
    try:
        missed = ground.churn(args.missed, args.rate)
        ground.compact()
        _ground.say("restarting the API server; history before now is gone")
        ground.restart_server()
    finally:
        for subject in (controller, informer):
            processes.send(subject.record, signal.SIGCONT)
    took = _ground.wait(lambda: controller.pictures() > pictures, READY_TIMEOUT_S,
                        "the controller's new picture of all pods")
    expired = controller.metric("aliquot_watch_errors_total", kind="pods",
                                reason="Expired") - expired
    result = {"by": "410", "took_s": round(took, 2), "missed": missed["writes"],
              "expired": expired,
              "pictures": controller.metric("aliquot_watch_relists_total", kind="pods") - relists}
    if not expired:
        # A real 410 did not come: take the picture by hand, and say so.
        result["by"] = "POST /debug/relist"
        pictures = controller.pictures()
        controller.json("POST", "/debug/relist")
        result["took_s"] = round(_ground.wait(
            lambda: controller.pictures() > pictures, READY_TIMEOUT_S, "the forced picture"), 2)
    _ground.say("relist by %s took %.1f s, peak %.1f MiB" % (
        result["by"], result["took_s"], controller.memory_kib() / 1024))
    return result


def compare(ground, controller, informer):
    """What of the dump differs from the API server, once both had time to agree."""
    server = _sums.of_server(ground.api)
    deadline = time.monotonic() + SETTLE_TIMEOUT_S
    while True:
        found = _sums.differences(server, controller.json("GET", "/debug/dump"))
        if not found or time.monotonic() > deadline:
            return server, found, informer.json("GET", "/count")
        time.sleep(1)


def run(args):
    with _ground.Ground(args) as ground:
        _recommended.fill(ground.api, args.recommended)
        rounds = [round_of(ground, number, args.rounds) for number in range(1, args.rounds + 1)]
        load = _ground.machine()
        controller, informer = (rounds[-1][name]["subject"] for name in ("controller", "informer"))
        relist = forced_relist(ground, controller, informer, args)
        _ground.say("updates for %d s" % args.updates)
        updates = ground.churn(args.updates, args.rate)
        server, different, count = compare(ground, controller, informer)
        for subject in (controller, informer):
            subject.must_live()
        return verdict(args, rounds, {
            "relist": relist, "updates": updates, "server": server, "different": different,
            "count": count, "machine": load})


def figures(rounds, name):
    subject = rounds[-1][name]["subject"]
    seen = [found[name] for found in rounds]
    peaks = [subject.memory_kib()] + [each["peak_kib"] for each in seen]
    times = [round(each["took_s"], 2) for each in seen]
    spent = [round(each["cpu_s"], 2) for each in seen]
    return {"vm_hwm_kib": max(peaks), "rss_kib": subject.memory_kib("VmRSS"),
            "full_cache_s": min(times), "full_cache_all_s": times,
            "full_cache_cpu_s": min(spent), "cpu_s": round(subject.cpu_s(), 2)}


def verdict(args, rounds, seen):
    ours, peer = figures(rounds, "controller"), figures(rounds, "informer")
    server = seen["server"]
    ratio = {"memory": round(ours["vm_hwm_kib"] / peer["vm_hwm_kib"], 4),
             "time": round(ours["full_cache_s"] / peer["full_cache_s"], 3),
             "cpu": round(ours["full_cache_cpu_s"] / max(peer["full_cache_cpu_s"], 0.01), 3)}
    holds = {"memory": ours["vm_hwm_kib"] <= HWM_BAR_KIB, "time": ratio["time"] <= TIME_BAR,
             "sums": not seen["different"]}
    wrong = {"error": "the cache differs from the API server"} if seen["different"] else {}
    return {
        "name": "cache", "pods": args.pods, "nodes": args.nodes, "recommended": args.recommended, "pods_at_end": server["pods"],
        "gpu_pods_at_end": server["gpu_pods"], "pod_bytes": server["pod_bytes"],
        "full_caches": "one after the other, by turns the first, the best of %d" % args.rounds,
        "controller": ours, "vm_hwm_mib": round(ours["vm_hwm_kib"] / 1024, 1),
        "peer": dict(peer, name="client-go v0.36.3 informers on pods and nodes, JSON",
                     vm_hwm_mib=round(peer["vm_hwm_kib"] / 1024, 1), pods_at_end=seen["count"]["pods"]),
        "ratio": ratio, "relist": seen["relist"],
        "updates": dict(seen["updates"], wanted_per_second=args.rate),
        "differences": seen["different"], "machine": seen["machine"],
        "bar": {"vm_hwm_mib": HWM_BAR_KIB // 1024, "time_ratio": TIME_BAR, "differences": 0},
        **_others.summary([each["others"] for found in rounds for each in found.values()]),
        "held": holds, "holds": all(holds.values()), **wrong}


def main():
    parser = argparse.ArgumentParser(prog="hack/bench cache", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    _ground.add_arguments(parser)
    parser.add_argument("--recommended", type=int, default=5000, help="workloads with a GPURecommendation (5000)")
    parser.add_argument("--rounds", type=int, default=2, help="starts of each program (2)")
    parser.add_argument("--updates", type=int, default=120, help="seconds of updates (120)")
    parser.add_argument("--missed", type=int, default=5, help="seconds of updates it misses (5)")
    parser.add_argument("--rate", type=int, default=200, help="writes a second (200)")
    args = parser.parse_args()
    _ground.guard(args.limit)
    try:
        return _ground.finish(run(args))
    except _ground.TROUBLE as error:
        return _ground.fail("cache", error)


if __name__ == "__main__":
    sys.exit(main())
