"""The stages of hack/test: runs them within their budgets, counts every test, leaves nothing running.

Each runs in a process of its own, beside others where lanes.py finds that it may. A stage that takes twice its
budget is stopped and has failed; so has one that ran no test although tests are its purpose, and one that left a
process behind. Every number in the last line is a test that ran and said how it went, or a step (a build, say) that
failed.
"""
import argparse
import concurrent.futures
import contextlib
import ctypes
import functools
import glob
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lanes  # noqa: E402
import reports  # noqa: E402

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEV, SANITIZED = "build", "build-sanitized"
# meson puts ccache before the compiler where it is there: what one clone has compiled the next one need not, whatever
# their folders are called.
os.environ.setdefault("CCACHE_NOHASHDIR", "1")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# Looked up before there are threads: a child of a process with threads must not load a library before it executes.
LIBC = ctypes.CDLL(None)
FAILURES_TOLD = 30
STRAGGLER_GRACE_S, TERM_GRACE_S = 5, 15


class Stopped(Exception):
    """A signal asked us to stop, or the stage ran out of time."""


class Run:
    """One stage under way: starts its commands and ends them."""

    def __init__(self, stage, python):
        self.stage = stage
        self.python = python
        self.tally = reports.Tally()
        self.deadline = time.monotonic() + 2 * stage.budget_s
        self.running = set()
        self.stopping = False

    def command(self, *argv, env=None):
        """Exit status of a command, whose process group is stopped at the stage's deadline."""
        print("+ " + " ".join(os.path.relpath(a, TREE) if a.startswith(TREE) else a for a in argv), flush=True)
        process = subprocess.Popen(argv, cwd=TREE, stdin=subprocess.DEVNULL, start_new_session=True,
                                   env=dict(os.environ, **(env or {})), preexec_fn=self.enter)
        self.running.add(process)
        # Who stops the stage may have looked at `running` before this process was in it.
        if self.stopping:
            stop_group(process)
        try:
            return process.wait(timeout=max(0.1, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Stopped("stopped after %d s, twice the stage's budget" % (2 * self.stage.budget_s)) from None
        finally:
            if process.poll() is None:
                stop_group(process)
            self.running.discard(process)

    def enter(self):
        """In the child, which has a session of its own by now."""
        die_with_parent()
        if self.stage.lane == CORES:
            give_way()

    def together(self, *actions):
        """Results of actions that run side by side, each in a thread that stays until its commands have ended: a
        child dies with the thread that made it. A signal is for this thread, and ends them all."""
        with concurrent.futures.ThreadPoolExecutor(len(actions)) as pool:
            try:
                return [future.result() for future in [pool.submit(action) for action in actions]]
            except Stopped:
                self.stopping = True
                for process in list(self.running):
                    stop_group(process)
                raise

    def step(self, *argv, env=None):
        """A command that is no test: it counts only where it fails. True if it did not."""
        status = self.command(*argv, env=env)
        if status != 0:
            self.tally.fail("%s: exit status %d" % (" ".join(argv[:3]), status))
        return status == 0

    def check(self, name, *argv):
        """A command that is a test by itself."""
        status = self.command(*argv)
        if status == 0:
            self.tally.passed += 1
        else:
            self.tally.fail("%s: exit status %d" % (name, status))

    def meson_tests(self, build, *selection):
        self.tally.add(self.meson_tally(build, *selection))

    def meson_tally(self, build, *selection):
        """The tests of a build folder; unit tests are counted one by one from Criterion's reports."""
        unit = "--no-suite" not in selection
        folder, wrapper = os.path.join(TREE, build, "criterion"), [os.path.join(TREE, "hack/lib/gentle")]
        if unit:
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            wrapper = [os.path.join(TREE, "hack/lib/criterion-xml"), folder]
        # meson names the log after the wrapper.
        log = os.path.join(TREE, build, "meson-logs", "testlog-%s.json" % ("criterion-xml" if unit else "gentle"))
        if os.path.exists(log):
            os.remove(log)
        status = self.command("meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs",
                              "--timeout-multiplier", PATIENCE, "--wrapper", shlex.join(wrapper), *selection)
        counted = reports.meson(log, folder if unit else None)
        if status != 0 and not counted.failures:
            counted.fail("meson test -C %s: exit status %d" % (build, status))
        return counted

    def pytest(self, folder, env=None):
        """A folder of Python tests, counted from pytest's report."""
        self.pytests(folder, 1, env)

    def pytest_dealt(self, folder, count, env):
        """The same by so many pytests side by side, to which the tests are dealt: test/lib/dealing.py."""
        table = os.path.join(TREE, DEV, "pytest-%s.table" % os.path.basename(folder))
        shutil.rmtree(table, ignore_errors=True)
        os.makedirs(table)
        for report in glob.glob(os.path.join(TREE, DEV, "pytest-%s*.xml" % os.path.basename(folder))):
            os.remove(report)
        self.pytests(folder, count, dict(env, ALIQUOT_TABLE=table))
        for test in reports.undealt(table):
            self.tally.fail("%s: was not run to its end" % test)

    def pytests(self, folder, count, env=None):
        if not os.path.isdir(os.path.join(TREE, folder)):
            self.tally.fail("there is no %s" % folder)
            return
        os.makedirs(os.path.join(TREE, DEV), exist_ok=True)
        jobs = []
        for i in range(count):
            name = os.path.basename(folder) + ("-%d" % i if count > 1 else "")
            report = os.path.join(TREE, DEV, "pytest-%s.xml" % name)
            if os.path.exists(report):
                os.remove(report)
            jobs.append((report, [self.python, "-m", "pytest", "-q", "--junitxml=" + report, folder]))
        statuses = self.together(*(functools.partial(self.command, *argv, env=env) for _, argv in jobs))
        for (report, _), status in zip(jobs, statuses):
            counted = reports.junit(report)
            self.tally.add(counted)
            if status != 0 and not counted.failures:
                self.tally.fail("pytest %s: exit status %d" % (folder, status))


# --- the stages ----------------------------------------------------------------------------------

def stage_tidy(run):
    run.check("hack/tidy", "hack/tidy")
    run.pytest("test/tidy")


OPTIONS = {DEV: (), SANITIZED: ("-Dsanitize=true",)}


def build(run, folder, *targets):
    if not os.path.exists(os.path.join(TREE, folder, "build.ninja")):
        if not run.step("meson", "setup", *OPTIONS[folder], folder):
            return
    run.step("ninja", "-C", folder, *targets)


def stage_binary(run):
    build(run, SANITIZED, "src/app/aliquot")


def stage_build(run):
    build(run, DEV)


def meson_all(run, folder):
    """Unit tests wait now and then and are short; what is no unit test computes and is long. The programs of the former
    run as many tests at a time as there are cores, each."""
    for tally in run.together(lambda: run.meson_tally(folder, "--suite", "unit", "--num-processes", "1"),
                              lambda: run.meson_tally(folder, "--no-suite", "unit")):
        run.tally.add(tally)


def stage_unit(run):
    meson_all(run, DEV)


def stage_build_sanitized(run):
    build(run, SANITIZED)


def stage_sanitized(run):
    meson_all(run, SANITIZED)


def stage_controlplane(run):
    run.step("hack/controlplane", "build")
    run.step("python3", "test/lib/debs.py")


def of_build(folder):
    """Where the Python tests find what was built, and how a sanitizer's finding fails them."""
    return {
        "ALIQUOT_BUILD": os.path.join(TREE, folder),
        "ALIQUOT_BINARY": os.path.join(TREE, folder, "src", "app", "aliquot"),
        "ASAN_OPTIONS": "halt_on_error=1:detect_leaks=1:exitcode=99",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99",
    }


def stage_api(run):
    run.pytest("test/api", of_build(DEV))


def stage_stage(run):
    run.pytest("test/stage", of_build(DEV))


# Each has a control plane of its own, which takes less than 1 GiB. What they do is mostly waiting for leases and deadlines, so
# they are more than there are cores; fourteen of them, beside compilers, were seen to keep two cores from ever being in time.
E2E_WORKERS, E2E_WORKER_MIB = 8, 1200


def e2e_workers():
    """As many as the memory holds, up to E2E_WORKERS."""
    with open("/proc/meminfo", encoding="ascii") as file:
        rows = dict(line.split(":", 1) for line in file)
    return max(1, min(E2E_WORKERS, int(rows["MemAvailable"].split()[0]) // 1024 // E2E_WORKER_MIB))


def stage_e2e(run):
    # Half of the computing is the API servers'; memory for it is there. A program that looks for work on one core only looks
    # less: there are more programs than cores, and it costs an eighth of what they compute.
    run.pytest_dealt("test/e2e", e2e_workers(), dict(of_build(SANITIZED), GOGC="300", GOMAXPROCS="1"))


def stage_demo(run):
    run.pytest("test/demo", of_build(DEV))


def stage_bench(run):
    for name in reports.smoke_benches(os.path.join(TREE, "test", "bench")):
        run.check("hack/bench --smoke " + name, "hack/bench", "--smoke", name)


def stage_soak(run):
    """The one soak of which a minute says something: nobody needs to be lucky for it."""
    run.check("hack/soak hostile --smoke", "hack/soak", "hostile", "--smoke")


# Stages of one lane run one after the other, in the order of the table. End to end waits for a third of its time, and what
# else has a control plane for more: they run beside each other. What computes gives way to both and takes what they leave,
# which may be long: its budgets are for that.
SUITE, PLANE, CORES = "suite", "plane", "cores"
# Of a test that gives way.
PATIENCE = "6"


class Stage:
    def __init__(self, name, budget_s, what, action, needs=(), tests=True, lane=CORES):
        self.name, self.budget_s, self.what, self.action = name, budget_s, what, action
        self.needs, self.tests, self.lane = needs, tests, lane


STAGES = [
    Stage("binary", 400, "what end to end runs, sanitized", stage_binary, tests=False, lane=SUITE),
    Stage("controlplane", 1800, "etcd, kube-apiserver and the rest: found, cached or built", stage_controlplane, tests=False,
          lane=PLANE),
    Stage("e2e", 1200, "the whole of it on a real control plane, sanitized", stage_e2e, ["binary", "controlplane"], lane=SUITE),
    Stage("build", 900, "the development build, warnings are errors", stage_build, tests=False),
    Stage("build-sanitized", 1200, "the same under ASan and UBSan", stage_build_sanitized, ["binary"], tests=False),
    # These two compute, but answers are due in time. They go while others are built; tidy first, for the control planes of end to
    # end start meanwhile.
    Stage("tidy", 300, "layers, sizes, looks, and that tidy notices", stage_tidy, lane=PLANE),
    Stage("api", 300, "CRDs, policies and RBAC against a real API server", stage_api, ["controlplane"], lane=PLANE),
    Stage("stage", 300, "the control plane, the fake fleet and the fake NVML themselves", stage_stage,
          ["build", "controlplane"], lane=PLANE),
    Stage("demo", 180, "hack/demo as a newcomer meets it: its table, its exit, nothing left", stage_demo,
          ["build", "controlplane"], lane=PLANE),
    Stage("bench", 300, "that the benches still run, small", stage_bench, ["build", "controlplane"], tests=False, lane=PLANE),
    Stage("soak", 240, "a minute of people who mean ill, while others are served", stage_soak,
          ["build", "build-sanitized", "controlplane"], tests=False, lane=SUITE),
    Stage("unit", 900, "unit tests, each linked with its room's row, and the simulation's sweeps", stage_unit, ["build"]),
    Stage("sanitized", 1200, "unit tests, corpora and a few simulated seeds under ASan and UBSan", stage_sanitized,
          ["build-sanitized"]),
]


# --- running them --------------------------------------------------------------------------------

def die_with_parent():
    """In the child: even where we are killed outright, it does not outlive us."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def give_way():
    """All else on the machine comes first; where that cannot be had, most does. The kernel may weigh sessions against each
    other, so each has to say it; hack/lib/gentle does for those that meson begins."""
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    except OSError:
        os.nice(19)
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w", encoding="ascii") as file:
        file.write("19")


def stop_group(process):
    for sig, wait_s in ((signal.SIGTERM, TERM_GRACE_S), (signal.SIGKILL, TERM_GRACE_S)):
        try:
            os.killpg(process.pid, sig)
        except ProcessLookupError:
            pass
        try:
            process.wait(timeout=wait_s)
            return
        except subprocess.TimeoutExpired:
            continue


def children():
    """Live children of ours. As a subreaper we inherit whatever our descendants abandon."""
    found = {}
    for entry in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % entry, encoding="utf-8", errors="replace") as f:
                text = f.read()
        except (OSError, NotADirectoryError):
            continue
        name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        if entry.isdigit() and int(rest[1]) == os.getpid() and rest[0] != "Z":
            found[int(entry)] = name
    return found


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def clear_stragglers():
    """Stops what a stage left running, after a moment for what is about to end. Says what it was."""
    left = {}
    for sig, wait_s in ((None, STRAGGLER_GRACE_S), (signal.SIGTERM, TERM_GRACE_S), (signal.SIGKILL, 5)):
        end = time.monotonic() + wait_s
        for pid in children() if sig else ():
            left[pid] = children().get(pid, "?")
            os.kill(pid, sig)
        while children() and time.monotonic() < end:
            time.sleep(0.05)
            reap()
        reap()
        if not children():
            break
    return sorted(set(left.values()))


def with_needs(names):
    chosen = set(names)
    for stage in reversed(STAGES):
        if stage.name in chosen:
            chosen.update(stage.needs)
    return [s for s in STAGES if s.name in chosen]


def run_stage(stage, python):
    print("\n=== %s: %s (budget %d s)" % (stage.name, stage.what, stage.budget_s), flush=True)
    run, began, stopped = Run(stage, python), time.monotonic(), None
    try:
        stage.action(run)
    except Stopped as e:
        run.tally.fail(str(e))
        stopped = e
    took = time.monotonic() - began
    left = clear_stragglers()
    tally = run.tally
    if left and stopped is None:
        tally.fail("left running: " + ", ".join(left))
    if stage.tests and tally.passed + len(tally.failures) == 0:
        tally.fail("no test ran")
    for name in tally.failures:
        print("failed: %s: %s" % (stage.name, name))
    for name, why in tally.skips:
        print("skipped: %s: %s: %s" % (stage.name, name, why or "no reason given"))
    late = ", over its budget" if took > stage.budget_s else ""
    print("--- %s: %s in %.1f s%s" % (stage.name, tally.line() if stage.tests or tally.failures
                                      else tally.line() if tally.passed else "done", took, late), flush=True)
    tally.took = took
    return tally


def work(stage, python, ready):
    """A stage in its process, which inherits what its commands abandon."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    die_with_parent()
    try:
        stop_on_signals()
        ready()
        return run_stage(stage, python)
    except Stopped as e:
        # Before it began, or while it was counted.
        tally = reports.Tally()
        tally.fail(str(e))
        return tally


def find_python():
    """The Python with the packages that the tests need."""
    result = subprocess.run(["hack/lib/venv"], cwd=TREE, stdout=subprocess.PIPE, text=True, check=False,
                            stdin=subprocess.DEVNULL)
    return result.stdout.strip() if result.returncode == 0 else None


def stop_on_signals():
    def stop(number, _frame):
        for again in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(again, signal.SIG_IGN)
        raise Stopped("signal %s" % signal.Signals(number).name)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def run_all(stages, python, total):
    run = lanes.Lanes(stages, lambda stage, ready: work(stage, python, ready))
    run.run()
    clear_stragglers()
    tallies = [(stage, run.tallies[stage]) for stage in stages if stage in run.tallies]
    for _, tally in tallies:
        total.add(tally)
    if run.stopped_by is not None and not total.failures:
        total.fail("signal %s" % signal.Signals(run.stopped_by).name)
    print("\n%-16s %8s %8s  %s" % ("stage", "seconds", "budget", "result"))
    for stage, tally in tallies:
        print("%-16s %8.1f %8d  %s" % (stage.name, tally.took, stage.budget_s, tally.line()))
    # Once more at the end: who keeps only the last page of a long log still learns what failed.
    failures = [(stage.name, name) for stage, tally in tallies for name in tally.failures]
    for stage_name, name in failures[:FAILURES_TOLD]:
        print("failed: %s: %s" % (stage_name, name))
    if len(failures) > FAILURES_TOLD:
        print("failed: and %d more" % (len(failures) - FAILURES_TOLD))


def main():
    parser = argparse.ArgumentParser(prog="hack/test", description="Runs the tests in stages and counts them.")
    parser.add_argument("stages", nargs="*", metavar="STAGE", help="some of --list; all without any")
    parser.add_argument("--list", action="store_true", help="list the stages and exit")
    options = parser.parse_args()
    if options.list:
        for stage in STAGES:
            print("%-16s %5d s  %s" % (stage.name, stage.budget_s, stage.what))
        return 0
    unknown = set(options.stages) - {s.name for s in STAGES}
    if unknown:
        parser.error("no such stage: %s (see --list)" % ", ".join(sorted(unknown)))
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    stop_on_signals()
    total = reports.Tally()
    try:
        python = find_python()
        if python is None:
            total.fail("no Python environment for the tests")
        else:
            run_all(with_needs(options.stages or [s.name for s in STAGES]), python, total)
    except Stopped as e:
        total.fail(str(e))
        clear_stragglers()
    print(total.line(), flush=True)
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
