"""Admission policies of others that refuse what Aliquot writes, or what it makes of a pod, on the real control plane
with played kubelets (C2, C3, C13)."""

import contextlib

import pytest

from helpers import P, events, gates, is_tenant, is_whole, note, on, placed
from test_status import told
from waiting import wait_until

from api import ApiError

STACK = {"nodes": [("leaving", 1), ("refused", 1), ("open", 1), ("plain", 4)],
         "arguments": ["--idle-grace-seconds=2"]}
UPGRADE = "nvidia.com/gpu-driver-upgrade-state"
GATE_FREE = "!has(object.spec.schedulingGates) || object.spec.schedulingGates.all(g, g.name != '%sgpu')" % P
WORDS = "not the way we do it here"


@contextlib.contextmanager
def policy(stack, name, namespaces, expression, probe):
    """Pods of these namespaces are refused unless the expression holds. It stands once PROBE is refused."""
    where = {"matchLabels": {}, "matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(namespaces)}]}
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    stack.api.create("validatingadmissionpolicies", {**kind, "kind": "ValidatingAdmissionPolicy", "spec": {
        "matchConstraints": {"namespaceSelector": where, "resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]},
        "validations": [{"expression": expression, "message": WORDS}]}})
    stack.api.create("validatingadmissionpolicybindings", {**kind, "kind": "ValidatingAdmissionPolicyBinding", "spec": {
        "policyName": name, "validationActions": ["Deny"]}})

    def stands():
        try:
            stack.api.create("pods", probe, namespace=probe["metadata"]["namespace"], dryRun="All")
        except ApiError as error:
            return WORDS in str(error)
        return False
    try:
        wait_until(stands, 60, "the policy to stand")
        yield
    finally:
        for resource in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
            stack.api.delete(resource, name)


@contextlib.contextmanager
def namespace(stack, name):
    stack.api.create("namespaces", {"metadata": {"name": name}})
    try:
        yield name
    finally:
        with contextlib.suppress(ApiError):
            stack.api.delete("deployments", "web", name)
        stack.api.delete("namespaces", name)


def deploy(stack, space, node, count=1):
    """Its template asks for a share by an annotation of its own."""
    pod = stack.pod("any", fraction="0.25", labels={"of": "web"}, **on(node))
    stack.api.create("deployments", {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": count, "selector": {"matchLabels": {"of": "web"}},
                 "template": {"metadata": {key: pod["metadata"][key] for key in ("labels", "annotations")},
                              "spec": {key: value for key, value in pod["spec"].items()}}}}, namespace=space)


def pods(stack, space):
    return [pod for pod in stack.api.list("pods", space, labelSelector="of=web")
            if not pod["metadata"].get("deletionTimestamp")]


def running(stack, space, timeout=60):
    return wait_until(lambda: [p for p in pods(stack, space) if p["status"].get("phase") == "Running"], timeout,
                      lambda: "a pod of %s\n%s" % (space, stack.logs()))


def refused_conversions(stack):
    return sum(c.metric('aliquot_admission_total{verdict="whole",reason="ConvertedRefused"}') or 0
               for c in stack.controllers)


@pytest.fixture(scope="module")
def strict(stacks):
    with namespace(stacks.use(STACK), "strict") as space:
        yield space


def test_c2_pods_that_a_validator_refuses_once_they_are_converted_run_whole(stack, strict):
    with namespace(stack, "easy") as easy:
        probe = stack.pod("probe", namespace=strict, fraction="0.25")
        with policy(stack, "no-gates", [strict], GATE_FREE, probe):
            deploy(stack, strict, "plain")
            # Its owner tries after 5, 10, 20 and 40 s, and a watch that is silent for 15 s counts.
            pod, = running(stack, strict, 120)
            assert is_whole(pod)
            assert refused_conversions(stack) >= 1
            deploy(stack, easy, "plain")
            other, = running(stack, easy)
            assert is_tenant(other) and not gates(other)


@pytest.fixture
def leaver(stack):
    """A Deployment's tenant on a node that is about to leave."""
    with namespace(stack, "leaver") as space:
        deploy(stack, space, "leaving")
        pod, = running(stack, space)
        try:
            yield pod
        finally:
            stack.api.patch("nodes", "leaving", {"metadata": {"labels": {UPGRADE: None}}})


def test_c3_c13_a_policy_against_our_pods_is_named_and_stops_nothing_else(stack, leaver):
    stack.create_pod("first", fraction="0.5", **on("open"))
    stack.wait_running("first")
    probe = stack.pod("probe", namespace="aliquot-system", gpus=0)
    wait_until(lambda: stack.leader().metric("aliquot_webhook_reachable") == 1, 60, "the canary")
    with policy(stack, "house-images", ["aliquot-system", "aliquot-canary"], "false", probe):
        stack.create_pod("waits", fraction="0.5", **on("refused"))
        pod = stack.wait_pod("waits", lambda p: placed(p).get("reason") == "PolicyRefused", 60, what="its reason")
        assert "the admission policy house-images refuses" in placed(pod)["message"], placed(pod)
        assert WORDS in placed(pod)["message"], placed(pod)
        assert stack.leader().metric('aliquot_tenants_waiting{reason="PolicyRefused"}') == 1
        # Whoever fits on a GPU that is open is placed there.
        stack.create_pod("second", fraction="0.5", **on("open"))
        second = stack.wait_running("second")
        assert note(second, "gpu-uuid") == note(stack.get_pod("first"), "gpu-uuid")
        # Nobody knows whether the webhook is reached, and a node is emptied all the same.
        wait_until(lambda: stack.leader().metric("aliquot_webhook_reachable") == -1, 90, "the canary to be refused")
        # A person sees it, too, from the next renewal of the Lease on.
        wait_until(lambda: told(stack.plane.kubeconfig("admin"))["controller"]["canaryRefusedBy"]
                   == "house-images", 60, "the refusal in the status")
        stack.api.patch("nodes", "leaving", {"metadata": {"labels": {UPGRADE: "drain-required"}}})
        said = wait_until(lambda: events(stack, leaver, "NodeLeaves"), 60, lambda: "its eviction\n" + stack.logs())
        assert "drain-required" in said[0]["message"]
        name = leaver["metadata"]["name"]
        wait_until(lambda: stack.api.find("pods", name, "leaver") is None, 60, "the tenant to leave")
    # It is tried again by itself.
    stack.wait_running("waits", 120)
    wait_until(lambda: stack.leader().metric("aliquot_webhook_reachable") == 1, 90, "the canary to come back")
    for name in ("first", "second", "waits"):
        stack.api.delete("pods", name, "default", grace=1)


def test_c2_where_the_validator_is_gone_they_are_converted_again(stack, strict):
    """The next try is a minute away at least; the test before this one takes most of that."""
    def converted():
        for pod in pods(stack, strict):
            if is_tenant(pod):
                return True
            with contextlib.suppress(ApiError):
                stack.api.delete("pods", pod["metadata"]["name"], strict, grace=0)
        return False
    wait_until(converted, 180, lambda: "conversion to come back\n" + stack.logs(), every=2)
    assert is_tenant(running(stack, strict)[0])


# What policies of many clusters ask of each pod.
GOOD_MANNERS = """object.spec.containers.all(c, c.image.startsWith('aliquot:') &&
  has(c.resources.requests) && 'cpu' in c.resources.requests && 'memory' in c.resources.requests &&
  has(c.resources.limits) && 'cpu' in c.resources.limits && 'memory' in c.resources.limits)"""
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


def test_c3_policies_that_ask_for_good_manners_take_the_canary(stack):
    """An image from known places, requests, limits, and Pod Security's restricted. A new leader has seen nothing yet."""
    enforced = stack.api.get("namespaces", "aliquot-canary")["metadata"]["labels"]
    probe = stack.pod("probe", namespace="aliquot-canary", gpus=0)
    with policy(stack, "good-manners", ["aliquot-canary"], GOOD_MANNERS, probe):
        stack.api.patch("namespaces", "aliquot-canary", {"metadata": {"labels": RESTRICTED}})
        try:
            stack.controllers[0].stop()
            stack.controllers[0].start()
            wait_until(lambda: stack.leader() and stack.leader().metric("aliquot_webhook_reachable") == 1, 60,
                       lambda: "the canary to be taken\n" + stack.logs())
        finally:
            stack.api.patch("namespaces", "aliquot-canary", {"metadata": {"labels": {
                key: enforced[key] for key in RESTRICTED}}})
