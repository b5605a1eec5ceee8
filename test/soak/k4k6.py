"""Cases 4 and 6 a hundred times each: bursts at once, with watches that are late.

    build: sanitized
"""
import argparse
import json
import os
import subprocess
import sys

PROGRAM = os.path.join(os.environ["ALIQUOT_BUILD"], "test", "sim", "aliquot-sim")
SANITIZERS = {"ASAN_OPTIONS": "halt_on_error=1:detect_leaks=1:exitcode=99",
              "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99"}


def play(name, times):
    """The last line of a scenario's runs, read; an exit status that is not 0 is a breach."""
    done = subprocess.run([PROGRAM, "--scenario", name, "--times", times], stdout=subprocess.PIPE, text=True,
                          check=False, env=dict(os.environ, **SANITIZERS))
    lines = done.stdout.strip().split("\n")
    print("\n".join(lines), flush=True)
    try:
        result = json.loads(lines[-1])
    except ValueError:
        result = {}
    return {"times": result.get("seeds", 0), "holds": done.returncode == 0 and result.get("holds") is True}


def main():
    parser = argparse.ArgumentParser(prog="hack/soak k4k6", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--times", default="100")
    options = parser.parse_args()
    result = {name: play(name, options.times) for name in ("k4", "k6")}
    result["holds"] = all(each["holds"] for each in result.values())
    print(json.dumps(result))
    return 0 if result["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
