"""Runs stages beside each other, each in a process of its own.

A stage begins when those that it needs have ended well. Of a lane one runs at a time, in the order of the table; one of
ALONE begins when nothing else runs or could. What a stage says is printed whole when it ends, so that no two mix; the
last one may be followed as it goes.
"""
import os
import pickle
import signal
import sys
import tempfile
import time

import reports

ALONE = "alone"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_S = 0.05
# For a stage that was told to stop: its commands have graces of their own.
STOP_S = 90


class Child:
    """A stage under way."""

    def __init__(self, stage, work):
        """work(ready) runs in the new process and returns the tally; ready() lets signals in, once it can take them."""
        self.stage = stage
        self._log, self._result, self._shown = tempfile.TemporaryFile(), tempfile.TemporaryFile(), 0
        sys.stdout.flush()
        sys.stderr.flush()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        self.pid = os.fork()
        if self.pid == 0:
            self._work(work, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _work(self, work, before):
        status = 1
        try:
            os.dup2(self._log.fileno(), 1)
            os.dup2(self._log.fileno(), 2)
            tally = work(lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before))
            pickle.dump(tally, self._result)
            self._result.flush()
            status = 0
        except BaseException:  # pylint: disable=broad-exception-caught
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def show(self):
        """Prints what it has said since the last time."""
        sys.stdout.flush()
        for said in iter(lambda: os.pread(self._log.fileno(), 1 << 16, self._shown), b""):
            sys.stdout.buffer.write(said)
            self._shown += len(said)
        sys.stdout.buffer.flush()

    def ended(self):
        """Its tally once it has ended, or None."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        self._result.seek(0)
        try:
            tally = pickle.load(self._result)
            if status != 0:
                tally.fail("its process ended badly, wait status %d" % status)
            return tally
        except (EOFError, pickle.UnpicklingError):
            tally = reports.Tally()
            tally.fail("its process ended without a count, wait status %d" % status)
            return tally


class Lanes:
    """One run of some stages."""

    def __init__(self, stages, work):
        """work(stage, ready) as for Child."""
        self.pending, self.work = list(stages), work
        self.running, self.tallies, self.stopped_by = [], {}, None
        self._began, self._stop_at = time.monotonic(), None

    def run(self):
        """{stage: tally} of all that ran or could not; those that a signal kept from beginning are missing."""
        for number in SIGNALS:
            signal.signal(number, self._on_signal)
        while self.running or (self.pending and self.stopped_by is None):
            if self.stopped_by is None:
                self._begin()
            self._stop()
            for child in list(self.running):
                tally = child.ended()
                if tally is not None:
                    child.show()
                    self.running.remove(child)
                    self.tallies[child.stage] = tally
            if len(self.running) == 1 and not self.pending:
                self.running[0].show()
            time.sleep(LOOK_S)
        return self.tallies

    def _on_signal(self, number, _frame):
        self.stopped_by = self.stopped_by or number

    def _stop(self):
        """Hands a signal on, once; who has not gone a while after it is ended."""
        if self.stopped_by is None:
            return
        if self._stop_at is None:
            self._stop_at = time.monotonic() + STOP_S
            number = self.stopped_by
        elif time.monotonic() > self._stop_at:
            number = signal.SIGKILL
        else:
            return
        for child in self.running:
            os.kill(child.pid, number)

    def _begin(self):
        """Begins what can; what needs a stage that failed has failed too, which may decide on others."""
        by_name = {stage.name: tally for stage, tally in self.tallies.items()}
        chosen = {stage.name for stage in self.pending} | {child.stage.name for child in self.running} | set(by_name)
        for stage in sorted(self.pending, key=lambda stage: stage.lane == ALONE):
            failed = [name for name in stage.needs if name in by_name and by_name[name].failures]
            if failed:
                self._not_run(stage, failed)
                return self._begin()
            if all(name in by_name for name in stage.needs if name in chosen) and self._is_free(stage.lane):
                self.pending.remove(stage)
                self.running.append(Child(stage, lambda ready, stage=stage: self.work(stage, ready)))
                beside = " beside " + ", ".join(child.stage.name for child in self.running[:-1])
                print("    %4.0f s: %s begins%s" % (time.monotonic() - self._began, stage.name,
                                                 beside if len(self.running) > 1 else ""), flush=True)
        return None

    def _is_free(self, lane):
        lanes = [child.stage.lane for child in self.running]
        return not lanes if lane == ALONE else lane not in lanes and ALONE not in lanes

    def _not_run(self, stage, failed):
        tally = self.tallies[stage] = reports.Tally()
        tally.fail("not run: %s failed" % ", ".join(failed))
        print("\n=== %s: not run, because %s failed" % (stage.name, ", ".join(failed)), flush=True)
        self.pending.remove(stage)
