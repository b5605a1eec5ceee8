"""What rightsizing costs: 5,000 workloads with 20,000 pods, from what exporters answer to what is written of each.

The reader, the table of what is known, the sizer and its pace of writes are the shipped ones; the cluster is in
memory, and so are the exporters and the API server, whose own work is not counted, nor is what JSON the watch of
GPURecommendations brings. Told are the worst reading of all exporters, the worst time that handing it on took, and the
worst of what the sizer did in 30 seconds, a round and its writes; and how long it took until each workload had its
first status.

One of ten workloads had pods replaced and is healed, which the sizer remembers; then, for a few minutes and apart, every one.

The bar: at most one second of CPU for the three together, at most 4 KiB a workload, its pods included, whatever is remembered of it.

smoke: --workloads 100 --pods 400 --minutes 3
"""

import argparse
import json
import os
import subprocess

import _others

TIMEOUT_S = 500
ALL_MINUTES = 6
BAR_MS, BAR_BYTES = 1000, 4096


def main():
    parser = argparse.ArgumentParser(prog="hack/bench rightsize", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=int, default=5000, help="5000")
    parser.add_argument("--pods", type=int, default=20000, help="of all of them (20000)")
    parser.add_argument("--minutes", type=int, default=20, help="that pass, with four readings each (20)")
    parser.add_argument("--remembered", type=int, default=10, help="percent of workloads with a past (10)")
    args = parser.parse_args()
    result = measure(args, args.minutes, args.remembered)
    everyone = measure(args, min(args.minutes, ALL_MINUTES), 100)
    result["disturbed"] = result["disturbed"] or everyone["disturbed"]
    result["remembered_bytes"] = everyone["workload_bytes"]
    result["round_ms"] = round(result["read_ms"] + result["take_ms"] + result["look_ms"], 2)
    print("%(pods)d pods of %(workloads)d workloads: reading %(read_ms).1f ms, handing on %(take_ms).1f ms, a round "
          "%(look_ms).1f ms; %(workload_bytes)d bytes a workload, %(remembered_bytes)d where all have a past; all had a "
          "status after %(all_there_s)d s" % result)
    result["holds"] = (result["round_ms"] <= BAR_MS and
                       max(result["workload_bytes"], result["remembered_bytes"]) <= BAR_BYTES)
    print(json.dumps(result))
    return 0 if result["holds"] else 1


def measure(args, minutes, remembered):
    program = os.path.join(os.environ["ALIQUOT_BUILD"], "test", "bench", "aliquot-bench-rightsize")
    argv = [program, *(str(n) for n in (args.workloads, args.pods, minutes, remembered))]
    done, others = _others.undisturbed(lambda: subprocess.run(
        argv, check=True, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S))
    return dict(json.loads(done.stdout.strip().splitlines()[-1]), disturbed=others["disturbed"], others=others)


if __name__ == "__main__":
    raise SystemExit(main())
