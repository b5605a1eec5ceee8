"""MPS from a policy to commands: real capacity pods that keep a daemon, a real agent that steers it. NVIDIA's control program
is a stand-in, which answers from a scenario and writes down what it was asked (scenarios 19, 23 to 25 and 29)."""

import pytest

import agents
import mps
from helpers import P, allow_mps, capacity_on, events, is_tenant, note, on, placed, wait_gone, wait_policy
from waiting import wait_until

SERVER = 41


@pytest.fixture(name="policy", scope="module")
def fixture_policy():
    return "mps-for-test"


@pytest.fixture(name="ground")
def fixture_ground(stack, node, policy):
    """(node, its fake of MPS): an agent is there, and a policy asks for MPS."""
    where = node()
    if policy not in [one["metadata"]["name"] for one in stack.api.list("gpupolicies")]:
        stack.api.create("gpupolicies", {
            "apiVersion": P + "v1alpha1", "kind": "GPUPolicy", "metadata": {"name": policy},
            "spec": {"selector": {"podSelector": {"matchLabels": {"mode": "mps"}}},
                     "sharing": {"isolation": "MPS", "idleGraceSeconds": 2}}})
    wait_policy(stack, policy)
    allow_mps(stack, policy)
    agents.start_product(stack, [where])
    yield where, mps.FakeMps(stack.kubelet.state()["nodes"][where]["folder"])
    agents.stop(stack)


def tenant(stack, where, name, policy, annotations=(), **options):
    stack.create_pod(name, fraction="0.25", labels={"mode": "mps"},
                     annotations={P + "policy": policy, **dict(annotations)}, **{**on(where), **options})
    return stack.wait_running(name, 60)


def wait_daemons(stack, where, state, timeout=60):
    wait_until(lambda: agents.figure(stack, where, "aliquot_agent_mps_daemons", state=state) == 1, timeout,
               lambda: "a daemon to be %s\n%s" % (state, agents.log(stack, where)), ignore=(OSError,))


def pid_of(stack, where, pod):
    """The number of its process on the node, as the driver and a daemon there would tell it."""
    folder = stack.kubelet.state()["nodes"][where]["folder"]
    return mps.pids_of(folder, pod["metadata"]["uid"])[0]


def clients(fake, pids, state="ACTIVE"):
    fake.scenario("reply get_server_list %d" % SERVER, "reply get_server_status " + state,
                  "reply get_client_list " + "\\n".join(map(str, pids)))


def test_g24_who_goes_is_ended_before_it_is_killed_and_nobody_else(stack, ground, name, policy):
    where, fake = ground
    # It does not leave before it is killed.
    going = tenant(stack, where, name(), policy, {"fake.kubelet/ignore-term": "true"})
    staying = tenant(stack, where, name(), policy)
    uuid = note(going, "gpu-uuid")
    assert note(staying, "gpu-uuid") == uuid
    # The daemon was started, in order, before a tenant came; the agent may ask for its servers meanwhile.
    assert fake.journal("compute-mode", "start", "command set_")[:3] == [
        "compute-mode %s 3" % uuid, "start -d -M pipe=755 log=755 stale=0 ready=0",
        "command set_default_active_thread_percentage 100 ready=0"], fake.journal()
    wait_daemons(stack, where, "Active")
    leaves, remains = pid_of(stack, where, going), pid_of(stack, where, staying)
    clients(fake, [leaves, remains])
    wait_until(lambda: agents.figure(stack, where, "aliquot_agent_mps_clients") == 2, 60, "two clients",
               ignore=(OSError,))
    assert not fake.journal("command terminate_client")
    stack.api.delete("pods", going["metadata"]["name"], "default", grace=6)
    wait_gone(stack, going["metadata"]["name"])
    ended = fake.journal("command terminate_client")
    assert {line.split()[2:4] == [str(SERVER), str(leaves)] for line in ended} == {True}, ended
    # Nothing that looks as if it changed a limit of a client was ever sent.
    assert {line.split()[1] for line in fake.journal("command set_")} == {"set_default_active_thread_percentage"}


def test_g29_an_empty_gpu_is_left_as_it_was(stack, ground, name, policy):
    where, fake = ground
    pod = tenant(stack, where, name(), policy)
    uuid = note(pod, "gpu-uuid")
    stack.api.delete("pods", pod["metadata"]["name"], "default", grace=1)
    wait_until(lambda: not capacity_on(stack, where), 60, lambda: "the capacity pod to go\n%s\n%s" % (
        stack.leader().log(3000), agents.log(stack, where, 3000)))
    # It goes, and is not gone: what it does last, and what the agent asks meanwhile, may come yet.
    wait_until(lambda: fake.journal("compute-mode")[-1] == "compute-mode %s 0" % uuid, 60, fake.journal)
    assert "command quit ready=0" in fake.journal()


@pytest.mark.timeout(400)
def test_g29_a_mode_that_a_killed_daemon_left_is_told_until_it_is_set_back(stack, ground, name, policy):
    where, fake = ground
    pod = tenant(stack, where, name(), policy)
    uuid = note(pod, "gpu-uuid")
    stack.api.delete("pods", pod["metadata"]["name"], "default", grace=1)
    wait_until(lambda: not capacity_on(stack, where), 60, "the capacity pod to go")
    wait_until(lambda: fake.journal("compute-mode")[-1] == "compute-mode %s 0" % uuid, 60, fake.journal)

    def left():
        return agents.figure(stack, where, "aliquot_agent_compute_modes_left")
    assert left() == 0
    # As if it had been killed before that.
    fake.note("compute-mode %s 3" % uuid)
    wait_until(lambda: left() == 1, 90, lambda: "the mode to be told\n" + agents.log(stack, where), ignore=(OSError,))
    assert "a GPU is left in a mode for one process at a time" in agents.log(stack, where)
    # A person does what the log says. A capacity pod of the mode that came now would be given back where its agent's word came first.
    fake.note("compute-mode %s 0" % uuid)
    wait_until(lambda: left() == 0, 60, lambda: "it to be over\n" + agents.log(stack, where), ignore=(OSError,))


def test_g25_a_fault_is_told_and_holds_new_tenants_off_until_it_is_over(stack, ground, name, policy):
    where, fake = ground
    pod, late = tenant(stack, where, name(), policy), name()
    wait_daemons(stack, where, "Active")
    clients(fake, [pid_of(stack, where, pod)], "FAULT")
    wait_daemons(stack, where, "Fault")
    wait_until(lambda: events(stack, pod, "MpsHeldOff"), 60, "its tenant to be told")
    stack.create_pod(late, fraction="0.25", labels={"mode": "mps"}, annotations={P + "policy": policy}, **on(where))
    waiting = stack.wait_pod(late, lambda one: placed(one).get("reason") == "MpsHeldOff", 60)
    assert "a fault of one client has reached all of them" in placed(waiting)["message"]
    clients(fake, [pid_of(stack, where, pod)])
    assert note(stack.wait_running(late, 60), "gpu-uuid") == note(pod, "gpu-uuid")
    assert len(events(stack, pod, "MpsHeldOff")) == 1
    wait_daemons(stack, where, "Active")
