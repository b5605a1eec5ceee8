"""What asking agents costs: 1,000 and then 5,000 of them, each every two seconds, over TLS on the loopback.

The reader of states and its client are the shipped ones, in a process of their own; the agents are played by another, which
counts the handshakes, and tell of eight GPUs and twenty tenants each. Told of each size: questions a second, handshakes a
question once each was heard, processor time a question (the answer's decoding included) and of one core in all, by how much
the asking process has grown, and how much of that is each further connection's. What the kernel keeps of a socket is not in it.

The bars: no more than one handshake in 200 questions (connections are replaced within an hour, so that certificates are looked at), 1 KiB a
connection, 4 MiB for 1,000 of them with all that OpenSSL takes once (hack/bench cache leaves no more of its 64), 0.2 ms a question, everybody
heard within ten seconds at the end, and four of five questions of those that are due. By hand, --client curl tells what libcurl takes, with --kept connections.

smoke: --agents 200 --seconds 3
"""

import argparse
import json
import os
import subprocess

import _others

EVERY_S, LATE_S = 2, 300
HANDSHAKES_BAR, CONNECTION_BAR_KIB, GROWN_BAR_KIB, CPU_BAR_US, ASKED_BAR = 0.005, 1.0, 4096, 200, 0.8


def measure(agents, args):
    program = os.path.join(os.environ["ALIQUOT_BUILD"], "test", "bench", "aliquot-bench-agents")
    argv = [program, str(agents), str(args.seconds), args.client, *([str(args.kept)] if args.kept else [])]
    done, others = _others.undisturbed(lambda: subprocess.run(
        argv, check=False, stdout=subprocess.PIPE, text=True, timeout=LATE_S + args.seconds))
    result = dict(json.loads(done.stdout.strip().splitlines()[-1]), disturbed=others["disturbed"], others=others)
    if "error" in result:
        return result
    result["holds"] = (result["handshakes_a_question"] <= HANDSHAKES_BAR and
                       result["grown_kib"] <= GROWN_BAR_KIB * max(1, agents / 1000) and
                       result["cpu_us_a_question"] <= CPU_BAR_US and result["known"] == agents and
                       result["questions_per_s"] >= ASKED_BAR * agents / EVERY_S)
    if args.client == "poller" and result["handshakes_a_question"] > HANDSHAKES_BAR:
        # No matter of how fast the machine is.
        result["error"] = "%d handshakes in %d questions" % (result["handshakes"], result["questions"])
    print("%(agents)d agents: %(questions_per_s).0f questions a second, %(handshakes_a_question).4f handshakes each, "
          "%(cpu_us_a_question).0f us of a core each, %(cpu_percent).1f %% of it; grown by %(grown_kib)d KiB; "
          "all were heard after %(warm_s).1f s, %(warm_cpu_s).1f of them on a core; %(failed)d were not answered in time" % result, flush=True)
    return result


def a_connection(runs):
    """KiB that one more takes, as two sizes tell; None: there is one."""
    if len(runs) < 2:
        return None
    least, most = min(runs, key=lambda run: run["connections"]), max(runs, key=lambda run: run["connections"])
    return round((most["grown_kib"] - least["grown_kib"]) / max(1, most["connections"] - least["connections"]), 2)


def main():
    parser = argparse.ArgumentParser(prog="hack/bench agents", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, nargs="+", default=[1000, 5000], help="how many (1000 5000)")
    parser.add_argument("--seconds", type=int, default=20, help="that are measured of each (20)")
    parser.add_argument("--client", choices=("poller", "curl"), default="poller", help="who asks (poller)")
    parser.add_argument("--kept", type=int, help="connections that are kept at most (all)")
    args = parser.parse_args()
    runs = [measure(agents, args) for agents in args.agents]
    slope = a_connection([run for run in runs if "error" not in run])
    result = {"name": "agents", "runs": runs, "kib_a_connection": slope, "bar": {
        "handshakes_a_question": HANDSHAKES_BAR, "kib_a_connection": CONNECTION_BAR_KIB,
        "grown_kib_of_1000": GROWN_BAR_KIB, "cpu_us_a_question": CPU_BAR_US, "asked_of_due": ASKED_BAR}}
    wrong = [run["error"] for run in runs if "error" in run]
    if wrong:
        result["error"] = "; ".join(wrong)
    result["disturbed"] = any(run["disturbed"] for run in runs)
    result["holds"] = all(run.get("holds", False) for run in runs) and (slope is None or slope <= CONNECTION_BAR_KIB)
    print(json.dumps(result))
    return 0 if result["holds"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
