"""1,000,000 simulated steps over 2,000 seeds with all faults on, and every mutation caught.

    build: sanitized
    smoke: --seeds 4 --steps 0 --slice 2 --no-mutations --fresh

Runs slices of seeds and keeps its counts after each, for one state of the sources; --minutes ends a run early,
and the next one goes on. The bar: so many seeds and steps without a violation, each mutation caught within 200 seeds.
"""
import argparse
import hashlib
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.join(os.environ.get("ALIQUOT_BUILD", ""), "test", "sim", "aliquot-sim")
SANITIZERS = {"ASAN_OPTIONS": "halt_on_error=1:detect_leaks=1:exitcode=99",
              "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99"}
SUMS = ("seeds", "steps", "writes", "faults", "tenants", "placed", "crashes", "takeovers", "fenced", "claims", "half_claims", "quotas",
        "evicted", "rolled", "surged", "adopted", "lost_races", "failed")


def sources():
    """What the counts are valid for: everything that is compiled into the simulation."""
    listed = subprocess.run(["git", "ls-files", "-z", "src", "include", "test/model", "test/sim"], cwd=TREE, capture_output=True,
                            check=True).stdout.split(b"\0")
    digest = hashlib.sha256()
    for name in filter(None, listed):
        with open(os.path.join(os.fsencode(TREE), name), "rb") as file:
            digest.update(name + b"\0" + file.read() + b"\0")
    return digest.hexdigest()[:16]


class State:
    """The counts, on disk after every slice."""

    def __init__(self, first, fresh):
        base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        self.path = os.path.join(base, "aliquot", "soak", "sim.json")
        self.counts = {"name": "sim", "sources": sources(), "first": first, "next": first, "failures": [],
                       "caught": {}, "missed": []}
        self.counts.update({name: 0 for name in SUMS})
        if fresh:
            self.path = os.devnull
        elif os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                kept = json.load(file)
            if (kept.get("sources"), kept.get("first")) == (self.counts["sources"], first):
                self.counts = kept

    def save(self):
        if self.path == os.devnull:
            return
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.counts, file, indent=1)
        os.replace(self.path + ".new", self.path)


def run(*arguments):
    """One run's lines and its last one, read; what the sanitizers find is a violation like any other."""
    done = subprocess.run([PROGRAM, "--keep", os.environ["ALIQUOT_BUILD"], *arguments], stdout=subprocess.PIPE,
                          text=True, check=False, env=dict(os.environ, **SANITIZERS))
    lines = done.stdout.strip().split("\n")
    try:
        return lines[:-1], json.loads(lines[-1])
    except ValueError:
        return lines, {"failed": 1, "error": done.returncode}


def sweep_slice(state, seeds):
    counts = state.counts
    lines, result = run("--first", str(counts["next"]), "--seeds", str(seeds))
    for line in lines:
        print(line, flush=True)
    counts["failures"] += [line for line in lines if line.startswith("seed ")]
    if "error" in result:
        counts["failures"].append("seeds from %d: status %d" % (counts["next"], result["error"]))
    for name in SUMS:
        counts[name] += result.get(name, 0)
    counts["next"] += seeds
    state.save()


def mutate(state, name):
    counts = state.counts
    lines, result = run("--mutation", name, "--seeds", "200")
    if result.get("failed") and "error" not in result:
        counts["caught"][name] = next((line for line in lines if line.startswith("seed ")), "")[:120]
    else:
        counts["missed"].append(name)
    print("%-30s %s" % (name, counts["caught"].get(name, "NOT CAUGHT")), flush=True)
    state.save()


def names():
    done = subprocess.run([PROGRAM, "--mutations"], stdout=subprocess.PIPE, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(prog="hack/soak sim", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=1000000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--slice", type=int, default=20, help="seeds between two savings")
    parser.add_argument("--minutes", type=float, default=0, help="end after so long; the next run goes on")
    parser.add_argument("--no-mutations", action="store_true")
    parser.add_argument("--fresh", action="store_true", help="neither read nor keep any counts")
    options = parser.parse_args()
    state = State(options.first, options.fresh)
    counts = state.counts
    until = time.monotonic() + options.minutes * 60 if options.minutes > 0 else float("inf")
    while (counts["seeds"] < options.seeds or counts["steps"] < options.steps) and time.monotonic() < until:
        left = options.seeds - counts["seeds"]
        sweep_slice(state, min(options.slice, left) if left > 0 else options.slice)
    todo = [] if options.no_mutations else names()
    for name in todo:
        if name not in counts["caught"] and name not in counts["missed"] and time.monotonic() < until:
            mutate(state, name)
    done = counts["seeds"] >= options.seeds and counts["steps"] >= options.steps
    caught = all(name in counts["caught"] for name in todo)
    result = {name: counts[name] for name in SUMS}
    result.update(first=counts["first"], next=counts["next"], mutations=len(todo), caught=len(counts["caught"]),
                  missed=counts["missed"], failures=counts["failures"][:10], complete=done,
                  holds=done and caught and not counts["failed"])
    print(json.dumps(result))
    return 0 if result["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
