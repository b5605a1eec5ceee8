"""`aliquot capacity hold --mps` with the built binary and a stand-in for NVIDIA's control program:
the daemon's whole life, without a control plane (scenarios 19 to 21 and 29 of the isolation report)."""

import json
import os
import shutil
import stat
import tempfile
import time

import pytest

import mps
import nvml
import processes
import stack
from waiting import wait_until

UUID = nvml.uuid("mps", 0)
HEALTH = "command get_default_active_thread_percentage"


class Hold:
    """One capacity pod's main container. Its folder is traversable by others, as /run is."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="aliquot-mps-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.fake = mps.FakeMps(self.folder)
        self.root = os.path.join(self.folder, "root")
        self.base = os.path.join(self.root, UUID)
        self.pipe = os.path.join(self.base, "pipe")
        self.log_path = os.path.join(self.folder, "log")
        self.last_word = os.path.join(self.folder, "last-word")
        self.identity = os.path.join(self.folder, "identity")
        self.records = []
        self.topology = topology = os.path.join(self.folder, "topology")
        nvml.write_topology(topology, [nvml.device(UUID, 0)])
        self.env = {**os.environ, **self.fake.env, "FAKE_NVML_TOPOLOGY": topology,
                    "CUDA_MPS_PIPE_DIRECTORY": "/nowhere", "CUDA_VISIBLE_DEVICES": "0"}
        self.env.pop("NVIDIA_VISIBLE_DEVICES", None)
        self.run("identify")

    def argv(self, verb, *more):
        return [stack.binary(), "capacity", verb, "--identity-file=" + self.identity,
                "--termination-log=" + self.last_word, "--nvml-library=" + nvml.library(),
                "--mps-root=" + self.root, "--mps-control=" + mps.control(), *more]

    def start(self, verb="hold", *more):
        record = processes.start(self.argv(verb, *more), self.log_path, self.env)
        self.records.append(record)
        return record

    def run(self, verb, *more):
        """Its exit status."""
        record = self.start(verb, *more)
        assert processes.await_exit([record], 60), self.log()
        return record["status"]

    def up(self, *more):
        record = self.start("hold", "--mps", *more)
        wait_until(lambda: self.ready() or not processes.alive(record), 60, self.log)
        assert processes.alive(record), self.log()
        return record

    def ready(self):
        return os.path.exists(os.path.join(self.base, "ready"))

    def log(self):
        return processes.log_tail(self.log_path, 8000)

    def said(self, message):
        """The last line may be on its way into the file."""
        whole = processes.log_tail(self.log_path, 1 << 20).rpartition("\n")[0]
        return [entry for entry in map(json.loads, whole.splitlines()[1:])
                if entry.get("msg", entry.get("message")) == message]

    def daemon(self):
        """The record of the daemon that its PID file names."""
        try:
            with open(os.path.join(self.pipe, "nvidia-cuda-mps-control.pid"),
                      encoding="ascii") as file:
                pid = int(file.read() or 0)
        except FileNotFoundError:
            return None
        return {"pid": pid, "start": processes.start_time(pid)}

    def starts(self):
        return self.fake.journal("start")

    def write_control_log(self, text):
        with open(os.path.join(self.base, "log", "control.log"), "a", encoding="ascii") as file:
            file.write(text)

    def finish(self):
        self.fake.scenario()
        processes.stop(self.records, 12)
        processes.stop([self.daemon()], 1)
        shutil.rmtree(self.folder)


@pytest.fixture
def hold():
    one = Hold()
    yield one
    one.finish()


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_g19_starts_in_order_and_is_ready_only_after_a_health_command(hold):
    hold.up()
    lines = hold.fake.journal()
    assert lines[:4] == ["compute-mode %s 3" % UUID,
                         "start -d -M pipe=755 log=755 stale=0 ready=0",
                         "command set_default_active_thread_percentage 100 ready=0",
                         HEALTH + " ready=0"], lines
    for path in (hold.root, hold.base, hold.pipe, os.path.join(hold.base, "log")):
        assert mode(path) == 0o755, path
    if os.geteuid() == 0:
        other = os.fork()
        if other == 0:  # A client of any uid reaches the pipe.
            os.setgid(1000)
            os.setuid(1000)
            os._exit(not os.path.exists(os.path.join(hold.pipe, "control")))
        assert os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) == 0
    assert hold.run("ready") == 0
    with open("/proc/%d/environ" % hold.daemon()["pid"], encoding="utf-8") as file:
        told = [pair for pair in file.read().split("\0") if pair.startswith("CUDA_")]
    assert sorted(told) == ["CUDA_MPS_LOG_DIRECTORY=%s/log" % hold.base,
                            "CUDA_MPS_PIPE_DIRECTORY=" + hold.pipe], told


def test_g19_directories_that_the_kubelet_made_first_are_opened_up(hold):
    os.makedirs(hold.pipe, 0o700)
    os.chmod(hold.root, 0o700)
    os.chmod(hold.base, 0o750)
    before = os.stat(hold.pipe).st_ino
    hold.up()
    assert [mode(path) for path in (hold.root, hold.base, hold.pipe)] == [0o755] * 3
    assert os.stat(hold.pipe).st_ino == before, "tenants have it mounted"


def test_g19_the_other_word_for_multi_user(hold):
    hold.fake.scenario("refuse -M yes")
    hold.up()
    assert hold.fake.journal("refused", "start")[0] == "refused -M"
    assert hold.starts()[0].startswith("start -d -multiuser-server "), hold.starts()


def test_g19_never_without_multi_user(hold):
    hold.fake.scenario("refuse -M yes", "refuse -multiuser-server yes")
    hold.start("hold", "--mps")
    wait_until(lambda: len(hold.fake.journal("refused")) >= 4, 60, "two attempts")
    assert not hold.starts() and not hold.ready()


def test_g20_a_daemon_that_dies_is_started_again_within_seconds(hold):
    hold.up()
    first = hold.daemon()
    # None can be started while somebody looks.
    hold.fake.scenario("refuse -M yes", "refuse -multiuser-server yes")
    os.kill(first["pid"], 9)
    wait_until(lambda: not hold.ready(), 60, "not to be ready any more")
    assert hold.run("ready") == 1
    wait_until(lambda: hold.said("lost the MPS daemon"), 60, hold.log)
    assert hold.said("lost the MPS daemon")[0]["retry_ms"] <= 1000
    hold.fake.scenario()
    wait_until(hold.ready, 60, hold.log)
    assert hold.daemon()["pid"] != first["pid"]
    assert hold.starts()[1] == "start -d -M pipe=755 log=755 stale=0 ready=0", "its files are gone"
    assert hold.said("lost the MPS daemon")[0]["error"] == "the MPS daemon has ended"


def test_g20_what_a_crash_left_is_cleaned(hold):
    os.makedirs(hold.pipe)
    for name in ("control", "control_lock", "control_privileged"):
        with open(os.path.join(hold.pipe, name), "w", encoding="ascii"):
            pass
    with open(os.path.join(hold.pipe, "nvidia-cuda-mps-control.pid"), "w", encoding="ascii") as f:
        f.write("%d\n" % os.getpid())  # a PID that somebody else has now
    os.symlink("/etc/passwd", os.path.join(hold.pipe, "log"))
    os.mkdir(os.path.join(hold.pipe, "nvidia"))
    hold.up()
    assert hold.starts() == ["start -d -M pipe=755 log=755 stale=0 ready=0"]
    assert sorted(os.listdir(hold.pipe)) == ["control", "control_lock",
                                             "nvidia-cuda-mps-control.pid"]
    assert os.path.exists("/etc/passwd")


def test_g20_one_that_dies_again_and_again_is_waited_for_longer_and_longer(hold):
    hold.fake.scenario("life-ms -d 1")
    hold.start("hold", "--mps")
    wait_until(lambda: len(hold.said("lost the MPS daemon")) >= 3, 60, hold.log)
    waits = [entry["retry_ms"] for entry in hold.said("lost the MPS daemon")]
    assert 500 <= waits[0] <= 1000 <= waits[1] <= 2000 <= waits[2] <= 4000, waits
    assert not hold.ready()


def test_g20_servers_that_exit_again_and_again_are_an_event(hold):
    hold.up()
    first = hold.daemon()
    hold.write_control_log("[2026-11-22] Server 40 exited with status 0\n" * 5)
    hold.write_control_log("[2026-11-22 17:00:00.000 Control 7] Server 41 exited with status 1\n"
                           "[2026-11-22 17:00:01.000 Control 7] Server 42 exited with status 1\n")
    asked = len(hold.fake.journal(HEALTH))
    wait_until(lambda: len(hold.fake.journal(HEALTH)) >= asked + 2, 60, "two looks")
    assert hold.ready() and processes.alive(first), "two may happen"
    hold.write_control_log("[2026-11-22 17:00:02.000 Control 7] Server 43 exited with status 1\n")
    wait_until(lambda: hold.said("lost the MPS daemon"), 60, hold.log)
    assert "exits again and again: 3 times" in hold.said("lost the MPS daemon")[0]["error"]
    wait_until(lambda: hold.ready() and not processes.alive(first), 60, hold.log)


def test_g21_one_that_hangs_is_killed_and_started_again(hold):
    hold.up()
    first = hold.daemon()
    hold.fake.scenario("hang get_default_active_thread_percentage yes")
    wait_until(lambda: not processes.alive(first), 60, hold.log)
    assert not hold.ready()
    hold.fake.scenario()
    wait_until(hold.ready, 60, hold.log)
    assert "did not answer within 3000 ms" in hold.said("lost the MPS daemon")[0]["error"]


@pytest.mark.parametrize("line", ["flood get_default_active_thread_percentage 1048576",
                                  "reply get_default_active_thread_percentage 12x",
                                  "exit get_default_active_thread_percentage 3"])
def test_g21_a_reply_that_means_nothing_is_not_health(hold, line):
    hold.fake.scenario(line)
    hold.start("hold", "--mps")
    wait_until(lambda: len(hold.fake.journal(HEALTH)) >= 3, 60, hold.log)
    assert not hold.ready()
    hold.fake.scenario()
    wait_until(hold.ready, 60, hold.log)


def test_g21_a_reply_in_pieces_is_one(hold):
    hold.fake.scenario("split-ms get_default_active_thread_percentage 30")
    hold.up()


def test_g29_sigterm_quits_the_daemon_and_restores_the_compute_mode(hold):
    record = hold.up()
    daemon = hold.daemon()
    processes.send(record, 15)
    began = time.monotonic()
    assert processes.await_exit([record], 10) and record["status"] == 0, hold.log()
    assert time.monotonic() - began < 10
    assert not processes.alive(daemon) and not hold.ready()
    assert hold.fake.journal()[-2:] == ["command quit ready=0", "compute-mode %s 0" % UUID]
    assert os.listdir(hold.pipe) == []


def test_g29_one_that_is_deaf_to_quit_is_killed(hold):
    hold.fake.scenario("hang quit yes")
    record = hold.up()
    daemon = hold.daemon()
    processes.send(record, 15)
    assert processes.await_exit([record], 10) and record["status"] == 0, hold.log()
    assert not processes.alive(daemon)
    assert hold.fake.journal()[-1] == "compute-mode %s 0" % UUID


def test_g29_after_a_kill_the_next_one_takes_it_over(hold):
    first = hold.up()
    daemon = hold.daemon()
    processes.send(first, 9)
    assert processes.await_exit([first], 5)
    os.unlink(os.path.join(hold.base, "ready"))
    hold.up()
    assert hold.daemon() == daemon, "its clients live"
    assert len(hold.starts()) == 1
    os.kill(daemon["pid"], 9)
    wait_until(lambda: len(hold.starts()) == 2, 60, "it to be watched over")


def test_g29_a_second_one_on_the_same_pipe_directory_refuses(hold):
    hold.up()
    before = hold.fake.journal("compute-mode", "start")
    assert hold.run("hold", "--mps") == 1
    with open(hold.last_word, encoding="utf-8") as file:
        assert file.read().startswith("MpsFailed: another process keeps the MPS daemon in ")
    assert hold.fake.journal("compute-mode", "start") == before
    assert hold.ready()


def test_without_the_option_nothing_is_different(hold):
    record = hold.start("hold", "--check-seconds=1")
    wait_until(lambda: hold.said("holding the GPU"), 60, hold.log)
    processes.send(record, 15)
    assert processes.await_exit([record], 60) and record["status"] == 0
    assert not hold.fake.journal() and not os.path.exists(hold.root)


def killed(hold):
    """A hold that was killed with its daemon, as by the end of a container: nobody sets the compute mode back."""
    record = hold.up()
    daemon = hold.daemon()
    processes.send(record, 9)
    processes.send(daemon, 9)
    assert processes.await_exit([record], 5)
    assert hold.fake.journal("compute-mode") == ["compute-mode %s 3" % UUID]


def test_what_a_killed_one_left_is_set_back_by_one_without_mps(hold):
    killed(hold)
    assert hold.run("identify") == 0, hold.log()
    assert hold.fake.journal("compute-mode")[-1] == "compute-mode %s 0" % UUID


@pytest.mark.parametrize("verb", ["identify", "hold"])
def test_what_a_killed_one_left_is_named_by_one_that_may_not(hold, verb):
    killed(hold)
    nvml.write_topology(hold.topology, [nvml.device(UUID, 0)], ["return nvmlDeviceSetComputeMode 4"])
    assert hold.run(verb) == 1
    with open(hold.last_word, encoding="utf-8") as file:
        assert file.read().startswith("ComputeMode: %s is in mode Exclusive_Process, " % UUID)
    # One of mode MPS is what sets it.
    assert hold.run("identify", "--mps") == 0, hold.log()


def test_what_a_tenant_that_is_root_left_is_removed(hold):
    os.makedirs(os.path.join(hold.pipe, "a", "b", "c"))
    if os.geteuid() == 0:
        os.chown(hold.pipe, 1000, 1000)
    hold.up()
    assert sorted(os.listdir(hold.pipe)) == ["control", "control_lock", "nvidia-cuda-mps-control.pid"]


def test_the_last_to_go_empties_the_shared_memory(hold):
    shm = os.path.join(hold.folder, "shm")
    os.makedirs(os.path.join(shm, "nccl"))
    record = hold.up("--mps-sweep=" + shm)
    assert os.listdir(shm) == ["nccl"]
    processes.send(record, 15)
    assert processes.await_exit([record], 10) and record["status"] == 0, hold.log()
    assert os.listdir(shm) == []
