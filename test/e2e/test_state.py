"""What agents tell of their nodes, and what silence does not (C10, C22, scenario 42)."""

import pytest

import agents
from helpers import capacity_on, events, note, on, seen, wait_gone
from waiting import wait_until

HEARD, UNHEARD, DENIED = ('aliquot_agent_reads_total{result="%s"}' % result for result in ("ok", "unreachable", "denied"))


@pytest.fixture(name="agents_on")
def fixture_agents_on(stack):
    """agents_on(node, …): agents on these nodes, until the test ends."""
    yield lambda *nodes: agents.start(stack, nodes)
    agents.stop(stack)


def known(stack, where):
    """The leader has heard the agent of that node."""
    leader = stack.wait_leader()
    wait_until(lambda: unhealthy(where) in leader.metrics(), 60,
               lambda: "an agent to be heard\n%s\n%s" % (leader.log(), stack.kubelet.log()))
    return leader


def unhealthy(where):
    return 'aliquot_unhealthy_gpus{node="%s"}' % where


def test_k42_no_new_tenants_on_an_unhealthy_gpu(stack, node, name, agents_on):
    """C10: an XID under a tenant. It stays, it and the capacity pod are told, newcomers go to the other
    GPU; with none left they wait and say why."""
    where = node(2)
    agents_on(where)
    first = name()
    stack.create_pod(first, fraction="0.5", **on(where))
    pod = stack.wait_running(first)
    leader = known(stack, where)
    uuid, (capacity,) = note(pod, "gpu-uuid"), capacity_on(stack, where)
    index = stack.kubelet.state()["nodes"][where]["uuids"].index(uuid)
    assert leader.metrics()[unhealthy(where)] == 0
    stack.kubelet.fault("xid", node=where, index=index)
    wait_until(lambda: leader.metrics()[unhealthy(where)] == 1, 60, "the XID to be known")
    for told in (pod, capacity):
        event, = wait_until(lambda o=told: events(stack, o, "GpuUnhealthy"), 60, "an event")
        assert uuid in event["message"] and "XID 79" in event["message"], event
    second, third = name(), name()
    stack.create_pod(second, fraction="0.4", **on(where))
    other = note(stack.wait_running(second, 60), "gpu-uuid")
    assert other != uuid
    stack.create_pod(third, fraction="0.4", **on(where))
    assert note(stack.wait_running(third, 60), "gpu-uuid") == other
    stack.create_pod(name(), fraction="0.3", **on(where))
    # What its condition will say after ten seconds.
    waiting = 'aliquot_tenants_waiting{reason="GpuUnhealthy"}'
    wait_until(lambda: leader.metric(waiting) == 1, 60, "the fourth to wait")
    assert stack.get_pod(first)["metadata"]["uid"] == pod["metadata"]["uid"]
    assert len(events(stack, pod, "GpuUnhealthy")) == 1


def forced(stack, name, where):
    """A tenant that is deleted by force and runs on, and one that waits for its share."""
    first, second = name(), name()
    stack.create_pod(first, fraction="0.7", **on(where))
    pod = stack.wait_running(first)
    known(stack, where)
    stack.kubelet.fault("linger", node=where)
    stack.create_pod(second, fraction="0.6", **on(where))
    stack.api.delete("pods", first, "default", grace=0)
    wait_gone(stack, first)
    return pod, second


def waits(stack, pod_name, series, times=2):
    """It has no share all the while, and meanwhile so many questions got an answer that is counted there."""
    leader = stack.wait_leader()
    before = leader.metric(series)

    def enough():
        heard = leader.metric(series) - before
        assert note(stack.get_pod(pod_name), "gpu-uuid") is None
        return heard >= times
    wait_until(enough, 60, "%d answers in %s\n%s" % (times, series, leader.log()), every=0.2)


def test_c22_a_forced_deletion_holds_until_the_agent_says_it_ended(stack, node, name, agents_on):
    """The agent lists the pod: held. It does not any more: free with its next answers, not after 5 minutes."""
    where = node()
    agents_on(where)
    pod, second = forced(stack, name, where)
    leader, handshakes = stack.wait_leader(), "aliquot_agent_handshakes_total"
    begun = leader.metric(handshakes)
    assert begun >= 1
    waits(stack, second, HEARD)
    # Answers come on the connection that is there; on a busy machine one may have been too late, and ended it.
    assert leader.metric(handshakes) - begun <= 1, stack.logs()
    assert pod["metadata"]["uid"] in stack.kubelet.state()["pods"], "its process runs on"
    stack.kubelet.fault("linger", node=where, on=False)
    wait_until(lambda: pod["metadata"]["uid"] not in stack.kubelet.state()["pods"], 60, "its end")
    # One may be on its way that was asked for before. Each comes two seconds after the other, on a busy machine later.
    before = leader.metric(HEARD)

    def freed():
        heard = leader.metric(HEARD) - before
        if note(stack.get_pod(second), "gpu-uuid") is not None:
            return True
        assert heard <= 3, "%d answers without the pod, and it is held\n%s" % (heard, stack.logs())
        return False
    wait_until(freed, 60, "its share to be free")
    got = stack.wait_running(second, 60)
    assert seen(stack, got) == [note(pod, "gpu-uuid")]


def test_c22_silence_and_strangers_free_nothing(stack, node, name, agents_on):
    """The process has ended, but the agent says nothing; then somebody answers whom our authority does
    not know. Nothing is freed; then the agent is itself again."""
    where = node()
    agents_on(where)
    pod, second = forced(stack, name, where)
    stack.kubelet.fault("agent-mute", node=where)
    # An answer that was on its way has come: the next one failed.
    waits(stack, second, UNHEARD, 1)
    stack.kubelet.fault("linger", node=where, on=False)
    wait_until(lambda: pod["metadata"]["uid"] not in stack.kubelet.state()["pods"], 60, "its end")
    waits(stack, second, UNHEARD)
    stack.kubelet.fault("agent-foreign", node=where)
    stack.kubelet.fault("agent-mute", node=where, on=False)
    waits(stack, second, DENIED)
    stack.kubelet.fault("agent-foreign", node=where, on=False)
    got = stack.wait_running(second, 60)
    assert seen(stack, got) == [note(pod, "gpu-uuid")]
