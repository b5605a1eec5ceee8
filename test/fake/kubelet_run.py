"""Starts the processes of containers, and tells who asked when one ends.

All processes are started by one thread that lives as long as the kubelet: they are set to die with
it (PR_SET_PDEATHSIG counts the thread that forked), so a killed kubelet leaves nothing running.
"""

import os
import queue
import selectors
import shutil
import signal
import subprocess
import threading


class Process:
    """One running process and its group."""

    def __init__(self, popen, on_exit):
        self.pid = popen.pid
        self.popen = popen
        self.on_exit = on_exit
        self.lock = threading.Lock()
        self.done = False

    def signal(self, number):
        """Signals the whole group; a process that is reaped already is left alone."""
        with self.lock:
            if not self.done:
                try:
                    os.killpg(self.pid, number)
                except ProcessLookupError:
                    pass


class Runner:
    """The thread that starts and reaps."""

    def __init__(self):
        self._requests = queue.Queue()
        self._wake_read, self._wake_write = os.pipe()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wake_read, selectors.EVENT_READ, None)
        self._living = set()
        self._setpriv = shutil.which("setpriv")
        self._thread = threading.Thread(target=self._loop, name="runner", daemon=True)
        self._thread.start()

    def start(self, argv, env, folder, log, on_exit):
        """Starts a process; on_exit(code) is called once, from the runner's thread."""
        answer = queue.Queue(1)
        self._requests.put((argv, env, folder, log, on_exit, answer))
        os.write(self._wake_write, b"x")
        result = answer.get()
        if isinstance(result, BaseException):
            raise result
        return result

    def stop_all(self, timeout):
        """Kills whatever still runs."""
        for process in list(self._living):
            process.signal(signal.SIGTERM)
        waited = threading.Event()
        steps = int(timeout / 0.05)
        while self._living and steps > 0:
            waited.wait(0.05)
            steps -= 1
        for process in list(self._living):
            process.signal(signal.SIGKILL)

    def _loop(self):
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    os.read(self._wake_read, 4096)
                    self._serve()
                else:
                    self._reap(key.fileobj, key.data)

    def _serve(self):
        while True:
            try:
                argv, env, folder, log, on_exit, answer = self._requests.get_nowait()
            except queue.Empty:
                return
            try:
                answer.put(self._spawn(argv, env, folder, log, on_exit))
            except BaseException as error:  # pylint: disable=broad-except
                answer.put(error)

    def _spawn(self, argv, env, folder, log, on_exit):
        if shutil.which(argv[0], path=env.get("PATH")) is None:
            raise FileNotFoundError("exec: %s: not found" % argv[0])
        prefix = [self._setpriv, "--pdeathsig", "KILL", "--"] if self._setpriv else []
        with open(log, "ab") as output:
            popen = subprocess.Popen(prefix + argv, env=env, cwd=folder, stdin=subprocess.DEVNULL,
                                     stdout=output, stderr=output, start_new_session=True)
        process = Process(popen, on_exit)
        self._living.add(process)
        self._selector.register(os.pidfd_open(popen.pid), selectors.EVENT_READ, process)
        return process

    def _reap(self, pidfd, process):
        self._selector.unregister(pidfd)
        os.close(pidfd)
        # What a container leaves behind dies with it.
        process.signal(signal.SIGKILL)
        with process.lock:
            code = process.popen.wait()
            process.done = True
        self._living.discard(process)
        process.on_exit(code if code >= 0 else 128 - code)
