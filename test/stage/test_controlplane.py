"""The control plane itself: users, restarts, and that nothing outlives who asked for it."""

import json
import os
import subprocess
import sys

import pytest

import controlplane
import fleet
import processes
from api import ApiError
from waiting import wait_until

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONTROLLER = "system:serviceaccount:aliquot-system:aliquot-controller"


def who_am_i(api):
    answer = api.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                         {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    return answer["status"]["userInfo"]


def test_version_is_the_pinned_one(api):
    assert api.request("GET", "/version")["gitVersion"].startswith("v1.")
    assert api.request("GET", "/version")["gitVersion"] != "v0.0.0"


def test_users(cp):
    user = who_am_i(cp.client("controller"))
    assert user["username"] == CONTROLLER
    assert set(user["groups"]) == {"system:serviceaccounts", "system:authenticated",
                                   "system:serviceaccounts:aliquot-system"}
    assert who_am_i(cp.client("jane"))["groups"] == ["system:authenticated"]
    with pytest.raises(ApiError) as refused:
        cp.client("jane").list("pods", "default")
    assert refused.value.status == 403


def test_service_account_is_put_on_pods(api):
    pod = {"metadata": {"name": "with-account"},
           "spec": {"containers": [{"name": "c", "image": "played"}],
                    "schedulingGates": [{"name": "test/gate"}]}}
    try:
        made = api.create("pods", pod, "default")
        assert made["spec"]["serviceAccountName"] == "default"
        assert any("projected" in volume for volume in made["spec"]["volumes"])
    finally:
        api.delete("pods", "with-account", "default", grace=0)


def test_two_planes_share_nothing_survive_a_crash_and_go_with_their_parent(cp):
    """The shell command, asked for by a process that is killed at the end."""
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        done = subprocess.run(
            [os.path.join(TREE, "hack", "controlplane"), "up", "--json", "--kwok", "--nodes=3",
             "--gpus=2", "--with-parent", str(parent.pid)],
            capture_output=True, text=True, timeout=100, check=True)
        other = controlplane.ControlPlane(json.loads(done.stdout)["dir"])
        assert other.info()["url"] != cp.info()["url"]
        other.admin.create("namespaces", {"metadata": {"name": "only-here"}})
        assert cp.admin.find("namespaces", "only-here") is None
        kwok_plays(other.admin)
        crash(other)
        assert other.admin.find("namespaces", "only-here") is not None
        pids = [other.pid(name) for name in ("etcd", "apiserver", "kcm", "scheduler")]
        assert all(processes.start_time(pid) for pid in pids)
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not os.path.exists(other.dir), 60, "the plane to go down")
    assert [pid for pid in pids if processes.start_time(pid)] == []


def kwok_plays(api):
    """Ready nodes with GPUs, pods that run, jobs that end, probes that tell what they saw, pods that go."""
    assert [node["status"]["allocatable"]["nvidia.com/gpu"] for node in api.list("nodes")] == [
        "2"] * 3
    spec = {"containers": [{"name": "c", "image": "played",
                            "resources": {"limits": {"nvidia.com/gpu": "2"}}}]}
    api.create("pods", {"metadata": {"name": "runs"}, "spec": spec}, "default")
    api.create("jobs", {"metadata": {"name": "ends"}, "spec": {
        "template": {"spec": dict(spec, restartPolicy="Never")}}}, "default")
    wait_until(lambda: api.get("pods", "runs", "default")["status"]["phase"] == "Running", 60,
               "the pod to run")
    wait_until(lambda: api.get("jobs", "ends", "default")["status"].get("succeeded") == 1, 60,
               "the job to end")
    assert [probed(api, form, value) for form, value in (("env", "GPU-1"), ("cdi", "GPU-1"), ("nri", "void"))] == [
        {"v": 1, "devices": 1, "uuid": "GPU-1"}] + [{"v": 1, "devices": 0, "uuid": ""}] * 2
    api.delete("pods", "runs", "default")
    wait_until(lambda: api.find("pods", "runs", "default") is None, 60, "the pod to go")


def probed(api, form, value):
    """What a probe of that form tells on a node that kwok plays."""
    name = "probes-" + form
    api.create("pods", {"metadata": {"name": name, "labels": {"aliquot.dev/probe": form}}, "spec": {
        "restartPolicy": "Never", "containers": [{"name": "probe", "image": "played", "env": [
            {"name": "NVIDIA_VISIBLE_DEVICES", "value": value}]}]}}, "default")
    wait_until(lambda: api.get("pods", name, "default")["status"]["phase"] == "Succeeded", 60, "the probe to end")
    status, = api.get("pods", name, "default")["status"]["containerStatuses"]
    return json.loads(status["state"]["terminated"]["message"])


def crash(plane):
    """The API server dies without a word and comes back at the same address."""
    url, pid = plane.info()["url"], plane.pid("apiserver")
    plane.kill("apiserver")
    with pytest.raises(ApiError) as refused:
        plane.client(timeout=2).list("namespaces")
    assert refused.value.status == 0
    plane.start("apiserver")
    assert plane.info()["url"] == url and plane.pid("apiserver") != pid


def test_scheduler_binds_to_a_fake_node(api):
    fleet.create(api, ["bind-0"], gpus=1)
    fleet.wait_ready(api, ["bind-0"])
    pod = {"metadata": {"name": "bound"},
           "spec": {"nodeSelector": {"kubernetes.io/hostname": "bind-0"},
                    "containers": [{"name": "c", "image": "played",
                                    "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}
    try:
        api.create("pods", pod, "default")
        wait_until(lambda: api.get("pods", "bound", "default")["spec"].get("nodeName") == "bind-0",
                   60, "the scheduler to bind")
    finally:
        api.delete("pods", "bound", "default", grace=0)
        api.delete("nodes", "bind-0")
