"""The overlay `restricted` (C28), come to as docs/operating.md says: a cluster with tenants moves its agents into a namespace
of their own, and aliquot-system enforces Pod Security's `restricted` from then on.

On a control plane of its own, because what moves is the cluster's.
"""

import os

import pytest

import agents
import certificates
import controlplane
import manifests
import signing
from helpers import P, note, on
from stack import Stack
from test_agent_key import DENIED, HEARD, heard, of_node, shown
from test_isolation import create_warned
from waiting import wait_until

HOME, AGENTS = "aliquot-system", "aliquot-agents"
NODES = [("moved-0", 1), ("moved-1", 1), ("moved-2", 2)]
NAMES = [name for name, _ in NODES]
BEFORE = "there-before"


@pytest.fixture(scope="module")
def stack():
    """Agents and a tenant of the default installation, then the move."""
    with controlplane.ControlPlane.up(with_parent=os.getpid()) as plane:
        with Stack.up(plane, NODES, arguments=["--idle-grace-seconds=2"], service=True) as found:
            agents.start_product(found, NAMES[:1])
            found.create_pod(BEFORE, fraction="0.5", **on("moved-0"))
            found.wait_running(BEFORE)
            heard(found, "moved-0")
            move(found)
            yield found
            if found.api.find("daemonsets", "aliquot-agent", AGENTS):
                agents.end_product(found)
        assert not found.findings(), found.findings()


def move(stack):  # pylint: disable=redefined-outer-name
    """`kubectl apply -k`, and what it does not take away."""
    old, = stack.controllers
    stack.take("restricted")
    for obj in manifests.with_webhook_url(stack.rendered(), "https://127.0.0.1:%d/admit" % stack.webhook_port):
        if obj["kind"] not in manifests.WORKLOADS:
            stack.api.apply(obj)
    stack.add_controller()
    old.stop()
    stack.controllers.remove(old)
    assert not old.findings(), old.findings()
    stack.api.delete("daemonsets", "aliquot-agent", HOME, propagationPolicy="Background")
    for kind in ("serviceaccounts", "secrets", "networkpolicies"):
        stack.api.delete(kind, "aliquot-agent", HOME)
    stack.wait_leader()
    stack.wait_converting()
    agents.start_product(stack, NAMES)


def test_who_ran_before_runs_and_is_heard_of(stack):
    pod = stack.get_pod(BEFORE)
    assert pod["status"]["phase"] == "Running" and not pod["metadata"].get("deletionTimestamp")
    assert not any(status["restartCount"] for status in pod["status"]["containerStatuses"])
    heard(stack, "moved-0")
    assert not [pod for pod in stack.api.list("pods", HOME, labelSelector=P + "agent")
                if not pod["metadata"].get("deletionTimestamp")]


def test_c28_tenants_are_placed_and_given_back_where_restricted_is_enforced(stack, name):
    """Capacity pods and probes are made there, and agents tell of their nodes from their own namespace."""
    assert stack.api.get("namespaces", HOME)["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    first, second = name(), name()
    for one in (first, second):
        stack.create_pod(one, fraction="0.5", **on("moved-1"))
    gpus = {note(stack.wait_running(one), "gpu-uuid") for one in (first, second)}
    assert len(gpus) == 1
    holder, = [pod for pod in stack.capacity_pods() if pod["spec"].get("nodeName") == "moved-1"]
    assert note(holder, "injection"), "a probe was made, and came back"
    heard(stack, "moved-1")
    assert "DNS:" + signing.agent_name("moved-1") in shown(stack, "moved-1")
    request, = of_node(stack, "moved-1")
    assert request["spec"]["username"] == "system:serviceaccount:aliquot-agents:aliquot-agent"
    for one in (first, second):
        stack.api.delete("pods", one, "default", grace=1)
    wait_until(lambda: not [pod for pod in stack.capacity_pods() if pod["spec"].get("nodeName") == "moved-1"], 60,
               lambda: "the GPU to be given back\n" + stack.account())


def test_use_is_read_from_agents_there(stack):
    leader = stack.wait_leader()
    read = 'aliquot_usage_reads_total{source="agent",verdict="ok"'
    wait_until(lambda: leader.metric(read) > 0, 60, lambda: "use to be read\n" + leader.log())


def test_the_certificate_that_agents_may_share_is_in_their_namespace(stack):
    wait_until(lambda: certificates.secret(stack, "aliquot-agent", AGENTS).get("tls.crt"), 60,
               lambda: "the certificate\n" + stack.logs())
    assert stack.api.find("secrets", "aliquot-agent", HOME) is None


def test_an_agent_of_the_former_namespace_is_not_asked(stack, name):
    """The fake kubelet plays one, with the certificate that agents may share: were it asked, it would be denied."""
    impostor, one = name(), name()
    leader = stack.wait_leader()
    denied, well = leader.metric(DENIED), leader.metric(HEARD)
    stack.api.create("pods", {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": impostor, "namespace": HOME, "labels": {P + "agent": "true", P + "agent-key": "own"}},
        "spec": {"nodeName": "moved-2", "automountServiceAccountToken": False, "terminationGracePeriodSeconds": 1,
                 "securityContext": {"runAsNonRoot": True, "runAsUser": 60811, "seccompProfile": {"type": "RuntimeDefault"}},
                 "containers": [{"name": "agent", "image": "app", "ports": [{"name": "state", "containerPort": 10251}],
                                 "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}]}})
    stack.wait_running(impostor, namespace=HOME)
    stack.create_pod(one, fraction="0.5", **on("moved-2"))
    stack.wait_running(one)
    heard(stack, "moved-2")
    wait_until(lambda: leader.metric(HEARD) > well + 9, 60, lambda: "agents to be asked\n" + leader.log())
    assert leader.metric(DENIED) == denied, leader.log()
    stack.api.delete("pods", impostor, HOME, grace=0)
    stack.api.delete("pods", one, "default", grace=1)


def test_c28_there_is_no_mps_and_that_is_said(stack, name):
    """Its namespace would allow it; that of the capacity pods does not."""
    stack.api.create("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": "walled", "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}})
    stack.api.create("gpupolicies", {
        "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUPolicy", "metadata": {"name": "walled"},
        "spec": {"selector": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "walled"}}},
                 "sharing": {"isolation": "MPS"}}})
    wait_until(lambda: stack.api.find("serviceaccounts", "default", "walled"), 60, "the account")
    title = name()
    obj = stack.pod(title, "walled", fraction="0.5", **on("moved-2"))
    wait_until(lambda: note(create_warned(stack.api, obj, dryRun="All")[0], "isolation"), 60, "the policy to be known")
    stored, said = create_warned(stack.api, obj)
    assert [line for line in said if "asks for isolation MPS, but the namespace aliquot-system, where capacity pods are, "
            "enforces Pod Security restricted" in line], said
    assert note(stored, "isolation") == "None"
    stack.wait_running(title, namespace="walled")
    stack.api.delete("pods", title, "walled", grace=1)
    wait_until(lambda: stack.api.find("pods", title, "walled") is None, 60, "it to go")
    stack.api.delete("gpupolicies", "walled")


def test_what_stands_in_for_tenants_is_taken_there_too(stack, name):
    """C14: a replica that asks autoscalers for nodes."""
    former = stack.wait_leader()
    stack.add_controller(["--scale-up-seconds=1"])
    former.stop()
    stack.controllers.remove(former)
    stack.wait_converting()
    one = name()
    stack.create_pod(one, fraction="0.5", nodeSelector={"example.com/pool": "none"})
    wait_until(lambda: stack.api.list("pods", HOME, labelSelector=P + "companion=true"), 60,
               lambda: "what stands in\n" + stack.account())
    stack.api.delete("pods", one, "default", grace=1)


def test_the_documented_way_to_remove_it_leaves_nothing(stack):
    """Both namespaces go, and what is cluster-wide."""
    stack.clean()
    agents.end_product(stack)
    for controller in stack.controllers:
        controller.stop()
    for obj in stack.rendered():
        if obj["kind"] not in manifests.WORKLOADS and obj["metadata"].get("namespace") is None:
            stack.api.delete(stack.api.resource_of(obj)[0], obj["metadata"]["name"])

    def left():
        return [manifests.key_of(obj) for obj in stack.rendered() if obj["kind"] not in manifests.WORKLOADS and
                stack.api.find(stack.api.resource_of(obj)[0], obj["metadata"]["name"], obj["metadata"].get("namespace"))]
    wait_until(lambda: not left(), 120, lambda: "these to go: %s" % left())
