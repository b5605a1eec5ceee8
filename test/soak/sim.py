"""1,000,000 simulated steps over 2,000 seeds with all faults on, and every mutation caught.

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


def run(*arguments):
    """The last line of one run, read, and its exit status; everything else is passed on."""
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, check=False,
                          env=dict(os.environ, **SANITIZERS))
    lines = done.stdout.strip().split("\n")
    print("\n".join(lines[:-1]), flush=True)
    try:
        return json.loads(lines[-1]), done.returncode
    except ValueError:
        print(lines[-1], flush=True)
        return {}, done.returncode or 1


def main():
    parser = argparse.ArgumentParser(prog="hack/soak sim", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", default="2000")
    parser.add_argument("--steps", default="1000000")
    parser.add_argument("--first", default="1")
    options = parser.parse_args()
    result, status = run("--keep", os.environ["ALIQUOT_BUILD"], "--seeds", options.seeds, "--steps", options.steps, "--first", options.first)
    mutations, uncaught = run("--all-mutations", "--seeds", "200")
    result["mutations"], result["caught"] = mutations.get("mutations"), mutations.get("caught")
    result["holds"] = status == 0 and uncaught == 0
    print(json.dumps(result))
    return 0 if result["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
