"""Cases 4 and 6 a hundred times each: bursts at once, with watches that are late.

    build: sanitized

In the simulation, ten seeds at a time; the count is kept after each ten, for one state of the sources.
"""
import argparse
import json
import os
import subprocess
import sys

from soaking import State

BAR, AT_ONCE = 100, 10
PROGRAM = os.path.join(os.environ["ALIQUOT_BUILD"], "test", "sim", "aliquot-sim")
SANITIZERS = {"ASAN_OPTIONS": "halt_on_error=1:detect_leaks=1:exitcode=99",
              "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99"}


def play(name, first, times):
    """Seeds of a scenario; False where one broke a promise or the run itself did."""
    done = subprocess.run([PROGRAM, "--scenario", name, "--first", str(first), "--times", str(times)],
                          stdout=subprocess.PIPE, text=True, check=False, env=dict(os.environ, **SANITIZERS))
    lines = done.stdout.strip().split("\n")
    print("\n".join(lines), flush=True)
    try:
        result = json.loads(lines[-1])
    except ValueError:
        return False
    return done.returncode == 0 and result.get("holds") is True and result.get("seeds") == times


def go_on(state, name, times):
    """Up to TIMES seeds more of one scenario, as far as the bar; a seed that failed is not counted."""
    counts = state.counts
    until = min(BAR, counts[name] + times)
    while counts[name] < until:
        step = min(AT_ONCE, until - counts[name])
        if not play(name, counts[name] + 1, step):
            counts["violations"] += 1
            state.save()
            return
        counts[name] += step
        state.save()


def main():
    parser = argparse.ArgumentParser(prog="hack/soak k4k6", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--times", type=int, default=BAR, help="how many of each now; without it, up to %d" % BAR)
    parser.add_argument("--fresh", action="store_true", help="count for this run only")
    options = parser.parse_args()
    state = State("k4k6", {"k4": 0, "k6": 0, "violations": 0}, options.fresh)
    for name in ("k4", "k6"):
        go_on(state, name, options.times)
    result = dict(state.counts, bar="%d of each" % BAR)
    result["holds"] = result["k4"] >= BAR and result["k6"] >= BAR and result["violations"] == 0
    print(json.dumps(result))
    return 0 if result["violations"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
