"""What others did while something was timed. Where other programs took the cores, or the host of a virtual machine, a
figure says nothing of what was measured: such a run is marked as disturbed and made again, a few times.

Counted is the processor time of the whole machine less that of this process and all that it has started, and what the
host took away (steal). What the kernel does for nobody in particular is in it, so a little is no disturbance.
"""

import os
import time

# A smoke run measures nothing, so hack/bench lets it off with one.
TRIES = int(os.environ.get("ALIQUOT_BENCH_TRIES", "3"))
# Of the processors' whole time, hundredths.
BAR_PERCENT = 5.0
# Clocks of /proc count hundredths of a second: in a run that is much shorter than this there is nothing to see.
GRAIN_S = 0.05
TICKS = os.sysconf("SC_CLK_TCK")


def of_machine(text):
    """Seconds of all processors since boot, from /proc/stat."""
    user, nice, system, idle, iowait, irq, softirq, steal = (
        int(field) / TICKS for field in text.split("\n", 1)[0].split()[1:9])
    return {"busy": user + nice + system + irq + softirq, "idle": idle + iowait, "stolen": steal}


def of_processes(stats, roots):
    """Seconds that these processes and all that descend from them have used, from {pid: text of /proc/PID/stat}. Those
    that ended are in what their parents have waited for."""
    parents, spent = {}, {}
    for pid, text in stats.items():
        fields = text.rpartition(")")[2].split()
        parents[pid] = int(fields[1])
        spent[pid] = sum(int(field) for field in fields[11:15]) / TICKS
    total = 0.0
    for pid in spent:
        seen, at = set(), pid
        while at not in roots and at in parents and at not in seen:
            seen.add(at)
            at = parents[at]
        total += spent[pid] if at in roots else 0.0
    return total


def _stats():
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, encoding="ascii", errors="replace") as file:
                    found[int(name)] = file.read()
            except OSError:
                pass  # It has just ended.
    return found


def look(roots=()):
    """The clocks now: of the machine, and of ours. ROOTS: processes that are ours and were started by somebody else."""
    with open("/proc/stat", encoding="ascii") as file:
        found = of_machine(file.read())
    found["own"] = of_processes(_stats(), {os.getpid(), *roots})
    found["at"] = time.monotonic()
    return found


def between(before, after):
    """What happened between two looks, in seconds of all processors."""
    spent = {key: after[key] - before[key] for key in before}
    whole = spent["busy"] + spent["idle"] + spent["stolen"]
    elsewhere = max(0.0, spent["busy"] - spent["own"])
    others = elsewhere + spent["stolen"]
    percent = round(100 * others / whole, 1) if whole > 0 else 0.0
    return {"took_s": round(spent["at"], 2), "own_s": round(spent["own"], 2), "idle_s": round(spent["idle"], 2),
            "elsewhere_s": round(elsewhere, 2), "stolen_s": round(spent["stolen"], 2), "others_percent": percent,
            "disturbed": others > GRAIN_S and percent > BAR_PERCENT}


def undisturbed(measure, roots=(), tries=3, told=print, clocks=look, prepare=lambda: None):
    """(what `measure` answered, what others did meanwhile), of the first run in which nobody took the cores, or else of the
    one in which they were taken least: then the second says "disturbed". Which one it is never depends on what came out.
    Before each comes `prepare`, which is not timed."""
    best = None
    tries = min(tries, TRIES)
    for turn in range(1, tries + 1):
        prepare()
        before = clocks(roots)
        result = measure()
        others = dict(between(before, clocks(roots)), tries=turn)
        if best is None or others["others_percent"] < best[1]["others_percent"]:
            best = result, others
        if not others["disturbed"]:
            return result, others
        told("others had %.1f %% of the processors meanwhile (%.1f s of programs, %.1f s of the host)%s" % (
            others["others_percent"], others["elsewhere_s"], others["stolen_s"],
            "; once more" if turn < tries else ""))
    return best[0], dict(best[1], tries=tries)


def summary(all_others):
    """For the JSON of a bench: whether any run that counts was disturbed, and all of them."""
    return {"disturbed": any(others["disturbed"] for others in all_others), "others": list(all_others)}
