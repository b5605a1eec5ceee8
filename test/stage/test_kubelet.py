"""The fake kubelet against the real API server: what the end-to-end suites rely on."""

import itertools
import os
import time

import pytest

import fleet
import nvml
import processes
from api import ApiError
from fakekubelet import FakeKubelet
from waiting import holds_for, wait_until

SHELL = {"shell": "command"}
NAMES = itertools.count()


@pytest.fixture(scope="module")
def kubelet(cp):
    nodes = [{"name": "one", "gpus": 1}, {"name": "two", "gpus": 2}, {"name": "cpu", "gpus": 0}]
    with FakeKubelet(cp, nodes, images=SHELL, arguments=["--backoff-ms=200"]) as running:
        yield running


@pytest.fixture
def make(api):
    """Creates a pod, bound by hand as the scheduler would have; all are gone at the end."""
    made = []

    def create(node, containers=None, gpus=0, init=(), name=None, annotations=None, **spec):
        name = name or "pod-%d" % next(NAMES)
        containers = containers or [{"name": "main", "image": "played"}]
        if gpus:
            for container in [containers[0], *init]:
                container["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
        obj = {"metadata": {"name": name, "annotations": annotations or {}},
               "spec": {"nodeName": node, "containers": containers, "initContainers": list(init),
                        "automountServiceAccountToken": False,
                        "terminationGracePeriodSeconds": 5, **spec}}
        made.append(name)
        return api.create("pods", obj, "default")["metadata"]["name"]
    yield create
    for name in made:
        try:
            api.delete("pods", name, "default", grace=0)
        except ApiError as error:
            assert error.status == 404


def shell(script, name="main", **more):
    return {"name": name, "image": "shell", "command": ["/bin/sh", "-c", script], **more}


def status(api, name):
    return api.get("pods", name, "default")["status"]


def wait_phase(api, name, phase, timeout=60):
    return wait_until(lambda: status(api, name) if status(api, name)["phase"] == phase else None,
                      timeout, "%s to be %s" % (name, phase))


def terminated(found, kind="containerStatuses", index=0):
    return found[kind][index]["state"]["terminated"]


def all_free(kubelet, node):
    info = kubelet.state()["nodes"][node]
    return sorted(info["free"]) == sorted(info["uuids"])


def test_nodes_look_like_gpu_nodes(api, kubelet):
    node = api.get("nodes", "two")
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "2"
    assert node["metadata"]["labels"]["nvidia.com/gpu.product"] == fleet.PRODUCT
    assert node["metadata"]["labels"]["nvidia.com/gpu.count"] == "2"
    assert "nvidia.com/gpu" not in api.get("nodes", "cpu")["status"]["allocatable"]
    assert api.find("leases", "two", "kube-node-lease") is not None


def test_second_pod_on_a_full_node_is_refused(api, kubelet, make):
    wait_until(lambda: all_free(kubelet, "one"), 60, "the GPU to be free")
    first = make("one", gpus=1)
    wait_phase(api, first, "Running")
    second = make("one", gpus=1)
    refused = wait_phase(api, second, "Failed")
    assert refused["reason"] == "UnexpectedAdmissionError"
    assert "Requested: 1, Available: 0" in refused["message"]
    uuid = nvml.uuid("one", 0)
    pod = kubelet.pod(first)
    assert pod["containers"]["main"]["visible"] == [uuid]
    assert pod["containers"]["main"]["env"]["NVIDIA_VISIBLE_DEVICES"] == uuid


def test_device_comes_back_late(api, kubelet, make):
    wait_until(lambda: all_free(kubelet, "one"), 60, "the GPU to be free")
    first = make("one", gpus=1)
    wait_phase(api, first, "Running")
    kubelet.fault("free-delay", node="one", ms=10000)
    # Counted from before: it ends later.
    since = time.monotonic()
    api.delete("pods", first, "default")
    wait_until(lambda: api.find("pods", first, "default") is None, 60, "the pod to be gone")
    early = make("one", gpus=1)
    assert wait_phase(api, early, "Failed")["reason"] == "UnexpectedAdmissionError"
    wait_until(lambda: all_free(kubelet, "one"), 60, "the GPU to be free")
    assert time.monotonic() - since > 10
    kubelet.fault("free-delay", node="one", ms=2000)
    wait_phase(api, make("one", gpus=1), "Running")


def test_init_and_main_get_the_same_device_and_publish_a_message(api, kubelet, make):
    """The shape of a capacity pod: identity by termination message, handed on by an emptyDir."""
    tell = 'echo "$NVIDIA_VISIBLE_DEVICES" >/run/x/id; cat /run/x/id >/dev/termination-log'
    mount = [{"name": "run", "mountPath": "/run/x"}]
    name = make("two", gpus=1, containers=[shell(
        'test "$(cat /run/x/id)" = "$NVIDIA_VISIBLE_DEVICES" && exec sleep 600',
        volumeMounts=mount)], init=[shell(tell, "identify", volumeMounts=mount)],
        volumes=[{"name": "run", "emptyDir": {}}])
    found = wait_phase(api, name, "Running")
    ended = terminated(found, "initContainerStatuses")
    pod = kubelet.pod(name)
    assert ended["exitCode"] == 0
    assert [ended["message"].strip()] == pod["containers"]["main"]["visible"]
    assert ended["message"].strip() in kubelet.state()["nodes"]["two"]["uuids"]
    ready = {item["type"]: item["status"] for item in found["conditions"]}
    assert (ready["Initialized"], ready["Ready"], ready["ContainersReady"]) == ("True",) * 3
    assert found["podIP"].startswith("127.") and found["podIP"] != "127.0.0.1"


def test_a_container_sees_its_devices_through_nvml(api, kubelet, make):
    probe = ("python3 -c 'import ctypes; l=ctypes.CDLL(\"libnvidia-ml.so.1\"); "
             "n=ctypes.c_uint(); assert l.nvmlInit_v2()==0; l.nvmlDeviceGetCount_v2("
             "ctypes.byref(n)); print(n.value)' >/dev/termination-log")
    held = make("two", gpus=1, containers=[shell(probe)], restartPolicy="Never")
    none = make("two", containers=[shell(probe)], restartPolicy="Never")
    shared = make("two", containers=[shell(probe, env=[
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": nvml.uuid("two", 1)}])], restartPolicy="Never")
    for name, count in ((held, "1"), (none, "0"), (shared, "1")):
        assert terminated(wait_phase(api, name, "Succeeded"))["message"].strip() == count
    assert kubelet.pod(shared)["containers"]["main"]["visible"] == [nvml.uuid("two", 1)]
    assert kubelet.pod(shared)["containers"]["main"]["allocated"] == []


def test_a_node_honours_what_its_runtime_does(api, kubelet, make):
    """What a container names is given in the forms that count there; what it was allocated, always."""
    uuid = nvml.uuid("two", 1)
    named = {"env": uuid, "cdi": "runtime.nvidia.com/gpu=" + uuid, "nri": "void"}
    note = {"nvidia.cdi.k8s.io/container.main": "k8s.device-plugin.nvidia.com/gpu=" + uuid}

    def given(form):
        container = {"name": "main", "image": "played",
                     "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": named[form]}]}
        name = make("two", containers=[container], annotations=note if form == "nri" else None)
        wait_phase(api, name, "Running")
        return kubelet.pod(name)["containers"]["main"]["visible"] == [uuid]
    try:
        for forms in (["env"], ["cdi"], ["nri"], []):
            kubelet.fault("injection", node="two", forms=forms)
            assert [form for form in named if given(form)] == forms
        kubelet.fault("injection", node="two", forms={"other": ["cdi"], "*": "env"})
        assert given("env") and not given("cdi")
        kubelet.fault("injection", node="two", forms=[], besides=["all"], version="fake://2")
        shown = make("two")
        wait_phase(api, shown, "Running")
        assert len(kubelet.pod(shown)["containers"]["main"]["visible"]) == 2
        assert api.get("nodes", "two")["status"]["nodeInfo"]["containerRuntimeVersion"] == "fake://2"
        kubelet.fault("injection", node="two", forms=[])
        wait_until(lambda: all_free(kubelet, "two"), 60, "its GPUs to be free")
        held = make("two", gpus=1)
        wait_phase(api, held, "Running")
        assert len(kubelet.pod(held)["containers"]["main"]["visible"]) == 1
        with pytest.raises(ValueError, match="no form of injection"):
            kubelet.fault("injection", node="two", forms=["magic"])
    finally:
        kubelet.fault("injection", node="two", forms=["env", "cdi"])


def test_environment_is_resolved_from_the_stored_pod(api, kubelet, make):
    def ref(name, path):
        return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
    env = [ref("UUID", "metadata.annotations['aliquot.dev/gpu-uuid']"),
           ref("NODE", "spec.nodeName"),
           ref("MISSING", "metadata.annotations['aliquot.dev/none']"), ref("UID", "metadata.uid"),
           ref("APP", "metadata.labels['app']"), ref("IP", "status.podIP"),
           {"name": "PIPE", "value": "/mps/$(UUID)/$$(UUID)/$(NOBODY)"}]
    script = 'echo "$UUID|$NODE|$MISSING|$UID|$APP|$IP|$PIPE|$1" >/dev/termination-log; exit 3'
    name = make("cpu", containers=[{"name": "main", "image": "shell", "env": env,
                                    "command": ["/bin/sh", "-c", script, "sh"],
                                    "args": ["--node=$(NODE)"]}],
                annotations={"aliquot.dev/gpu-uuid": "GPU-1"})
    uid = api.get("pods", name, "default")["metadata"]["uid"]

    def message():
        last = status(api, name).get("containerStatuses", [{}])[0].get("lastState", {})
        return last.get("terminated", {}).get("message", "").strip()
    ip = wait_until(lambda: status(api, name).get("podIP"), 60, "an address")
    wait_until(message, 60, "the first end")
    assert message() == "GPU-1|cpu||%s||%s|/mps/GPU-1/$(UUID)/$(NOBODY)|--node=cpu" % (uid, ip)
    # A restarted container is told what the pod says by then.
    api.patch("pods", name, {"metadata": {"annotations": {"aliquot.dev/gpu-uuid": "GPU-2"}}},
              "default")
    wait_until(lambda: message().startswith("GPU-2|"), 60, "the new value after a restart")
    assert status(api, name)["containerStatuses"][0]["restartCount"] > 0


def test_service_account_is_mounted(api, kubelet, make):
    where = "/var/run/secrets/kubernetes.io/serviceaccount"
    name = make("cpu", restartPolicy="Never", automountServiceAccountToken=True, containers=[shell(
        "cd %s && test -s token && grep -q BEGIN ca.crt && cat namespace >/dev/termination-log"
        % where)])
    assert terminated(wait_phase(api, name, "Succeeded"))["message"] == "default"


def test_subpath_expr_and_message_limit(api, kubelet, make):
    writer = shell("echo here >/in/mark; head -c 9000 /dev/zero | tr '\\0' x >/dev/termination-log",
                   env=[{"name": "WHO", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                   volumeMounts=[{"name": "v", "mountPath": "/in", "subPathExpr": "of-$(WHO)"}])
    name = make("cpu", containers=[writer], restartPolicy="Never",
                volumes=[{"name": "v", "hostPath": {"path": "/run/aliquot/mps"}}])
    assert terminated(wait_phase(api, name, "Succeeded"))["message"] == "x" * 4096
    folder = kubelet.state()["nodes"]["cpu"]["folder"]
    assert os.path.exists(os.path.join(folder, "host/run/aliquot/mps/of-" + name, "mark"))


def test_a_second_deletion_makes_the_grace_shorter(api, kubelet, make):
    """And what the downward API says is renewed until the first one, as with the kubelet of 1.36."""
    told = {"name": "told", "downwardAPI": {"items": [
        {"path": "mood", "fieldRef": {"fieldPath": "metadata.labels['mood']"}}]}}
    name = make("cpu", terminationGracePeriodSeconds=600, volumes=[told], containers=[shell(
        "trap '' TERM; >/dev/termination-log echo set; while :; do sleep 0.05; done",
        volumeMounts=[{"name": "told", "mountPath": "/told"}])])
    wait_phase(api, name, "Running")
    folder = kubelet.pod(name)["folder"]

    def read(path):
        with open(os.path.join(folder, path), encoding="ascii") as file:
            return file.read()
    wait_until(lambda: read("main.termination"), 60, "its trap to be set")
    api.patch("pods", name, {"metadata": {"labels": {"mood": "good"}}}, "default")
    wait_until(lambda: read("volumes/told/mood") == "good", 60, "the label to be told")
    api.delete("pods", name, "default")
    wait_until(lambda: api.get("pods", name, "default")["metadata"].get("deletionTimestamp"), 60, "it to go")
    api.patch("pods", name, {"metadata": {"labels": {"mood": "bad"}}}, "default")
    holds_for(lambda: api.find("pods", name, "default") is not None and read("volumes/told/mood") == "good", 3,
              "it does not end, and is told nothing")
    api.delete("pods", name, "default", grace=1)
    wait_until(lambda: api.find("pods", name, "default") is None, 60, "it to be gone")


def test_graceful_deletion_asks_then_insists(api, kubelet, make):
    hears = ">/dev/termination-log echo set; while :; do sleep 0.05; done"
    polite = make("cpu", containers=[shell("trap 'exit 0' TERM; " + hears)])
    deaf = make("cpu", containers=[shell("trap '' TERM; " + hears)], terminationGracePeriodSeconds=1)

    def is_set(name):
        with open(os.path.join(kubelet.pod(name)["folder"], "main.termination"), encoding="ascii") as file:
            return file.read()
    for name in (polite, deaf):
        wait_phase(api, name, "Running")
        # A shell that was only started does not hear yet.
        wait_until(lambda n=name: is_set(n), 60, "its trap to be set")
    pids = {name: kubelet.pod(name)["containers"]["main"]["pid"] for name in (polite, deaf)}
    since = time.monotonic()
    for name in (polite, deaf):
        api.delete("pods", name, "default")
    wait_until(lambda: api.find("pods", polite, "default") is None, 60, "the polite one to go")
    wait_until(lambda: api.find("pods", deaf, "default") is None, 60, "the deaf one to go")
    assert time.monotonic() - since >= 0.9
    assert all(processes.start_time(pid) is None for pid in pids.values())


def test_played_pods_obey_their_annotations(api, kubelet, make):
    job = make("cpu", restartPolicy="Never", annotations={
        "fake.kubelet/exit-after-ms": "100", "fake.kubelet/exit-code": "7",
        "fake.kubelet/termination-message": "out of memory"})
    never = make("cpu", annotations={"fake.kubelet/never-ready": "true"})
    late = make("cpu", annotations={"fake.kubelet/ready-after-ms": "300"})
    ended = terminated(wait_phase(api, job, "Failed"))
    assert (ended["exitCode"], ended["message"]) == (7, "out of memory")

    def ready(name):
        found = wait_phase(api, name, "Running")
        return next(c["status"] for c in found["conditions"] if c["type"] == "Ready")
    wait_until(lambda: ready(late) == "True", 60, "the late one to be Ready")
    assert ready(never) == "False"


def test_conditions_of_others_are_kept(api, kubelet, make):
    name = make("cpu", annotations={"fake.kubelet/ready-after-ms": "400"})
    api.patch("pods", name, {"status": {"conditions": [
        {"type": "aliquot.dev/Placed", "status": "True", "reason": "Granted"}]}}, "default",
        "status", "strategic")

    def conditions():
        return {c["type"]: c["status"] for c in status(api, name)["conditions"]}
    wait_until(lambda: conditions().get("Ready") == "True", 60, "Ready")
    assert conditions()["aliquot.dev/Placed"] == "True"


def test_faults_on_demand(api, kubelet, make):
    kubelet.fault("reject-admission", node="two", count=1)
    assert wait_phase(api, make("two", gpus=1), "Failed")["reason"] == "UnexpectedAdmissionError"
    wait_phase(api, make("two", gpus=1), "Running")
    victim = make("cpu", containers=[shell("exec sleep 600")])
    wait_phase(api, victim, "Running")
    kubelet.fault("kill", namespace="default", pod=victim, container="main")
    wait_until(lambda: status(api, victim)["containerStatuses"][0]["restartCount"] == 1, 60,
               "the restart")
    last = status(api, victim)["containerStatuses"][0]["lastState"]["terminated"]
    assert last["exitCode"] == 137
    with pytest.raises(ValueError):
        kubelet.fault("unheard-of")


def test_duplicate_uuid_and_silence(api, kubelet):
    kubelet.fault("duplicate-uuid", node="two", index=1)
    path = kubelet.state()["nodes"]["two"]["topology"]
    with open(path, encoding="utf-8") as file:
        assert "report-uuid " + nvml.uuid("two", 0) in file.read()
    kubelet.fault("nvml", node="two", index=1)
    kubelet.fault("no-identity", node="two")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert "report-uuid" not in text and "delay-ms nvmlInit_v2" in text
    kubelet.fault("no-identity", node="two", on=False)
    kubelet.fault("silent", node="cpu")
    wait_until(lambda: not fleet.is_ready(api.get("nodes", "cpu")), 60, "NotReady")
    kubelet.fault("silent", node="cpu", on=False)
    fleet.wait_ready(api, ["cpu"])


def test_a_node_that_others_call_unknown_is_ready_again(api, kubelet):  # pylint: disable=unused-argument
    """As the node lifecycle controller says once no heartbeat came in 50 s, though it was the API server that was away."""
    fleet.set_ready(api, "cpu", "Unknown")
    assert not fleet.is_ready(api.get("nodes", "cpu"))
    fleet.wait_ready(api, ["cpu"])


def test_survives_an_api_server_that_crashes(cp, api, kubelet, make):
    before = make("cpu", containers=[shell("exec sleep 600")])
    wait_phase(api, before, "Running")
    pid = kubelet.pod(before)["containers"]["main"]["pid"]
    cp.restart("apiserver", crash=True)
    wait_phase(api, make("cpu"), "Running")
    assert kubelet.pod(before)["containers"]["main"]["pid"] == pid
    cp.kill("apiserver")
    os.kill(pid, 9)
    cp.start("apiserver")
    wait_until(lambda: status(api, before)["containerStatuses"][0]["restartCount"] == 1, 60,
               "the restart to be told")


def test_a_killed_kubelet_leaves_nothing_and_takes_up_its_pods(cp, api):
    nodes = [{"name": "mortal", "gpus": 2}]
    pod = {"metadata": {"name": "survivor"},
           "spec": {"nodeName": "mortal", "automountServiceAccountToken": False,
                    "containers": [shell("exec sleep 600", resources={
                        "limits": {"nvidia.com/gpu": "1"}})]}}
    with FakeKubelet(cp, nodes, images=SHELL) as kubelet:
        api.create("pods", pod, "default")
        wait_phase(api, "survivor", "Running")
        main = kubelet.pod("survivor")["containers"]["main"]
        kubelet.kill()
        wait_until(lambda: processes.start_time(main["pid"]) is None, 60, "its process to die")
        kubelet.start(wait_ready=False)
        wait_until(lambda: status(api, "survivor")["containerStatuses"][0]["restartCount"] == 1,
                   60, "the container to be restarted")
        assert kubelet.pod("survivor")["containers"]["main"]["allocated"] == main["allocated"]
        api.delete("pods", "survivor", "default", grace=0)
        wait_until(lambda: all_free(kubelet, "mortal"), 60, "the device to come back")
    api.delete("nodes", "mortal")
