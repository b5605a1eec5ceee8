"""Which policy holds for a pod, what it does to its share, and what its status shows (O1 to O6)."""

import contextlib
import time

import pytest

import asking
from api import ApiError
from asking import create_warned
from helpers import P, events, is_tenant, is_whole, note, on, pin
from invariants import is_capacity
from waiting import wait_until, within

STACK = asking.STACK
EVERY = {"podSelector": {}}


class Policies:
    """GPUPolicies of one test, for the namespace with the label of that test."""

    def __init__(self, stack, space, label):
        self.stack, self.space, self.label = stack, space, label
        self.made = []

    def make(self, name, **spec):
        if "isDefault" not in spec:
            spec.setdefault("selector", {"namespaceSelector": {"matchLabels": self.label}})
        made = self.stack.api.create("gpupolicies", {
            "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUPolicy",
            "metadata": {"name": name}, "spec": spec})
        self.made.append(name)
        return made

    def remove(self, name):
        self.made.remove(name)
        self.stack.api.delete("gpupolicies", name)

    def pod(self, fraction="0.5", **options):
        """(pod, warnings) as a pod created now would be."""
        obj = self.stack.pod("asks", self.space, fraction=fraction, **options)
        return create_warned(self.stack.api, obj, dryRun="All")

    def applied(self, **options):
        return note(self.pod(**options)[0], "policy-applied")

    def wait_applied(self, wanted, timeout=60, **options):
        wait_until(lambda: self.applied(**options) == wanted, timeout,
                   lambda: "%s, not %s" % (wanted, self.applied(**options)))

    def status(self, name):
        return self.stack.api.get("gpupolicies", name).get("status", {})

    def wait_status(self, name, **wanted):
        """Fields of the status; conditions by their type as "True" or "False"."""
        def shows():
            status = self.status(name)
            shown = dict(status, **{c["type"]: c["status"] for c in status.get("conditions", [])})
            return all(shown.get(key) == value for key, value in wanted.items()) and status
        return wait_until(shows, 60, lambda: "%s of %s, not %s" % (wanted, name, self.status(name)))


@pytest.fixture
def policies(stack):
    """The label is the namespace's own, so policies of one test mean nothing to another."""
    label = {"aliquot.test/of": "policies"}
    with asking.namespace(stack, labels=label) as space:
        found = Policies(stack, space, label)
        yield found
        for name in list(found.made):
            with contextlib.suppress(ApiError):
                found.remove(name)
        wait_until(lambda: found.applied() == "builtin-default@1", 60, "the policies to be gone")


def test_the_higher_priority_holds_until_it_is_gone(policies):
    """O1: within 30 s."""
    assert policies.applied() == "builtin-default@1"
    policies.make("a", priority=100)
    policies.wait_applied("a@1")

    def gone():
        policies.make("b", priority=200)
        policies.wait_applied("b@1")
        policies.remove("b")
        began = time.monotonic()
        policies.wait_applied("a@1", 60)
        return time.monotonic() - began
    within(30, gone)


def test_of_equals_the_older_holds_and_the_other_says_so(policies):
    """O2; made within one second it is the name that decides, which is the age's order here."""
    older = policies.make("m-older")
    policies.wait_applied("m-older@1")

    def later():
        made = policies.make("a-newer")
        if made["metadata"]["creationTimestamp"] > older["metadata"]["creationTimestamp"]:
            return True
        policies.remove("a-newer")
        return False
    wait_until(later, 60, "another second", every=0.3)
    for name in ("pod", "other"):
        policies.stack.create_pod(name, namespace=policies.space, **asking.NOWHERE)
    policies.wait_status("m-older", matchedWorkloads=2, Overlapping="False", Ready="True")
    policies.wait_status("a-newer", matchedWorkloads=0, Overlapping="True", Accepted="True")
    assert policies.applied() == "m-older@1"
    policies.remove("m-older")
    policies.wait_applied("a-newer@1")
    policies.wait_status("a-newer", matchedWorkloads=2, Overlapping="False")


def test_an_annotation_beats_every_selector(policies):
    """O3: the pod's, then the namespace's; a name that does not exist is never replaced."""
    policies.make("b", priority=10000)
    policies.make("c", selector={"podSelector": {"matchLabels": {"never": "matches"}}})
    policies.make("d", selector={"podSelector": {"matchLabels": {"never": "matches"}}})
    policies.wait_applied("b@1")
    policies.wait_applied("c@1", annotations={P + "policy": "c"})
    with asking.namespace(policies.stack, {P + "default-policy": "d"}, policies.label) as space:
        own, policies.space = policies.space, space
        try:
            policies.wait_applied("d@1")
            assert policies.applied(annotations={P + "policy": "c"}) == "c@1"
        finally:
            policies.space = own


def test_a_policy_that_does_not_exist(policies, name):
    """O3: the pod starts whole; its creator, an event and a condition name the policy."""
    policies.make("b")
    policies.wait_applied("b@1")
    obj = policies.stack.pod(name(), policies.space, fraction="0.5",
                             annotations={P + "policy": "nowhere"})
    pod, warnings = create_warned(policies.stack.api, obj)
    assert is_whole(pod) and "GPUPolicy nowhere does not exist" in "".join(warnings), warnings
    pod = policies.stack.wait_pod(
        pod["metadata"]["name"], lambda p: asking.told(p, "PolicyNotFound"), 60,
        policies.space, "a condition")
    assert "nowhere" in asking.told(pod, "PolicyNotFound")
    assert pod["status"]["phase"] in ("Pending", "Running")
    wait_until(lambda: events(policies.stack, pod, "PolicyNotFound"), 60, "an event")
    policies.wait_status("b", matchedWorkloads=0)


def test_excluded_pods_stay_whole(policies):
    """O4: by the namespace's default, by the pod; a pod's own "false" lifts the namespace's."""
    api = policies.stack.api
    assert is_tenant(policies.pod()[0])
    pod, warnings = policies.pod(annotations={P + "exclude": "true"})
    assert is_whole(pod) and "excluded" in "".join(warnings)
    running = policies.stack.create_pod("runs", namespace=policies.space, fraction="0.25",
                                        nodeSelector={"kubernetes.io/hostname": "wide-1"})
    assert is_tenant(running)
    before = policies.stack.wait_running("runs", namespace=policies.space)
    api.patch("namespaces", policies.space, {"metadata": {"annotations": {
        P + "default-exclude": "true"}}})
    wait_until(lambda: is_whole(policies.pod()[0]), 60, "the namespace to be excluded")
    assert is_tenant(policies.pod(annotations={P + "exclude": "false"})[0])
    after = policies.stack.get_pod("runs", policies.space)
    assert after["spec"] == before["spec"]
    assert after["metadata"]["annotations"] == before["metadata"]["annotations"]
    pod, warnings = policies.pod(annotations={P + "exclude": "perhaps"})
    assert is_whole(pod) and 'write "true" or "false"' in "".join(warnings), warnings
    api.patch("namespaces", policies.space, {"metadata": {"annotations": None}})
    wait_until(lambda: is_tenant(policies.pod()[0]), 60, "the namespace to be taken back")


@pytest.mark.parametrize("spec, sentence", [
    ({"compute": {"minPercent": 60, "maxPercent": 50}}, "is above compute.maxPercent"),
    ({"compute": {"minPercent": "0.5"}}, "must be of type integer"),
    ({"compute": {"minPercent": 0}}, "greater than or equal to 1"),
    ({"memory": {"min": "8Gi", "max": "4Gi"}}, "memory"),
    ({"memory": {"min": "8GB"}}, "memory"),
    ({"sharing": {"maxTenants": 65}}, "less than or equal to 64"),
    ({"mode": "Maybe"}, "supported values"),
    ({"selector": {}}, "selector"),
], ids=lambda value: value if isinstance(value, str) else None)
def test_bounds_that_mean_nothing_are_refused(policies, spec, sentence):
    """O5."""
    with pytest.raises(ApiError) as caught:
        policies.make("refused", **spec)
    assert caught.value.status == 422 and sentence in caught.value.message, caught.value


def test_modes(policies):
    """O6: Recommend and Automate change no pod by themselves; Disabled beats the annotation."""
    policies.make("mode", mode="Recommend")
    policies.wait_applied("mode@1")
    policies.stack.create_pod("plain", namespace=policies.space, **asking.NOWHERE)
    policies.wait_status("mode", matchedWorkloads=1, automatedWorkloads=0, observedGeneration=1)
    before = policies.stack.get_pod("plain", policies.space)
    assert is_whole(policies.pod(fraction=None)[0])
    policies.stack.api.patch("gpupolicies", "mode", {"spec": {"mode": "Automate"}})
    policies.wait_applied("mode@2")
    policies.wait_status("mode", automatedWorkloads=1, observedGeneration=2)
    assert is_whole(policies.pod(fraction=None)[0])
    policies.stack.api.patch("gpupolicies", "mode", {"spec": {"mode": "Disabled"}})
    wait_until(lambda: is_whole(policies.pod()[0]), 60, "Disabled")
    pod, warnings = policies.pod()
    assert "mode Disabled, policy mode" in "".join(warnings), warnings
    assert is_tenant(policies.pod(annotations={P + "mode": "Recommend"})[0])
    policies.wait_status("mode", automatedWorkloads=0, observedGeneration=3)
    pod, warnings = policies.pod(annotations={P + "mode": "automatic"})
    assert is_whole(pod) and "write Recommend, Automate or Disabled" in "".join(warnings)
    after = policies.stack.get_pod("plain", policies.space)
    assert after["metadata"].get("annotations") == before["metadata"].get("annotations")
    assert after["spec"] == before["spec"]


def test_a_share_is_kept_within_the_bounds(policies, node, name):
    """C6: clamped, told, and so placed; a built-in policy never clamps."""
    assert note(policies.pod(fraction="0.01")[0], "share") == "0.01"
    policies.make("narrow", compute={"minPercent": 20, "maxPercent": 40},
                  memory={"min": "4Gi", "max": "16Gi"})
    policies.wait_applied("narrow@1")
    for asked, given in (("0.01", "0.20"), ("0.9", "0.40"), ("0.3", "0.30")):
        pod, warnings = policies.pod(fraction=asked)
        assert note(pod, "share") == given
        assert bool(warnings) == (float(asked) != float(given)), warnings
        if warnings:
            assert "GPUPolicy narrow" in warnings[0] and "gets %s GPU" % given in warnings[0]
    for asked, given in (("1Gi", "4Gi"), ("70Gi", "16Gi"), ("8Gi", "8Gi")):
        assert note(policies.pod(fraction=None, memory=asked)[0], "memory") == given
    pod_name = name()
    policies.stack.create_pod(pod_name, namespace=policies.space, fraction="0.9", memory="70Gi",
                              **on(node()))
    pod = policies.stack.wait_running(pod_name, 60, policies.space)
    assert (note(pod, "compute-milli"), note(pod, "memory-mib")) == ("400", "16384")
    assert note(pod, "policy-applied") == "narrow@1"


def test_c12_an_idle_gpu_stays_as_long_as_its_last_tenants_policy_says(policies, node, say):
    """Two seconds without a policy, here thirty: of two that are left at the same time the other goes first."""
    policies.make("lasting", sharing={"idleGraceSeconds": 30})
    policies.wait_applied("lasting@1")
    stack, where = policies.stack, {policies.space: node(), "default": node()}
    for space, at in where.items():
        stack.create_pod("idles", namespace=space, fraction="0.5", **on(at))
        stack.wait_running("idles", 60, space)
    start = stack.api.list_raw("pods", "aliquot-system")["metadata"]["resourceVersion"]
    # Counted from before: the controller sees later that the tenant is gone.
    began, left = time.monotonic(), {}
    for space in where:
        stack.api.delete("pods", "idles", space, grace=1)
    # The order is that of the versions, however late they are looked at.
    for kind, obj in stack.api.watch("pods", "aliquot-system", version=start, timeout=150):
        at = next((one for one in where.values() if one in (obj["spec"].get("nodeName"), pin(obj))), None)
        if is_capacity(obj) and at is not None and (kind == "DELETED" or obj["metadata"].get("deletionTimestamp")):
            left.setdefault(at, time.monotonic() - began)
        if len(left) == len(where):
            break
    assert list(left) == [where["default"], where[policies.space]], left
    plain, lasting = left.values()
    say("it left after %.1f s, without the policy after %.1f s" % (lasting, plain))
    assert lasting > 30


def test_the_fallback_stands_where_nothing_else_does(policies):
    """The built-in before, a person's Fallback after; a selector and its absence decide again."""
    assert policies.applied() == "builtin-default@1"
    policies.make("fallback", isDefault="Fallback", compute={"maxPercent": 30})
    policies.wait_applied("fallback@1")
    assert note(policies.pod(fraction="0.9")[0], "share") == "0.30"
    policies.stack.create_pod("one", namespace=policies.space, **asking.NOWHERE)
    wait_until(lambda: policies.status("fallback").get("matchedWorkloads", 0) >= 1, 60, "a match")
    policies.make("chosen", priority=0)
    policies.wait_applied("chosen@1")
    policies.wait_status("chosen", matchedWorkloads=1)
    policies.remove("chosen")
    policies.wait_applied("fallback@1")
    assert policies.applied(annotations={P + "policy": "builtin-default"}) == "builtin-default@1"


def test_workloads_are_counted_not_pods(policies):
    """A Deployment of three and a bare pod are two workloads, found by the kind of the owner."""
    meta = {"labels": {"app": "counted"}}
    spec = policies.stack.pod("x", **asking.NOWHERE)["spec"]
    for kind, name in (("Deployment", "deploy"), ("ReplicaSet", "set")):
        policies.stack.api.create(kind.lower() + "s", {
            "apiVersion": "apps/v1", "kind": kind,
            "metadata": {"name": name, "namespace": policies.space},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": spec}}})
    policies.stack.create_pod("bare", namespace=policies.space, labels=meta["labels"],
                              **asking.NOWHERE)
    policies.make("all", priority=1, mode="Automate")
    policies.wait_status("all", matchedWorkloads=3, automatedWorkloads=3)
    policies.make("deployments", priority=2, selector={
        "namespaceSelector": {"matchLabels": policies.label},
        "ownerKinds": [{"group": "apps", "kind": "Deployment"}]})
    policies.wait_status("deployments", matchedWorkloads=1, automatedWorkloads=0)
    policies.wait_status("all", matchedWorkloads=2, automatedWorkloads=2)
    policies.stack.api.delete("replicasets", "set", policies.space,
                              propagationPolicy="Background")
    policies.wait_status("all", matchedWorkloads=1)


def test_a_status_that_is_right_is_not_written_again(policies):
    """And its times tell when something became so, not when it was last said."""
    policies.make("quiet")
    before = policies.wait_status("quiet", matchedWorkloads=0, observedGeneration=1, Ready="True")
    version = policies.stack.api.get("gpupolicies", "quiet")["metadata"]["resourceVersion"]
    policies.stack.create_pod("one", namespace=policies.space, **asking.NOWHERE)
    after = policies.wait_status("quiet", matchedWorkloads=1)
    now = policies.stack.api.get("gpupolicies", "quiet")["metadata"]
    # What is written of another one comes after whatever was to be written of this one.
    policies.make("later", selector={"podSelector": {"matchLabels": {"never": "matches"}}})
    policies.wait_status("later", observedGeneration=1, Ready="True")
    writes = _writes(policies.stack.api, "quiet", version)
    assert writes == [now["resourceVersion"]], writes
    assert {c["type"]: c["lastTransitionTime"] for c in before["conditions"]} == {
        c["type"]: c["lastTransitionTime"] for c in after["conditions"]}


def _writes(api, name, since):
    """The versions that others wrote since; the last that is looked at is our own."""
    last = api.patch("gpupolicies", name, {"metadata": {"labels": {"aliquot.test/last": "true"}}})
    found = []
    for _, obj in api.watch("gpupolicies", version=since, timeout=60):
        if obj["metadata"]["resourceVersion"] == last["metadata"]["resourceVersion"]:
            return found
        if obj["metadata"]["name"] == name:
            found.append(obj["metadata"]["resourceVersion"])
    raise AssertionError("the watch ended before our own write")
