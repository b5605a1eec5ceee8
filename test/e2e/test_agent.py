"""Real agents on fake nodes: what they meter, what they tell the controller, and what becomes of both when the driver, the
agent or the API server is away. The driver, /proc and the cgroups are stand-ins; the rest is the product."""

import datetime
import json
import os
import signal
import time
import urllib.parse
import urllib.request

import pytest

import agents
import debs
import fleet
import ports
import processes
from helpers import capacity_on, environment, events, note, on, seen, told_of, wait_gone
from waiting import holds_for, wait_until

UTIL, USED = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"


def wait_figure(stack, where, metric, value, timeout=60, address=None, **labels):
    """Until the series with these labels has this value; None: until there is none."""
    wait_until(lambda: agents.figure(stack, where, metric, address, **labels) == value, timeout,
               lambda: "%s%s to be %s\n%s" % (metric, labels, value, "\n".join(
                   "%s %s" % (dict(key[1]), found) for key, found in agents.samples(stack, where, address).items()
                   if key[0] == metric)), ignore=(OSError,))


def heard(stack, where):
    """The leader, once it has heard the agent there."""
    leader = stack.wait_leader()
    series = 'aliquot_unhealthy_gpus{node="%s"}' % where
    wait_until(lambda: series in leader.metrics() and leader.metric("aliquot_agents_known") >= 1, 60,
               lambda: "the agent to be heard\n%s\n%s" % (leader.log(), agents.log(stack, where)))
    return leader


def tenants(stack, name, where, *fractions):
    """Running tenants of one node."""
    found = []
    for fraction in fractions:
        found.append(name())
        stack.create_pod(found[-1], fraction=fraction, **on(where))
    return [stack.wait_running(one, 60) for one in found]


def who(pod):
    return {"namespace": "default", "pod": pod["metadata"]["name"]}


def test_use_of_tenants_that_share_a_gpu_is_told_apart(stack, node, name, agents_on):
    """The UUID and the memory that decide come from a real capacity process, the use from a real agent: two tenants of
    one device, each with its own figures, the idle one at 0, and the device as a whole without a pod."""
    where = node()
    agents_on(where)
    busy, idle = tenants(stack, name, where, "0.5", "0.25")
    uuid = note(busy, "gpu-uuid")
    assert seen(stack, busy) == seen(stack, idle) == [uuid]
    stack.kubelet.fault("use", **who(busy), mib=20480, sm=60)
    wait_figure(stack, where, USED, 20480, UUID=uuid, **who(busy))
    wait_figure(stack, where, UTIL, 60, UUID=uuid, **who(busy))
    wait_figure(stack, where, USED, 0, UUID=uuid, **who(idle))
    wait_figure(stack, where, UTIL, 0, UUID=uuid, **who(idle))
    stack.kubelet.fault("use", **who(idle), mib=1024, sm=10)
    wait_figure(stack, where, UTIL, 10, UUID=uuid, **who(idle))
    wait_figure(stack, where, UTIL, 60, UUID=uuid, **who(busy))
    # The capacity pod has no series: its tenants have, and the device.
    capacity, = capacity_on(stack, where)
    assert agents.figure(stack, where, USED, pod=capacity["metadata"]["name"]) is None
    stack.api.delete("pods", busy["metadata"]["name"], "default", grace=0)
    wait_gone(stack, busy["metadata"]["name"])
    wait_figure(stack, where, USED, None, **who(busy))
    wait_figure(stack, where, UTIL, 10, UUID=uuid, **who(idle))


def test_k42_an_xid_that_the_driver_told_keeps_tenants_away(stack, node, name, agents_on):
    """From NVML's event through the agent, TLS and the controller to an event on the tenant."""
    where = node(2)
    agents_on(where)
    pod, = tenants(stack, name, where, "0.5")
    leader, uuid = heard(stack, where), note(pod, "gpu-uuid")
    index = stack.kubelet.state()["nodes"][where]["uuids"].index(uuid)
    stack.kubelet.fault("nvml", node=where, index=index, xid=79)
    series = 'aliquot_unhealthy_gpus{node="%s"}' % where
    wait_until(lambda: leader.metrics().get(series) == 1, 60, lambda: "the XID to be known\n" + agents.log(stack, where))
    event, = wait_until(lambda: events(stack, pod, "GpuUnhealthy"), 60, "an event")
    assert uuid in event["message"] and "XID 79" in event["message"], event
    wait_figure(stack, where, "aliquot_agent_device_healthy", 0, UUID=uuid)
    other, = tenants(stack, name, where, "0.4")
    assert note(other, "gpu-uuid") != uuid


def test_c10_an_xid_outlives_the_agent_that_heard_it(stack, node, name, agents_on):
    """The driver tells an event once. The agent that its kubelet starts anew calls the GPU healthy, since it heard of
    nothing: the fence stays for longer than it would after a recovery, unless a person says that the GPU was reset."""
    kept, reset = both = node(), node()
    agents_on(*both)
    uuids = {where: note(tenants(stack, name, where, "0.5")[0], "gpu-uuid") for where in both}
    leader, series = stack.wait_leader(), {where: 'aliquot_unhealthy_gpus{node="%s"}' % where for where in both}
    for where in both:
        heard(stack, where)
        stack.kubelet.fault("nvml", node=where, index=0, xid=95)
    for where in both:
        wait_until(lambda of=series[where]: leader.metrics().get(of) == 1, 60,
                   lambda on=where: "the XID to be known\n" + agents.log(stack, on))
        agent = agents.pod_on(stack, where)["metadata"]["name"]
        stack.kubelet.fault("kill", namespace=agents.HOME, pod=agent, container="agent", code=-int(signal.SIGKILL))
    for where in both:
        wait_figure(stack, where, "aliquot_agent_device_healthy", 1, 60, UUID=uuids[where])
    healthy_since, asked = time.monotonic(), leader.metric('aliquot_agent_reads_total{result="ok"}')
    later = {where: name() for where in both}
    for where in both:
        stack.create_pod(later[where], fraction="0.4", **on(where))

    def fenced_all_the_while():
        # Whoever says so before the new agent was heard says it too early; any other text will do.
        stack.api.patch("nodes", reset, {"metadata": {"annotations": {"aliquot.dev/gpus-reset": str(time.monotonic())}}})
        assert leader.metrics()[series[kept]] == 1, "the new agent's word ended the fence"
        assert note(stack.get_pod(later[kept]), "gpu-uuid") is None
        return (time.monotonic() - healthy_since > 40
                and leader.metric('aliquot_agent_reads_total{result="ok"}') > asked + 15 * len(both))
    wait_until(fenced_all_the_while, 90, "the new agents to be heard for longer than a fence lasts", every=1)
    wait_figure(stack, kept, "aliquot_agent_device_healthy", 1, UUID=uuids[kept])
    # Where it was reset no more than a recovery is waited for.
    assert note(stack.wait_running(later[reset], 60), "gpu-uuid") == uuids[reset]
    assert note(stack.get_pod(later[kept]), "gpu-uuid") is None


def forced(stack, name, where):
    """A tenant that is deleted by force and runs on, and one that waits for its share."""
    first, = tenants(stack, name, where, "0.7")
    heard(stack, where)
    stack.kubelet.fault("linger", node=where)
    second = name()
    stack.create_pod(second, fraction="0.6", **on(where))
    stack.api.delete("pods", first["metadata"]["name"], "default", grace=0)
    wait_gone(stack, first["metadata"]["name"])
    return first, second


def waits(stack, pod_name, times=20):
    """It has no share, however often one looks."""
    looked = []

    def enough():
        assert note(stack.get_pod(pod_name), "gpu-uuid") is None
        looked.append(1)
        return len(looked) >= times
    wait_until(enough, 60, "looking", every=0.2)


def test_c22_a_share_is_free_when_the_pods_cgroup_is_gone(stack, node, name, agents_on):
    where = node()
    agents_on(where)
    first, second = forced(stack, name, where)
    leader, read = stack.wait_leader(), 'aliquot_agent_reads_total{result="ok"}'
    asked = leader.metric(read)
    waits(stack, second)
    wait_until(lambda: leader.metric(read) > asked + 2, 60, "the agent to be asked")
    waits(stack, second, 1)
    stack.kubelet.fault("linger", node=where, on=False)
    got = stack.wait_running(second, 60)
    assert seen(stack, got) == [note(first, "gpu-uuid")]


def test_an_agent_that_was_killed_frees_nothing(stack, node, name, agents_on):
    """Its node is not heard: the pod that was deleted by force has ended, and nobody says so. The agent that its kubelet
    starts again says it."""
    where = node()
    agents_on(where)
    first, second = forced(stack, name, where)
    stack.kubelet.fault("nvml", node=where, rules=["return nvmlInit_v2 9", "return nvmlInitWithFlags 9"])
    agent = agents.pod_on(stack, where)["metadata"]["name"]
    stack.kubelet.fault("kill", namespace=agents.HOME, pod=agent, container="agent", code=-int(signal.SIGKILL))
    wait_until(lambda: agents.get(stack, where, "/readyz")[0] == 503, 60, "a new agent without a driver",
               ignore=(OSError, TypeError))
    stack.kubelet.fault("linger", node=where, on=False)
    waits(stack, second)
    stack.kubelet.fault("nvml", node=where, rules=[])
    got = stack.wait_running(second, 60)
    assert seen(stack, got) == [note(first, "gpu-uuid")]


def test_k30_a_driver_that_hangs_and_comes_back(stack, node, name, agents_on):
    """Scenario 30: a call that does not return. Metrics answer all the while, without figures of devices; the agent is not
    ready and says why; and later all is as before."""
    where = node()
    agents_on(where)
    pod, = tenants(stack, name, where, "0.5")
    stack.kubelet.fault("use", **who(pod), mib=512, sm=5)
    wait_figure(stack, where, USED, 512, **who(pod))
    stack.kubelet.fault("nvml", node=where, rules=["delay-ms nvmlDeviceGetCount_v2 3600000",
                                                   "delay-ms nvmlDeviceGetMemoryInfo_v2 3600000"])
    wait_figure(stack, where, USED, None, 60, **who(pod))

    def unready():
        status, text = agents.get(stack, where, "/readyz")
        return status == 503 and "NoDriver" in text
    # The figures go as well while a look that was begun before is slow.
    wait_until(unready, 60, "the agent not to be ready")
    assert agents.get(stack, where, "/health") == (200, "ok\n")
    wait_figure(stack, where, "aliquot_agent_driver_up", 0, 60)
    stack.kubelet.fault("nvml", node=where, rules=[])
    wait_figure(stack, where, USED, 512, 60, **who(pod))
    wait_until(lambda: agents.ready(stack, where), 60, "the agent to be ready")


def test_a_driver_that_is_loaded_anew_in_place_takes_nobody_away(stack, node, name, agents_on):
    """The GPU Operator cordons the node, lets the agent go by its label, and loads the same driver again. An agent that is
    away, and one that starts before the driver is back, are silence: no GPU is ill, no tenant goes, and after it all is used."""
    where = node()
    agents_on(where)
    pods = tenants(stack, name, where, "0.25", "0.25")
    leader = heard(stack, where)
    holder, = capacity_on(stack, where)

    def state(value, cordoned):
        stack.api.patch("nodes", where, {"metadata": {"labels": {"nvidia.com/gpu-driver-upgrade-state": value}},
                                         "spec": {"unschedulable": cordoned}})
    state("upgrade-required", True)
    state("pod-restart-required", True)
    stack.kubelet.fault("nvml", node=where, rules=["return nvmlInit_v2 9", "return nvmlInitWithFlags 9",
                                                   "return nvmlDeviceGetCount_v2 9"])
    agent = agents.pod_on(stack, where)["metadata"]["name"]
    stack.kubelet.fault("kill", namespace=agents.HOME, pod=agent, container="agent", code=-int(signal.SIGKILL))
    wait_until(lambda: "NoDriver" in agents.get(stack, where, "/readyz")[1], 60, "an agent without a driver",
               ignore=(OSError, TypeError))
    refused = leader.metric('aliquot_agent_reads_total{result="status"}')
    wait_until(lambda: leader.metric('aliquot_agent_reads_total{result="status"}') > refused, 60,
               "the agent to answer that it sees no driver")
    stack.kubelet.fault("nvml", node=where, rules=[])
    state("validation-required", True)
    state("upgrade-done", None)
    wait_until(lambda: agents.ready(stack, where), 60, "the agent to be ready")
    # The node is used as before, by somebody new too.
    tenants(stack, name, where, "0.25")
    for pod in pods:
        now = stack.get_pod(pod["metadata"]["name"])
        assert now["metadata"]["uid"] == pod["metadata"]["uid"] and not now["metadata"].get("deletionTimestamp")
        assert not events(stack, now, "GpuUnhealthy")
    assert [one["metadata"]["uid"] for one in capacity_on(stack, where)] == [holder["metadata"]["uid"]]
    state(None, None)


def test_k30_one_gpu_that_hangs_hides_no_other(stack, node, name, agents_on):
    """One of eight, of which a call does not return: it is told ill and gets nobody, the other seven are seen and used,
    and it comes back by itself."""
    where = node(8)
    agents_on(where)
    pod, = tenants(stack, name, where, "0.5")
    leader, uuids = heard(stack, where), stack.kubelet.state()["nodes"][where]["uuids"]
    index, series = uuids.index(note(pod, "gpu-uuid")), 'aliquot_unhealthy_gpus{node="%s"}' % where
    well = [uuid for uuid in uuids if uuid != uuids[index]]
    for uuid in uuids:
        wait_figure(stack, where, "aliquot_agent_device_up", 1, UUID=uuid)
    stack.kubelet.fault("nvml", node=where, index=index, delay_ms="nvmlDeviceGetMemoryInfo_v2 3600000")
    wait_figure(stack, where, "aliquot_agent_device_up", 0, 60, UUID=uuids[index])
    wait_until(lambda: leader.metrics().get(series) == 1, 60, lambda: "it to be fenced\n" + agents.log(stack, where))
    event, = wait_until(lambda: events(stack, pod, "GpuUnhealthy"), 60, "an event")
    assert uuids[index] in event["message"] and "did not come back" in event["message"], event
    other, = tenants(stack, name, where, "0.5")
    assert note(other, "gpu-uuid") in well
    stack.kubelet.fault("use", **who(other), mib=777, sm=5)
    wait_figure(stack, where, USED, 777, 60, **who(other))

    def told():
        page = agents.samples(stack, where).items()
        return [{dict(labels)["UUID"].strip('"') for (found, labels), value in page if (found, value) == wanted}
                for wanted in (("aliquot_agent_device_up", 1), ("DCGM_FI_DEV_GPU_TEMP", 35), ("aliquot_agent_device_up", 0))]
    # While the one is tried again there is no look for some seconds, which is longer than this agent's three intervals.
    wait_until(lambda: told() == [set(well), set(well), {uuids[index]}], 60, lambda: "seven and one: %s" % told())
    wait_until(lambda: agents.ready(stack, where), 60, "the agent to be ready")
    stack.kubelet.fault("nvml", node=where, index=index)
    wait_figure(stack, where, "aliquot_agent_device_up", 1, 100, UUID=uuids[index])


PROMETHEUS = """
global: {scrape_interval: 3s, scrape_timeout: 3s}
scrape_configs:
  - job_name: agent
    static_configs: [{targets: ["%s:9400"], labels: {namespace: aliquot-system, pod: agent, container: agent}}]
"""


@pytest.fixture(name="prometheus")
def fixture_prometheus(stack, tmp_path):
    """prometheus(node): Debian's, which scrapes the agent of that node; gives a function that asks it."""
    program = debs.find("prometheus")
    started = []

    def start(where):
        port, = ports.reserve(os.path.dirname(stack.plane.dir), stack.plane.dir, 1)
        config = tmp_path / "prometheus.yml"
        config.write_text(PROMETHEUS % agents.pod_on(stack, where)["status"]["podIP"], encoding="ascii")
        started.append(processes.start(
            [program, "--config.file=%s" % config, "--storage.tsdb.path=%s" % (tmp_path / "data"),
             "--web.listen-address=127.0.0.1:%d" % port, "--log.level=warn"], str(tmp_path / "prometheus.log")))
        stack.plane.adopt("prometheus-%d" % port, started[-1])

        def ask(path, **params):
            url = "http://127.0.0.1:%d/api/v1/%s?%s" % (port, path, urllib.parse.urlencode(params))
            with urllib.request.urlopen(url, timeout=5) as answer:
                return json.load(answer)["data"]
        return ask
    yield start
    processes.stop(started, 10)


def test_a_real_prometheus_scrapes_it(stack, node, name, agents_on, prometheus):
    """Every line is taken, under the names that dashboards ask for, and gone when the pod is. The target has labels as a
    PodMonitor gives it, so that the lines' own are kept as exported_pod and so on."""
    where = node()
    agents_on(where)
    pod, = tenants(stack, name, where, "0.5")
    stack.kubelet.fault("use", **who(pod), mib=2048, sm=30)
    wait_figure(stack, where, UTIL, 30, **who(pod))
    ask = prometheus(where)
    query = '%s{exported_pod="%s"}' % (UTIL, pod["metadata"]["name"])

    def value(text):
        return [one["value"][1] for one in ask("query", query=text)["result"]]

    def asked():
        """The figure and what a scrape says of itself, of which a busy machine may miss one. The device as a whole has no
        pod, so that a sum over pods counts nothing twice."""
        return (value(query), value("up"), [(one["health"], one["lastError"]) for one in ask("targets")["activeTargets"]],
                len(value('%s{exported_pod=""}' % UTIL)), [float(one) > 30 for one in value("scrape_samples_scraped")])
    wait_until(lambda: asked() == (["30"], ["1"], [("up", "")], 1, [True]), 60,
               lambda: "the figure in Prometheus: %s" % (asked(),), ignore=(OSError,))
    stack.api.delete("pods", pod["metadata"]["name"], "default", grace=0)
    wait_until(lambda: value(query) == [], 60, "the series to end", ignore=(OSError,))


def test_an_api_server_that_is_away_takes_nothing_away(stack, node, name, agents_on):
    """Its pods are those that were known last, and it says so."""
    where = node()
    agents_on(where)
    pod, = tenants(stack, name, where, "0.5")
    stack.kubelet.fault("use", **who(pod), mib=64, sm=1)
    wait_figure(stack, where, USED, 64, **who(pod))
    address = agents.address(stack, where)
    stack.plane.stop("kube-apiserver")
    try:
        wait_figure(stack, where, "aliquot_agent_pods_stale", 1, 60, address=address)
        wait_figure(stack, where, USED, 64, address=address, **who(pod))
    finally:
        stack.plane.start("kube-apiserver")
    wait_figure(stack, where, "aliquot_agent_pods_stale", 0, 60, address=address)
    stack.heal()
    # It was away for long enough that nodes may have been called Unknown meanwhile.
    fleet.wait_ready(stack.api, [one["metadata"]["name"] for one in stack.api.list("nodes")])


def test_k29_a_capacity_pod_that_is_told_to_end_does(stack, node, name):
    """Scenario 29, the part without MPS: SIGTERM, and it has ended, well, within ten seconds. Before, while a tenant is
    there, it holds its GPU all the same (C39)."""
    where = node()
    pod, = tenants(stack, name, where, "0.5")
    capacity, = capacity_on(stack, where)

    def tell():
        stack.kubelet.fault("kill", namespace=agents.HOME, pod=capacity["metadata"]["name"], container="hold",
                            code=-int(signal.SIGTERM))

    def ended():
        found = stack.api.get("pods", capacity["metadata"]["name"], agents.HOME)["status"]["containerStatuses"][0]
        return {**found.get("state", {}), **found.get("lastState", {})}.get("terminated")

    wait_until(lambda: told_of(stack, capacity) != "false", 60, "it to be told of its tenant")
    tell()
    holds_for(lambda: ended() is None, 3, "the GPU is held")
    stack.api.delete("pods", pod["metadata"]["name"], "default", grace=1)
    wait_until(lambda: told_of(stack, capacity) == "false", 60, "it to be told that nobody is left")
    began = time.time()
    tell()
    end = wait_until(ended, 60, "its end")
    assert end["exitCode"] == 0
    # As its kubelet saw it, whenever that was told.
    assert datetime.datetime.fromisoformat(end["finishedAt"]).timestamp() - began < 10, (end, began)


def reader(stack, name, notes):
    """A pod with an annotation in its environment, as tenants have their device (scenario 31)."""
    pod = stack.pod(name, gpus=0, annotations=notes)
    pod["spec"]["containers"][0]["env"] = [{"name": "SEES", "valueFrom": {
        "fieldRef": {"fieldPath": "metadata.annotations['example.com/sees']"}}}]
    return stack.api.create("pods", pod, namespace="default")


def test_k31_an_annotation_reaches_the_container_at_each_start(stack, name):
    """Scenario 31, on the fake kubelet: the value at the start, a new one after the container was killed, and nothing
    where there is no annotation."""
    first, bare = name(), name()
    reader(stack, first, {"example.com/sees": "GPU-1"})
    reader(stack, bare, {})
    pod, none = stack.wait_running(first), stack.wait_running(bare)
    assert environment(stack, pod)["SEES"] == "GPU-1"
    assert environment(stack, none)["SEES"] == ""
    stack.api.patch("pods", first, {"metadata": {"annotations": {"example.com/sees": "GPU-2"}}}, "default")
    assert environment(stack, pod)["SEES"] == "GPU-1", "a container that runs keeps what it was given"
    stack.kubelet.fault("kill", namespace="default", pod=first, container="main", code=1)
    wait_until(lambda: environment(stack, pod)["SEES"] == "GPU-2", 60, "the next start")
