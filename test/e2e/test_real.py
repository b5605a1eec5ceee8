"""Real capacity pods and real agents, under a real controller: what they say of devices, memory and use is what decides, and
what becomes of tenants when a capacity pod is gone (scenarios 4 and 5, rule C11). The driver is a stand-in, and so is the
kubelet."""

import contextlib
import json
import os

import pytest

import agents
from helpers import P, capacity_on, environment, events, note, on, pin, placed, restarted, seen, wait_gone
from invariants import identity, ledger
from test_agent import USED, UTIL, heard, wait_figure, waits, who
from waiting import wait_until
from watching import PodWatch

STACK = {"nodes": [("real-%d" % i, 1) for i in range(6)] + [("couple-%d" % i, 2) for i in range(4)],
         "arguments": ["--idle-grace-seconds=2", "--open-timeout-seconds=5", "--reacquire-seconds=40",
                       "--usage-seconds=5"]}
SYSTEM = "aliquot-system"
LABEL_MIB, TOTAL_MIB, RESERVED_MIB = 81559, 40960, 500


def smaller(stack, where):
    """The GPU there has half of the memory that the node's label tells, and the driver keeps some of it."""
    stack.kubelet.fault("nvml", node=where, index=0, memory_mib=TOTAL_MIB, reserved_mib=RESERVED_MIB)


def runs(stack, name, where, fraction, **options):
    title = name()
    stack.create_pod(title, fraction=fraction, **options, **on(where))
    return stack.wait_running(title, 60)


def log_of(stack, pod, container):
    with open(os.path.join(stack.kubelet.state()["pods"][pod["metadata"]["uid"]]["folder"], container + ".log"),
              encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def test_s4_the_driver_says_which_gpu_it_is(stack, node, name):
    """The variable says void, as where devices come by CDI: the UUID is NVML's, and so is the memory, without what is reserved."""
    where = node()
    stack.kubelet.fault("device-plugin", node=where, says="void")
    smaller(stack, where)
    pod = runs(stack, name, where, "0.5")
    capacity, = capacity_on(stack, where)
    uuid, = stack.kubelet.state()["nodes"][where]["uuids"]
    assert environment(stack, capacity, "identify")["NVIDIA_VISIBLE_DEVICES"] == "void"
    told = identity(capacity)
    assert (told["uuid"], told["memory"]) == (uuid, TOTAL_MIB - RESERVED_MIB), told
    assert seen(stack, pod) == [uuid] == [note(pod, "gpu-uuid")]
    # Of what the label says a half would be twice as much.
    assert int(note(pod, "memory-mib")) == (TOTAL_MIB - RESERVED_MIB) // 2
    assert environment(stack, pod)["ALIQUOT_MEMORY_MIB"] == note(pod, "memory-mib")
    large = name()
    stack.create_pod(large, memory="30Gi", **on(where))
    waiting = placed(stack.wait_pod(large, placed, 60, what="a condition"))
    assert waiting["reason"] == "ShortMemory" and "%dMi" % ((TOTAL_MIB - RESERVED_MIB) // 2) in waiting["message"], waiting


def test_s5_the_driver_wins_against_the_variable(stack, node, name):
    where, other = node(), "GPU-11111111-2222-3333-4444-555555555555"
    stack.kubelet.fault("nvml", node=where, index=0, report_uuid=other)
    found = []

    def look(pods):
        for pod in pods:
            if not found and pin(pod) == where and identity(pod):
                with contextlib.suppress(KeyError, FileNotFoundError):
                    found.append((identity(pod)["uuid"], log_of(stack, pod, "identify")))
    # Nobody there gives this GPU by its name, so a capacity pod that told it is given up within seconds.
    with PodWatch(stack.api, SYSTEM, P + "capacity=true", look):
        stack.create_pod(name(), fraction="0.5", **on(where))
        wait_until(lambda: found, 120, "an identity")
    uuid, log = found[0]
    assert uuid == other
    said = [line for line in log if line.get("NVIDIA_VISIBLE_DEVICES")]
    assert said and said[0]["uuid"] == other, log


def said_of(stack, where):
    """What the capacity pods there that failed said at their end."""
    found = [status for pod in capacity_on(stack, where) for status in pod["status"].get("initContainerStatuses", [])]
    ended = [{**one.get("lastState", {}), **one.get("state", {})}.get("terminated") or {} for one in found]
    return [one.get("message", "") for one in ended if one.get("exitCode")]


@pytest.mark.timeout(600)
def test_s5_one_gpu_or_nobody(stack, node, name):
    """A container that sees two GPUs, or none, holds nothing: nobody is placed, the pod says why, and a node that is
    put right is used again. Both at the same time: the longer a node could not be used, the later it is tried again."""
    ill = {"MultipleGPUs": ("all", node(2), name()), "NoGPU": ("none", node(2), name())}
    for shows, where, title in ill.values():
        stack.kubelet.fault("device-plugin", node=where, shows=shows)
        stack.create_pod(title, fraction="0.5", **on(where))
    untold = {(words, by) for words in ill for by in ("the capacity pod", "an event", "its condition")}

    def told():
        failed = [e["message"] for e in stack.api.list("events", namespace=SYSTEM) if e["reason"] == "CapacityFailed"]
        for words, (_, where, title) in ill.items():
            untold.difference_update((words, by) for by, messages in (
                ("the capacity pod", said_of(stack, where)), ("an event", [m for m in failed if where in m]),
                ("its condition", [placed(stack.get_pod(title)).get("message", "")]))
                                     if any(words in message for message in messages))
        return not untold
    wait_until(told, 180, lambda: "to be told: %s\n%s" % (untold, stack.logs()))
    for _, where, title in ill.values():
        assert note(stack.get_pod(title), "gpu-uuid") is None
        assert not [pod for pod in capacity_on(stack, where) if identity(pod)]
        stack.kubelet.fault("device-plugin", node=where)
    for _, _, title in ill.values():
        pod = stack.wait_running(title, 150)
        assert seen(stack, pod) == [note(pod, "gpu-uuid")]


def usage_of(leader, pod):
    """What the controller knows of the use of a pod; None: nothing."""
    said = json.loads(leader.get("/debug/usage")[1])
    return next((one for one in said["pods"] if (one["ns"], one["name"]) == ("default", pod["metadata"]["name"])), None)


def test_places_on_what_capacity_told_and_reads_use_from_agents(stack, node, name, agents_on):
    """Both ends at once: a share is a part of the memory that the capacity process told, use is what the agent's
    /v1/state tells, and the one is compared with the other: 25,000 MiB are within a half of what the label says,
    and more than a half of what there is."""
    where = node()
    smaller(stack, where)
    agents_on(where)
    busy, idle = runs(stack, name, where, "0.5"), runs(stack, name, where, "0.25")
    capacity, = capacity_on(stack, where)
    told, share = identity(capacity), int(note(busy, "memory-mib"))
    assert told["uuid"] == note(busy, "gpu-uuid") == note(idle, "gpu-uuid")
    assert share == told["memory"] // 2 == (TOTAL_MIB - RESERVED_MIB) // 2
    leader, used = heard(stack, where), 25000
    assert share < used < LABEL_MIB // 2
    stack.kubelet.fault("use", **who(busy), mib=used, sm=40)

    def known(pod, mib, milli_percent):
        found = usage_of(leader, pod)
        return found is not None and found["state"] == "fresh" and found["source"] == "agent" and [
            (one["uuid"], one["mem_bytes"], one["milli_percent"]) for one in found["figures"]] == [
                (told["uuid"], mib << 20, milli_percent)]
    wait_until(lambda: known(busy, used, 40000) and known(idle, 0, 0), 60,
               lambda: "%s\n%s" % (leader.get("/debug/usage")[1], agents.log(stack, where)))
    wait_until(lambda: leader.metric("aliquot_used_memory_mib") == used and leader.metric("aliquot_used_milli") == 400, 60,
               lambda: "the sums\n%s" % leader.get("/metrics")[1])
    wait_until(lambda: leader.metric('aliquot_metered_by{source="agent"}') == 2, 60, "both to be metered")
    event, = wait_until(lambda: events(stack, busy, "MemoryOveruse"), 60, "an event")
    assert "%dMi" % used in event["message"] and "%dMi" % share in event["message"], event
    over = stack.wait_pod(busy["metadata"]["name"], lambda pod: condition(pod, "MemoryOveruse") == "True", 60)
    assert over["metadata"]["uid"] == busy["metadata"]["uid"] and not events(stack, idle, "MemoryOveruse")


def condition(pod, kind):
    return next((one["status"] for one in pod["status"].get("conditions", []) if one["type"] == P + kind), None)


def holder(stack, where, uuid):
    """The capacity pod that holds this GPU; None: there is none."""
    found = [pod for pod in capacity_on(stack, where) if identity(pod) and identity(pod)["uuid"] == uuid and
             pod["status"].get("phase") == "Running"]
    return found[0] if found else None


def test_c11_an_orphan_is_metered_all_the_while_and_held_again(stack, node, name, agents_on):
    """Its capacity pod is taken away; its device comes back once that was seen, and until then nobody else gets it. The
    tenant runs on, and its agent tells its use as before."""
    where = node(2)
    agents_on(where)
    pod = runs(stack, name, where, "0.5")
    uuid, leader = note(pod, "gpu-uuid"), heard(stack, where)
    stack.kubelet.fault("use", **who(pod), mib=20000, sm=30)
    wait_figure(stack, where, USED, 20000, UUID=uuid, **who(pod))
    stack.kubelet.fault("free-delay", node=where, ms=600000)
    stack.api.delete("pods", note(pod, "capacity-pod"), SYSTEM, grace=0)
    wait_until(lambda: events(stack, pod, "GpuOrphaned"), 60, lambda: "an event\n" + leader.log())
    late = name()
    stack.create_pod(late, fraction="0.4", **on(where))
    looked = []

    def held_again():
        # Before it is known that it is one still: it may be held again and given away between the two.
        given = note(stack.get_pod(late), "gpu-uuid")
        if leader.metric("aliquot_orphaned_gpus") > 0:
            assert given != uuid, "an orphan was given away"
            assert agents.figure(stack, where, USED, UUID=uuid, **who(pod)) == 20000
            if not looked:
                stack.kubelet.fault("free-delay", node=where, ms=2000)
            looked.append(1)
        found = holder(stack, where, uuid)
        return found is not None and pod["metadata"]["uid"] in ledger(found)
    wait_until(held_again, 60, lambda: "the GPU to be held again\n" + leader.log(), every=0.1)
    assert looked, "it never was an orphan"
    wait_until(lambda: leader.metric("aliquot_orphaned_gpus") == 0, 60, "no orphan")
    now = stack.get_pod(pod["metadata"]["name"])
    assert now["metadata"]["uid"] == pod["metadata"]["uid"]
    assert [one["restartCount"] for one in now["status"]["containerStatuses"]] == [0]
    wait_figure(stack, where, UTIL, 30, UUID=uuid, **who(pod))
    stack.wait_running(late, 60)


@pytest.fixture
def impatient(stack):
    """The controller is started anew, and searches for a GPU for 5 s."""
    with restarted(stack, "--reacquire-seconds", 5):
        yield


@pytest.mark.usefixtures("impatient")
def test_c11_one_that_does_not_come_back_sends_its_tenants_away_under_their_budget(stack, node, name, agents_on):
    """Its device is free for nobody within the time there is."""
    where, title = node(), name()
    agents_on(where)
    stack.create_pod(title, fraction="0.5", labels={"orphan": title}, **on(where))
    pod = stack.wait_running(title, 60)
    leader = heard(stack, where)
    stack.api.create("poddisruptionbudgets", {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": title, "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"orphan": title}}}}, namespace="default")
    wait_until(lambda: stack.api.get("poddisruptionbudgets", title, "default").get("status", {}).get(
        "currentHealthy") == 1, 60, "the budget to count")
    stack.kubelet.fault("free-delay", node=where, ms=600000)
    stack.api.delete("pods", note(pod, "capacity-pod"), SYSTEM, grace=0)
    wait_until(lambda: events(stack, pod, "GpuOrphaned"), 60, lambda: "an event\n" + leader.log())
    refused = wait_until(lambda: events(stack, pod, "EvictionRefused"), 120, lambda: "a refusal\n" + leader.log())
    assert "budget" in refused[0]["message"], refused
    assert stack.get_pod(title)["metadata"]["uid"] == pod["metadata"]["uid"]
    stack.api.delete("poddisruptionbudgets", title, "default")
    wait_gone(stack, title, timeout=60)
    wait_figure(stack, where, USED, None, **who(pod))
    wait_until(lambda: leader.metric("aliquot_orphaned_gpus") == 0, 60, "no orphan")


def test_c11_c22_what_runs_on_where_all_objects_are_gone_keeps_its_gpu(stack, node, name, agents_on):
    """The tenant is deleted by force and runs on, and its capacity pod goes. The device plugin gives the GPU to the next
    one, whose ledger knows nobody; nobody gets a share of it before the agent says that the process has ended."""
    where = node()
    agents_on(where)
    pod = runs(stack, name, where, "0.7")
    uuid, leader = note(pod, "gpu-uuid"), heard(stack, where)
    stack.kubelet.fault("linger", node=where)
    second, before = name(), stack.api.get("pods", note(pod, "capacity-pod"), SYSTEM)["metadata"]
    stack.create_pod(second, fraction="0.6", **on(where))
    stack.api.delete("pods", pod["metadata"]["name"], "default", grace=0)
    wait_gone(stack, pod["metadata"]["name"])
    stack.api.delete("pods", before["name"], SYSTEM, grace=2)
    # The next one may have its name at once.
    wait_gone(stack, before["name"], SYSTEM, uid=before["uid"])
    again = wait_until(lambda: holder(stack, where, uuid), 60, lambda: "the GPU to be held again\n" + leader.log())
    assert again["metadata"]["uid"] != before["uid"] and not ledger(again)
    waits(stack, second)
    stack.kubelet.fault("linger", node=where, on=False)
    got = stack.wait_running(second, 60)
    assert seen(stack, got) == [uuid], leader.log()
