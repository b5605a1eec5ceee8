"""hack/demo as a newcomer meets it: its table, its exit, and that nothing of it is left."""

import os
import re
import signal
import subprocess
import time
import uuid

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEMO = os.path.join(ROOT, "hack", "demo")
COLUMNS = ["POD", "ASKS FOR", "SHARE", "MEMORY", "NODE", "GPU", "STATE"]


def of_environment(mark):
    """Command lines of the living processes that have MARK in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as file:
                if mark.encode() not in file.read():
                    continue
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                command = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if command:
            found.append("%s %s" % (pid, command[:200]))
    return found


class Demo:
    """One run of hack/demo in a group and a home of its own."""

    def __init__(self, folder, *arguments):
        self.mark = "ALIQUOT_DEMO_MARK=" + uuid.uuid4().hex
        self.home = folder / "planes"
        self.output = folder / "output"
        name, value = self.mark.split("=")
        env = dict(os.environ, **{name: value, "ALIQUOT_CONTROLPLANE_HOME": str(self.home)})
        with open(self.output, "wb") as file:
            self.process = subprocess.Popen([DEMO, *arguments], stdin=subprocess.DEVNULL, env=env,
                                            stdout=file, stderr=subprocess.STDOUT,
                                            start_new_session=True)

    def text(self):
        return self.output.read_text(encoding="utf-8")

    def wait_for(self, words, timeout=150):
        deadline = time.monotonic() + timeout
        while words not in self.text():
            assert self.process.poll() is None, "it ended before it said %r:\n%s" % (words, self.text())
            assert time.monotonic() < deadline, "it did not say %r:\n%s" % (words, self.text())
            time.sleep(0.1)

    def finish(self, timeout=150):
        """The exit status; and that nothing is left."""
        status = self.process.wait(timeout)
        deadline = time.monotonic() + 60
        while of_environment(self.mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert of_environment(self.mark) == []
        assert [name for name in os.listdir(self.home) if name.startswith("plane-")] == []
        return status

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(30)


@pytest.fixture
def start(tmp_path):
    """Starts hack/demo with arguments; what still runs at the end is ended."""
    demos = []

    def begin(*arguments):
        demos.append(Demo(tmp_path, *arguments))
        return demos[-1]
    yield begin
    for demo in demos:
        demo.kill()


def rows_of(text):
    """The last table, as {pod: {column: cell}}."""
    lines = text.splitlines()
    last = max(i for i, line in enumerate(lines) if line.startswith("POD "))
    assert re.split(r"\s{2,}", lines[last]) == COLUMNS
    rows = {}
    for line in lines[last + 1:]:
        if not line:
            break
        cells = re.split(r"\s{2,}", line)
        rows[cells[0]] = dict(zip(COLUMNS, cells, strict=True))
    return rows


def gpu_of(rows, prefix, count):
    """The one GPU on which all COUNT pods of that name run."""
    pods = [row for name, row in rows.items() if name.startswith(prefix)]
    assert len(pods) == count
    assert {row["STATE"] for row in pods} == {"Running"}
    uuids = {row["GPU"] for row in pods}
    assert len(uuids) == 1, "%s do not share: %s" % (prefix, pods)
    found = uuids.pop()
    assert re.fullmatch(r"GPU-[0-9a-f]{8}", found)
    return found


@pytest.mark.timeout(170)
def test_once_tells_the_story_and_ends(start):
    demo = start("--once")
    status = demo.finish()
    text = demo.text()
    assert status == 0, text
    rows = rows_of(text)
    shared = {gpu_of(rows, "chat-", 4), gpu_of(rows, "embed-", 2), gpu_of(rows, "notebook", 1)}
    whole = {gpu_of(rows, "trainer", 1), gpu_of(rows, "typo", 1)}
    assert len(shared) == 3 and len(whole) == 2 and not shared & whole
    assert {row["SHARE"] for name, row in rows.items() if name.startswith("chat-")} == {"0.25"}
    assert rows["embed-0"]["SHARE"] == "0.5" and rows["notebook"]["MEMORY"] == "8.0Gi"
    assert rows["trainer"]["SHARE"] == rows["typo"]["SHARE"] == "whole"
    assert rows["giant"]["STATE"] == "waits: LargerThanAnyGpu" and rows["giant"]["GPU"] == "-"
    assert '"half" cannot be read' in text and "no GPU that it may use is so large" in text
    assert "7 pods with a share run on 3 GPUs; whole, they would need 7." in text
    assert max(len(line) for line in text.splitlines()) <= 100


@pytest.mark.timeout(170)
def test_stays_until_interrupted(start):
    demo = start()
    demo.wait_for("Ctrl-C ends everything")
    assert demo.process.poll() is None
    assert len(of_environment(demo.mark)) > 5, "the demo runs, so its parts do"
    config = re.search(r"export KUBECONFIG=(\S+)", demo.text()).group(1)
    assert os.access(config, os.R_OK)
    os.killpg(demo.process.pid, signal.SIGINT)
    assert demo.finish() == 0, demo.text()
    assert demo.text().rstrip().endswith("Everything was stopped and removed.")


@pytest.mark.timeout(170)
def test_interrupted_before_the_story_is_told(start):
    demo = start()
    demo.wait_for("1. A pod that asks")
    os.killpg(demo.process.pid, signal.SIGINT)
    assert demo.finish() == 130, demo.text()
    assert "stopped before the story was told" in demo.text()
    assert "Traceback" not in demo.text()


def test_refuses_what_it_does_not_know(start):
    demo = start("--twice")
    assert demo.process.wait(30) == 2
    assert demo.text() == "hack/demo: there is no option --twice; see hack/demo --help\n"
