"""The agent and its driver, without a cluster: what it says while the driver is missing, wrong, hung or broken.

No API server answers it here; that is another condition, and its metrics do not wait for it. Numbers of scenarios are those
of docs/design/sampling.md.
"""

import os
import subprocess
import urllib.error
import urllib.request

import pytest

import controlplane
import nvml
import ports
import processes
from waiting import wait_until

A, B = nvml.uuid("driver", 0), nvml.uuid("driver", 1)
KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: none, user: {token: none}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
current-context: none
"""


class Agent:
    """One agent, with a driver that a test changes."""

    def __init__(self, folder, driver=3):
        self.folder = str(folder)
        self.library = os.path.join(self.folder, "libnvidia-ml.so.1")
        self.topology = os.path.join(self.folder, "topology")
        self.driver = driver
        self.port, = ports.reserve(controlplane.home(), self.folder, 1)
        self.process = None

    def install(self):
        os.symlink(nvml.library(self.driver), self.library)

    def hardware(self, *devices, rules=()):
        nvml.write_topology(self.topology, devices or [nvml.device(A, 0)], rules)

    def start(self):
        config = os.path.join(self.folder, "kubeconfig")
        with open(config, "w", encoding="utf-8") as file:
            file.write(KUBECONFIG)
        argv = [os.environ["ALIQUOT_BINARY"], "agent", "--node-name=here", "--listen=127.0.0.1:%d" % self.port,
                "--kubeconfig=" + config, "--interval-seconds=1", "--nvml-library=" + self.library]
        env = dict(os.environ, FAKE_NVML_TOPOLOGY=self.topology)
        env.pop("NVIDIA_VISIBLE_DEVICES", None)
        self.process = processes.start(argv, os.path.join(self.folder, "log"), env=env)
        wait_until(lambda: self.get("/health")[0] == 200, 60, "the agent", ignore=(OSError,))

    def get(self, path):
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.port, path), timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def lines(self, name):
        """The lines of one metric. That they come at all is the point of most tests."""
        status, text = self.get("/metrics")
        assert status == 200
        return [line for line in text.splitlines() if line.split("{")[0].split(" ")[0] == name]

    def up(self):
        return self.lines("aliquot_agent_driver_up") == ["aliquot_agent_driver_up 1"]

    def await_up(self, up, timeout=60):
        wait_until(lambda: self.up() == up, timeout, lambda: "driver_up %d\n%s" % (up, self.log()))

    def log(self):
        return processes.log_tail(os.path.join(self.folder, "log"))

    def why(self):
        """Why it is not ready; nothing where it is, or still is."""
        status, text = self.get("/readyz")
        assert status in (200, 503)
        return text if status == 503 else ""

    def child(self):
        """The process that asks the driver, or None."""
        found = subprocess.run(["pgrep", "-P", str(self.process["pid"])], capture_output=True, text=True,
                               check=False)
        return int(found.stdout.split()[0]) if found.returncode == 0 else None


@pytest.fixture
def agent(tmp_path, request):
    made = Agent(tmp_path, getattr(request, "param", 3))
    made.hardware()
    yield made
    if made.process is not None:
        assert processes.alive(made.process), "it did not outlive its driver"
        processes.stop([made.process])


def test_s1_a_library_that_is_missing_and_comes(agent):
    agent.start()
    wait_until(lambda: "cannot load NVML" in agent.why(), 60, lambda: "the reason\n" + agent.log())
    assert not agent.up() and agent.lines("DCGM_FI_DEV_GPU_TEMP") == []
    agent.install()
    agent.await_up(True)
    line, = wait_until(lambda: agent.lines("DCGM_FI_DEV_GPU_TEMP"), 60, "its temperature")
    assert A in line and line.endswith(" 35")


@pytest.mark.parametrize("code, words", [(9, "driver is not loaded"), (18, "different versions")])
def test_s2_a_driver_that_is_not_loaded_or_was_upgraded(agent, code, words):
    agent.install()
    agent.hardware(rules=["return nvmlInit_v2 %d" % code])
    agent.start()
    wait_until(lambda: words in agent.why(), 60, lambda: "the reason\n" + agent.log())
    agent.hardware()
    agent.await_up(True)
    # It is upgraded under a running agent.
    agent.hardware(rules=["return nvmlInit_v2 %d" % code, "return nvmlDeviceGetCount_v2 %d" % code])
    agent.await_up(False)
    wait_until(lambda: words in agent.why(), 60, lambda: "the reason\n" + agent.log())
    agent.hardware()
    agent.await_up(True)


@pytest.mark.parametrize("agent", [1, 2], indirect=True)
def test_s3_older_drivers(agent):
    agent.install()
    agent.hardware(nvml.device(A, 3, memory_mib=1000, used_mib=250, process="compute 10 100"))
    agent.start()
    agent.await_up(True)
    line, = wait_until(lambda: agent.lines("DCGM_FI_DEV_FB_USED"), 60, "its memory")
    assert 'device="nvidia3"' in line and line.endswith(" 250")


def test_s30_a_driver_that_hangs(agent):
    agent.install()
    agent.start()
    agent.await_up(True)
    agent.hardware(rules=["delay-ms nvmlDeviceGetPowerUsage 3600000"])
    agent.await_up(False)
    wait_until(lambda: "driver does not answer" in agent.why(), 60, lambda: "the reason\n" + agent.log())
    agent.hardware()
    agent.await_up(True)


def test_s30_a_library_that_crashes(agent):
    agent.install()
    agent.start()
    agent.await_up(True)
    first = agent.child()
    agent.hardware(rules=["crash nvmlDeviceGetPowerUsage 0"])
    agent.await_up(False)
    wait_until(lambda: "ended by signal 6" in agent.why(), 60, lambda: "the reason\n" + agent.log())
    agent.hardware()
    agent.await_up(True)
    assert agent.child() not in (None, first)


def test_s30_a_lost_device_stops_no_other(agent):
    agent.install()
    agent.hardware(nvml.device(A, 0), nvml.device(B, 1))
    agent.start()
    wait_until(lambda: len(agent.lines("DCGM_FI_DEV_GPU_TEMP")) == 2, 60, "both")
    lost = nvml.device(A, 0)
    lost["return"] = "nvmlDeviceGetUUID 15"
    agent.hardware(lost, nvml.device(B, 1))
    wait_until(lambda: len(agent.lines("DCGM_FI_DEV_GPU_TEMP")) == 1, 60, "one of them")
    line, = wait_until(lambda: agent.up() and agent.lines("DCGM_FI_DEV_GPU_TEMP"), 60, "the other one")
    assert B in line
    agent.hardware(nvml.device(A, 0), nvml.device(B, 1))
    wait_until(lambda: len(agent.lines("DCGM_FI_DEV_GPU_TEMP")) == 2, 60, "both again")


def test_its_child_ends_with_an_agent_that_is_killed(agent):
    agent.install()
    agent.start()
    agent.await_up(True)
    child = agent.child()
    before = processes.start_time(child)
    processes.send(agent.process, 9)
    wait_until(lambda: processes.start_time(child) != before, 60, "the child to end")
    agent.process = None
