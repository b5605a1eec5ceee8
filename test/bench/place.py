"""What a tenant waits for its decision at 100, 1,000 and 10,000 GPUs: time, and instructions by callgrind.

The engine is the shipped one, filled and driven through its own door, with eight GPUs a node and four tenants a GPU. Newcomers come
one at a time: what counts is the whole time from the watch's word of the pod to the plan that grants it a share or refuses it, that is the
picture, the ranks, the decision and all else that a step does. Their shares are of 5 to 60 %, every fifth with memory apart, every
fifth with a node selector; some nodes lack CPU, some have a GPU to open. The same again with every GPU full, where each decision is a refusal
with its closest miss. Beside it is told what 1,000 that wait together cost: each decision, the first three included, which make the
index; the picture and the ranks before them; and all of that divided among them.

The bars, at 10,000 GPUs and 40,000 tenants, in both cases: a decision takes at most 100 microseconds at p99, and a newcomer who comes
alone, with the whole step that is made for it, at most 50 milliseconds. Why they are two: docs/design/placing.md.

smoke: --gpus 100 --sizes 50 --waiting 100 --bar-us 100000 --newcomer-bar-us 1000000
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile

import _others

TENANTS_A_GPU = 4
TIMEOUT_S = 500
# Under callgrind a step is some fifty times slower, and the count settles soon: {function: (what a run counts, tenants that wait,
# newcomers)}.
COUNTED = {"bench_newcomer": ("newcomers", 1, 10), "bench_decision": ("counted", 200, 1)}


def program():
    return os.path.join(os.environ["ALIQUOT_BUILD"], "test", "bench", "aliquot-bench-place")


def arguments(args, gpus, full, waiting, newcomers):
    return ["--gpus", str(gpus), "--tenants", str(gpus * TENANTS_A_GPU), "--waiting", str(waiting),
            "--newcomers", str(newcomers), "--seed", str(args.seed)] + (["--full"] if full else [])


def run(argv):
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=TIMEOUT_S)
    return json.loads(done.stdout.strip().splitlines()[-1])


def instructions(args, gpus, full, function):
    """Instructions in a call of this function, on average, by callgrind; those of the program around it are not counted. None
    without valgrind."""
    if not args.counts or shutil.which("valgrind") is None:
        return None
    counted, waiting, newcomers = COUNTED[function]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind")
        result = run(["valgrind", "--tool=callgrind", "--collect-atstart=no",
                      "--toggle-collect=" + function, "--callgrind-out-file=" + out, program(),
                      *arguments(args, gpus, full, waiting, newcomers), "--rounds", "1"])
        with open(out, encoding="utf-8", errors="replace") as f:
            total = re.search(r"^(?:totals|summary): (\d+)", f.read(), re.M)
    return int(total.group(1)) // result[counted]


def measure(args, gpus, full):
    argv = [program(), *arguments(args, gpus, full, args.waiting, args.newcomers)]
    runs, others = zip(*(_others.undisturbed(lambda: run(argv)) for _ in range(args.runs)))
    found = {key[:-3] + "_us": round(statistics.median(r[key] for r in runs) / 1000, 2)
             for key in runs[0] if key.endswith("_ns")}
    found.update({key: runs[0][key] for key in (
        "gpus", "tenants", "newcomers", "served", "decisions", "granted", "opened")})
    for key in ("newcomer_p99", "p99"):
        found[key + "_all_us"] = [round(r[key + "_ns"] / 1000, 2) for r in runs]
    found["newcomer_instructions"] = instructions(args, gpus, full, "bench_newcomer")
    found["instructions"] = instructions(args, gpus, full, "bench_decision")
    found.update(_others.summary(others))
    print("%6d GPUs, %-9s a newcomer p50 %8.1f us, p99 %8.1f us, %s instructions; of %d at once each %.1f us: p50 %.2f us, p99 %.2f us, "
          "%s instructions, after picture %.0f us, ranks %.0f us; the first three %.0f us" % (
              gpus, "full:" if full else "with room:", found["newcomer_p50_us"], found["newcomer_p99_us"],
              found["newcomer_instructions"], args.waiting, found["each_us"], found["p50_us"], found["p99_us"],
              found["instructions"], found["picture_us"], found["rank_us"], found["first_us"]), flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(prog="hack/bench place", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=10000, help="where the bar holds (10000)")
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 1000], help="others beside it (100 1000)")
    parser.add_argument("--waiting", type=int, default=1000, help="tenants that wait (1000)")
    parser.add_argument("--newcomers", type=int, default=200, help="that come one at a time (200)")
    parser.add_argument("--runs", type=int, default=3, help="the median of so many (3)")
    parser.add_argument("--seed", type=int, default=1, help="of the cluster (1)")
    parser.add_argument("--no-instructions", dest="counts", action="store_false", help="leave callgrind out")
    parser.add_argument("--bar-us", type=float, default=100, help="most at p99 of a decision (100)")
    parser.add_argument("--newcomer-bar-us", type=float, default=50000, help="most at p99 of a newcomer (50000)")
    args = parser.parse_args()
    sizes = [*args.sizes, args.gpus]
    room = [measure(args, gpus, False) for gpus in sizes]
    full = [measure(args, gpus, True) for gpus in sizes]
    bars = {"newcomer_p99_us": args.newcomer_bar_us, "p99_us": args.bar_us}
    held = {"%s_%s" % (what, name): case[-1][key] <= bars[key]
            for name, case in (("with_room", room), ("full", full))
            for what, key in (("newcomer", "newcomer_p99_us"), ("decision", "p99_us"))}
    last = {key: room[-1][key] for key in ("newcomer_p50_us", "newcomer_p99_us", "newcomer_instructions", "each_us",
                                           "p50_us", "p99_us", "instructions")}
    print(json.dumps({"name": "place", "gpus": args.gpus, **last, "with_room": room, "full": full,
                      "bar": bars, "held": held,
                      "disturbed": any(each["disturbed"] for each in room + full), "holds": all(held.values())}))
    return 0 if all(held.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
