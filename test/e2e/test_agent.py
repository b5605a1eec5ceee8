"""Real agents on fake nodes: what they meter, what they tell the controller, and what becomes of both when the driver, the
agent or the API server is away. The driver, /proc and the cgroups are stand-ins; the rest is the product."""

import signal

import pytest

import agents
from helpers import capacity_on, events, note, on, seen, wait_gone
from waiting import wait_until

UTIL, USED = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"


@pytest.fixture(name="agents_on")
def fixture_agents_on(stack):
    """agents_on(node, …): the product's agents on these nodes, until the test ends."""
    yield lambda *nodes, **more: agents.start_product(stack, nodes, **more)
    agents.stop(stack)


def wait_figure(stack, where, metric, value, timeout=15, **labels):
    """Until the series with these labels has this value; None: until there is none."""
    wait_until(lambda: agents.figure(stack, where, metric, **labels) == value, timeout,
               lambda: "%s%s to be %s\n%s" % (metric, labels, value, "\n".join(
                   "%s %s" % (dict(key[1]), found) for key, found in agents.samples(stack, where).items()
                   if key[0] == metric)), ignore=(OSError,))


def heard(stack, where):
    """The leader, once it has heard the agent there."""
    leader = stack.wait_leader()
    series = 'aliquot_unhealthy_gpus{node="%s"}' % where
    wait_until(lambda: series in leader.metrics() and leader.metric("aliquot_agents_known") >= 1, 40,
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
    wait_until(lambda: leader.metrics()[series] == 1, 20, lambda: "the XID to be known\n" + agents.log(stack, where))
    event, = wait_until(lambda: events(stack, pod, "GpuUnhealthy"), 10, "an event")
    assert uuid in event["message"] and "XID 79" in event["message"], event
    wait_figure(stack, where, "aliquot_agent_device_healthy", 0, UUID=uuid)
    other, = tenants(stack, name, where, "0.4")
    assert note(other, "gpu-uuid") != uuid


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
    wait_until(enough, 30, "looking", every=0.2)


def test_c22_a_share_is_free_when_the_pods_cgroup_is_gone(stack, node, name, agents_on):
    where = node()
    agents_on(where)
    first, second = forced(stack, name, where)
    waits(stack, second)
    stack.kubelet.fault("linger", node=where, on=False)
    got = stack.wait_running(second, 20)
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
    wait_until(lambda: agents.get(stack, where, "/readyz")[0] == 503, 20, "a new agent without a driver",
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
    wait_figure(stack, where, USED, None, 30, **who(pod))
    status, text = agents.get(stack, where, "/readyz")
    assert status == 503 and "NoDriver" in text, text
    assert agents.get(stack, where, "/health") == (200, "ok\n")
    wait_figure(stack, where, "aliquot_agent_driver_up", 0, 30)
    stack.kubelet.fault("nvml", node=where, rules=[])
    wait_figure(stack, where, USED, 512, 60, **who(pod))
    wait_until(lambda: agents.ready(stack, where), 30, "the agent to be ready")
