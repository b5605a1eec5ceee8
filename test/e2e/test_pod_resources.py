"""Which pod has which GPU, from the kubelet through the relay and a real agent to its metrics. The kubelet is played, over
its real protocol; the relay, the agent and the API server are the product's and Kubernetes' own."""

import agents
from helpers import capacity_on, note, on, seen, wait_gone
from waiting import wait_until

UTIL, USED = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"
UP, ASKS = "aliquot_agent_kubelet_up", "aliquot_agent_kubelet_asks_total"


def whole(stack, name, where, gpus=1):
    """A pod of whole GPUs that runs and does nothing."""
    made = name()
    stack.create_pod(made, gpus=gpus, **on(where))
    return stack.wait_running(made, 60)


def lines(stack, where, pod, metric=UTIL):
    """{UUID: value} of a pod's lines."""
    wanted = ("pod", '"%s"' % pod["metadata"]["name"])
    return {dict(pairs)["UUID"].strip('"'): value for (name, pairs), value in agents.samples(stack, where).items()
            if name == metric and wanted in pairs}


def wait_lines(stack, where, pod, wanted, timeout=60):
    wait_until(lambda: lines(stack, where, pod) == wanted, timeout,
               lambda: "%s of %s\n%s\n%s" % (wanted, pod["metadata"]["name"], lines(stack, where, pod),
                                             agents.log(stack, where)), ignore=(OSError,))


def wait_figure(stack, where, metric, value, timeout=60, **labels):
    wait_until(lambda: agents.figure(stack, where, metric, **labels) == value, timeout,
               lambda: "%s%s to be %s\n%s" % (metric, labels, value, agents.log(stack, where)), ignore=(OSError,))


def asked(stack, where, result):
    return agents.figure(stack, where, ASKS, result=result) or 0


def wait_asked(stack, where, result, more=2, timeout=60):
    """Until so many more questions have ended so."""
    before = asked(stack, where, result)
    wait_until(lambda: asked(stack, where, result) >= before + more, timeout,
               lambda: "%d more that are %s\n%s" % (more, result, agents.log(stack, where)), ignore=(OSError,))


def test_an_idle_pod_is_at_0_on_its_one_of_eight_gpus(stack, node, name, agents_on):
    """Nobody but the kubelet knows which of eight it has; and no line is left when it is gone."""
    where = node(8)
    agents_on(where)
    pod = whole(stack, name, where)
    uuid, = seen(stack, pod)
    wait_lines(stack, where, pod, {uuid: 0})
    assert lines(stack, where, pod, USED) == {uuid: 0}
    found, = [dict(pairs) for (metric, pairs), _ in agents.samples(stack, where).items()
              if metric == UTIL and ("pod", '"%s"' % pod["metadata"]["name"]) in pairs]
    assert "source" not in found and found["container"] == '"main"', found
    stack.kubelet.fault("use", namespace="default", pod=pod["metadata"]["name"], mib=512, sm=40)
    wait_lines(stack, where, pod, {uuid: 40})
    stack.kubelet.fault("use", namespace="default", pod=pod["metadata"]["name"], mib=None)
    wait_lines(stack, where, pod, {uuid: 0})
    stack.api.delete("pods", pod["metadata"]["name"], "default", grace=0)
    wait_gone(stack, pod["metadata"]["name"])
    wait_lines(stack, where, pod, {})


def test_idle_pods_side_by_side_have_their_own(stack, node, name, agents_on):
    """Two with one GPU each and one with two, beside a shared one, whose capacity pod has no line."""
    where = node(8)
    agents_on(where)
    tenant = name()
    stack.create_pod(tenant, fraction="0.5", **on(where))
    shared = note(stack.wait_running(tenant, 60), "gpu-uuid")
    pods = [whole(stack, name, where), whole(stack, name, where), whole(stack, name, where, 2)]
    for pod in pods:
        wait_lines(stack, where, pod, {uuid: 0 for uuid in seen(stack, pod)})
    assert len({uuid for pod in pods for uuid in lines(stack, where, pod)} - {shared}) == 4
    capacity, = capacity_on(stack, where)
    assert lines(stack, where, capacity) == {}
    # It is known from the API server, which is asked by another than the kubelet is.
    wait_lines(stack, where, stack.get_pod(tenant), {shared: 0})
    wait_figure(stack, where, "aliquot_agent_capacity_elsewhere", 0)


MOODS = {"hang": "failed", "away": "failed", "garbage": "failed", "nonsense": "unreadable", "large": "too_large",
         "deny": "refused"}


def known(stack, where):
    """Pods that the API server says are there."""
    return len([pod for kind in ("default", agents.HOME) for pod in stack.api.list("pods", kind)
                if pod["spec"].get("nodeName") == where])


def test_a_kubelet_that_does_not_tell_changes_nothing(stack, node, name, agents_on):
    """What was told stays, what was not is unknown and never 0, everything else is told as ever, and all is well again once
    the kubelet is."""
    where = node(8)
    agents_on(where)
    before = whole(stack, name, where)
    uuid, = seen(stack, before)
    wait_lines(stack, where, before, {uuid: 0})
    for number, (mood, result) in enumerate(MOODS.items()):
        stack.kubelet.fault("resources", node=where, mood=mood)
        wait_figure(stack, where, UP, 0, 60)
        after = whole(stack, name, where)
        wait_figure(stack, where, "aliquot_agent_pods", known(stack, where))
        # Two, so that one began after the pod was known.
        wait_asked(stack, where, result)
        assert lines(stack, where, before) == {uuid: number}, mood
        assert lines(stack, where, after) == {}, mood
        assert agents.ready(stack, where)
        stack.kubelet.fault("use", namespace="default", pod=before["metadata"]["name"], mib=64, sm=number + 1)
        wait_lines(stack, where, before, {uuid: number + 1})
        # As a kubelet that was started anew: its socket is another one.
        stack.kubelet.fault("resources", node=where, mood="away")
        stack.kubelet.fault("resources", node=where, mood="well")
        wait_lines(stack, where, after, {seen(stack, after)[0]: 0})
        wait_figure(stack, where, UP, 1)
    said = agents.log(stack, where, 1 << 20).count("the kubelet does not tell which pod has which GPU")
    # Each once, and perhaps that it was away for a moment.
    assert len(MOODS) <= said <= 2 * len(MOODS) + 1, agents.log(stack, where, 1 << 20)


def test_without_the_option_nobody_is_asked(stack, node, name, agents_on):
    where = node(8)
    agents_on(where, arguments=["--kubelet-socket="])
    pod = whole(stack, name, where)
    stack.kubelet.fault("use", namespace="default", pod=pod["metadata"]["name"], mib=64, sm=7)
    wait_lines(stack, where, pod, {seen(stack, pod)[0]: 7})
    assert not [name for name, _ in agents.samples(stack, where) if name.startswith("aliquot_agent_kubelet")]
