#!/usr/bin/env python3
"""The controller killed before and after each write of a surge: hack/test takes some of them, this takes all.

build: sanitized
smoke: --kills 1 --fresh

Each kill is one test of test/e2e/test_surge.py: whoever leads next has the new pod adopted or deleted within 60 s,
takes back what it wrote on the old one, and begins no second surge. The bar is every kill; a quarter of an hour.
"""

import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(TREE, "test", part) for part in ("lib", "fake", "e2e")]

from soaking import State  # noqa: E402
from surge_kills import EVERY, EVERY_GIVEN_UP  # noqa: E402

TESTS = [("test_u16_a_kill_between_any_two_writes_leaves_nothing", EVERY),
         ("test_u16_a_kill_while_it_is_given_up_leaves_nothing", EVERY_GIVEN_UP)]


def passes(name):
    return subprocess.run([sys.executable, "-m", "pytest", "-q", os.path.join("test", "e2e", "test_surge.py") + "::" + name],
                          cwd=TREE, env=dict(os.environ, ALIQUOT_EVERY_KILL="1"), check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(prog="hack/soak surges", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, help="how many of them now; without it, all that are left")
    parser.add_argument("--fresh", action="store_true", help="count for this run only")
    options = parser.parse_args()
    state = State("surges", {"kills": [], "broken": []}, options.fresh)
    counts = state.counts
    every = ["%s[%s]" % (name, kill) for name, kills in TESTS for kill in kills]
    for name in [n for n in every if n not in counts["kills"]][:options.kills]:
        good = passes(name)
        counts["kills"].append(name)
        if not good:
            counts["broken"].append(name)
        state.save()
    counts.update(bar="%d kills made good" % len(every), kills=len(counts["kills"]),
                  holds=len(counts["kills"]) == len(every) and not counts["broken"])
    print(json.dumps(counts))
    return 0 if counts["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
