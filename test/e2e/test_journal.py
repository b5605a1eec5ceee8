"""The journal of real runs, decided again: every plan comes out as it was recorded."""

import glob
import os
import re
import subprocess
import tempfile
import urllib.request

import stack as stacks_of
from helpers import on, placed, wait_gone
from waiting import wait_until

FOLDER = tempfile.TemporaryDirectory(prefix="aliquot-journal-")
STACK = {"nodes": [("kept-%d" % i, 2) for i in range(4)],
         "arguments": ["--idle-grace-seconds=1", "--journal=" + FOLDER.name]}


def replay(*paths):
    """(exit status, what it said) of `aliquot replay`."""
    ended = subprocess.run([stacks_of.binary(), "replay", *paths], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           timeout=120, check=False)
    return ended.returncode, ended.stdout


def files():
    return sorted(glob.glob(os.path.join(FOLDER.name, "*.journal")))


def counted(said, what):
    return int(re.search(r"(\d+) %s" % what, said).group(1))


def a_dozen_pods(stack, node, name):
    """Shares that fit, one that never does, and some that leave again."""
    where = node(2)
    names = [name() for _ in range(11)]
    for pod_name in names:
        stack.create_pod(pod_name, fraction="0.125", **on(where))
    for pod_name in names:
        stack.wait_running(pod_name)
    large = name()
    stack.create_pod(large, fraction="0.9", **on(where))
    stack.wait_pod(large, lambda p: placed(p).get("status") == "False", what="a condition")
    for pod_name in names[:4]:
        stack.api.delete("pods", pod_name, "default")
    for pod_name in names[:4]:
        wait_gone(stack, pod_name)


def test_a_run_and_the_next_one_replay(stack, node, name):
    """Killed in the middle and started again: two runs in one folder, both as they were."""
    a_dozen_pods(stack, node, name)
    controller = stack.leader()
    controller.kill()
    status, said = replay(*files())
    assert status == 0 and "No divergence" in said, said
    # Eleven grants (some in one ledger), eleven placements, a capacity pod, conditions.
    assert counted(said, "actions") > 20 and counted(said, "outcomes") > 20, said
    assert counted(said, "segments") == 1 and "begins anew" not in said, said
    controller.start()
    stack.wait_converting()
    last = name()
    stack.create_pod(last, fraction="0.5", **on(node(2)))
    stack.wait_running(last)
    status, said = replay(*files())
    assert status == 0 and "No divergence" in said and "begins anew 1 times" in said, said


def test_what_is_damaged_is_said(stack):
    """A byte that is not as it was written: which file, where; and exit status 2."""
    assert stack.leader() is not None
    with open(files()[0], "rb") as file:
        whole = file.read()
    broken = os.path.join(FOLDER.name, "broken")
    at = len(whole) // 2
    with open(broken, "wb") as file:
        file.write(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
    status, said = replay(broken)
    assert status == 2 and broken in said and "byte " in said, said


def test_the_last_minutes_in_memory(stack, name, node):
    """Without a folder the journal is a debug page; a replica that does not lead keeps one too."""
    replica = stack.add_controller(["--journal="])
    url = "http://127.0.0.1:%d/debug/journal" % replica.metrics_port
    pod_name = name()
    stack.create_pod(pod_name, fraction="0.5", **on(node(2)))
    stack.wait_running(pod_name)

    def ran():
        with urllib.request.urlopen(url, timeout=10) as answer:
            with open(os.path.join(FOLDER.name, "page"), "wb") as file:
                file.write(answer.read())
        status, said = replay(os.path.join(FOLDER.name, "page"))
        assert status == 0 and "No divergence" in said, said
        return counted(said, "changes") > 10 and counted(said, "steps") > 1
    wait_until(ran, 60, "a page with changes and steps", every=0.5)
    replica.stop()
    # The other one may have led for a while.
    code, text = stack.wait_leader().get("/debug/journal", check=False)
    assert code == 404 and "directory" in text
