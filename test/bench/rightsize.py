"""What rightsizing costs: a scrape of 20,000 pods of 5,000 workloads, and a recommendation for each.

The histories and decisions are the shipped ones, without what reads the samples before and writes the status after. The worst
scrape that closes a minute and one recommendation of all workloads are what a round may come to.

The bar: at most one second of CPU for a round, at most 4 KiB a workload.

smoke: --workloads 100 --pods 400 --minutes 5
"""

import argparse
import json
import os
import subprocess

TIMEOUT_S = 500
BAR_MS, BAR_BYTES = 1000, 4096


def main():
    parser = argparse.ArgumentParser(prog="hack/bench rightsize", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=int, default=5000, help="5000")
    parser.add_argument("--pods", type=int, default=20000, help="of all of them (20000)")
    parser.add_argument("--minutes", type=int, default=60, help="of samples, four each (60)")
    args = parser.parse_args()
    program = os.path.join(os.environ["ALIQUOT_BUILD"], "test", "bench", "aliquot-bench-rightsize")
    done = subprocess.run([program, str(args.workloads), str(args.pods), str(args.minutes)], check=True,
                          stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    result = json.loads(done.stdout.strip().splitlines()[-1])
    result["round_ms"] = round(result["minute_ms"] + result["recommend_ms"], 2)
    print("%(pods)d pods of %(workloads)d workloads: a scrape %(scrape_ms).1f ms, one that closes a minute %(minute_ms).1f ms, "
          "a recommendation of all %(recommend_ms).1f ms; %(workload_bytes)d bytes a workload" % result)
    result["holds"] = result["round_ms"] <= BAR_MS and result["workload_bytes"] <= BAR_BYTES
    print(json.dumps(result))
    return 0 if result["holds"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
