"""Nobody but the controller writes what it keeps (C8), tried on tenants that really run.

test/api shows each expression of the policy; here a tenant and its capacity pod are real, and after
every attempt the books, the ledger and the running container are what they were.
"""

import copy

import pytest

import asking
from api import ApiError
from helpers import P, capacity_on, gates, is_tenant, is_whole, note, on, placed, seen
from waiting import wait_until

STACK = asking.STACK
CDI = "nvidia.cdi.k8s.io/container.main"
GUARDED = ["gpu-uuid", "visible-devices", "compute-milli", "memory-mib", "mps-threads",
           "mps-memory", "framework-memory", "capacity-pod", "term"]
HELD = GUARDED + ["original", "container", "share", "memory"]
HOME = "aliquot-system"
DEVICES = "NVIDIA_VISIBLE_DEVICES"


def refused(call, *args, **kwargs):
    """The sentence of the guard; CALL must not succeed."""
    with pytest.raises(ApiError) as caught:
        call(*args, **kwargs)
    error = caught.value
    assert (error.status, error.reason) == (403, "Forbidden"), error
    assert "'aliquot-guard'" in error.message and "only Aliquot" in error.message, error
    return error.message


@pytest.fixture(scope="module")
def live(stacks):
    """(stack, the tenant's name, its capacity pod's name), placed for real and watched over."""
    stack = stacks.use(STACK)
    stack.create_pod("guarded", fraction="0.25", memory="8Gi", **on(stacks.fresh[1].pop(0)))
    pod = stack.wait_running("guarded")
    # The kubelet may know sooner than the controller has heard back that the gate is off.
    wait_until(lambda: asking.books(stack)[0].get(("default", "guarded"), [True])[-1] is False, 60, "the books to have it")
    return stack, "guarded", note(pod, "capacity-pod")


def own_books(live_one):
    """What the books say of the live tenant, and nobody else's claim on its GPU."""
    stack, tenant, capacity = live_one
    tenants, ledgers = asking.books(stack)
    uuid = tenants["default", tenant][0]
    return {key: value for key, value in tenants.items() if value[0] == uuid}, ledgers[capacity]


@pytest.fixture
def unchanged(live):
    """After the test: the pods, the books and what the container sees are what they were."""
    stack, tenant, capacity = live

    def now():
        pod, held = stack.get_pod(tenant), stack.get_pod(capacity, HOME)
        return ([(p["metadata"].get("annotations"), p["metadata"]["labels"], p["spec"],
                  p["metadata"]["uid"]) for p in (pod, held)], own_books(live),
                seen(stack, pod))
    before = now()
    yield live
    assert now() == before
    assert before[2] == [note(stack.get_pod(tenant), "gpu-uuid")]


def annotations(**values):
    return {"metadata": {"annotations": values}}


@pytest.mark.parametrize("sub", [None, "status"])
@pytest.mark.parametrize("value", ["1000", "", None], ids=["changed", "emptied", "removed"])
def test_a_tenants_keys_stay(unchanged, sub, value):
    stack, tenant, _ = unchanged
    keys = [key for key in HELD if note(stack.get_pod(tenant), key) is not None]
    assert {"gpu-uuid", "visible-devices", "compute-milli", "memory-mib", "capacity-pod",
            "term", "original", "container", "share", "memory"} <= set(keys)
    for key in keys:
        said = refused(stack.api.patch, "pods", tenant, annotations(**{P + key: value}), "default",
                       sub)
        assert P + key in said and "leave these as they are" in said, said
    said = refused(stack.api.patch, "pods", tenant, {"metadata": {"labels": {P + "tenant": value}}},
                   "default", sub)
    assert P + "tenant" in said


@pytest.mark.parametrize("sub", [None, "status"])
def test_a_tenant_gets_no_further_key(unchanged, sub):
    stack, tenant, _ = unchanged
    for key in [P + "mps-threads", P + "framework-memory", CDI]:
        assert key in refused(stack.api.patch, "pods", tenant, annotations(**{key: "all"}),
                              "default", sub)


def test_every_kind_of_write_is_judged(unchanged):
    """A PUT, a JSON patch, an apply that takes the fields over, and the whole map at once."""
    stack, tenant, _ = unchanged
    forged = stack.get_pod(tenant)
    forged["metadata"]["annotations"][P + "compute-milli"] = "1000"
    assert P + "compute-milli" in refused(stack.api.replace, "pods", forged)
    path = "/metadata/annotations/aliquot.dev~1memory-mib"
    refused(stack.api.patch, "pods", tenant, [{"op": "remove", "path": path}], "default",
            kind="json")
    refused(stack.api.patch, "pods", tenant, {"metadata": {"annotations": None}}, "default")
    refused(stack.api.apply, {"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": tenant, "namespace": "default", "annotations": {P + "gpu-uuid": "GPU-forged"}}})
    refused(stack.api.bind, tenant, "default", "wide-0", {P + "gpu-uuid": "GPU-forged"})


def test_the_ledger_stays(unchanged):
    stack, _, capacity = unchanged
    for sub in (None, "status"):
        for value in ('{"v":1,"grants":[]}', "", None):
            assert P + "grants" in refused(stack.api.patch, "pods", capacity,
                                           annotations(**{P + "grants": value}), HOME, sub)
        for key in ("capacity", "in-use"):
            for value in ("false", None):
                assert P + key in refused(stack.api.patch, "pods", capacity, {
                    "metadata": {"labels": {P + key: value}}}, HOME, sub)


def wait_seen(stack, name):
    """Until the controller has seen every pod as it is now: of one that is made after all that, it says what is wrong."""
    title = name()
    stack.create_pod(title, fraction="?", **asking.NOWHERE)
    stack.wait_pod(title, lambda pod: placed(pod).get("reason") == "BadValue", 60, what="a condition")
    stack.api.delete("pods", title, "default", grace=0)


def test_what_is_not_ours_may_change(live, name):
    """The guard stops forging, not work: a person's own keys, also the wishes, stay free."""
    stack, tenant, capacity = live
    before = own_books(live)
    for body in (annotations(**{P + "gpu-fraction": "0.9", "example.com/a": "b"}),
                 {"metadata": {"labels": {"team": "ml"}}}):
        stack.api.patch("pods", tenant, body, "default")
    stack.api.patch("pods", capacity, annotations(**{"example.com/a": "b"}), HOME)
    wait_seen(stack, name)
    assert own_books(live) == before


def test_the_gate_is_not_taken_off_by_hand(stack, node, name):
    """As `kubectl edit` would; it stays, and the pod waits on with its reason."""
    where, first, second = node(), name(), name()
    stack.create_pod(first, fraction="0.9", **on(where))
    stack.wait_running(first)
    stack.create_pod(second, fraction="0.9", **on(where))
    for body, kind in (({"spec": {"schedulingGates": []}}, "merge"),
                       ({"spec": {"schedulingGates": None}}, "merge"),
                       ([{"op": "remove", "path": "/spec/schedulingGates/0"}], "json")):
        said = refused(stack.api.patch, "pods", second, body, "default", kind=kind)
        assert P + "exclude" in said and "delete the pod" in said, said
    pod = stack.wait_pod(second, lambda found: placed(found).get("reason") == "ShortCompute", 60, what="a condition")
    assert gates(pod) == [P + "gpu"]
    with pytest.raises(ApiError) as caught:
        stack.api.bind(second, "default", where)
    assert caught.value.status in (403, 409), caught.value
    assert not stack.get_pod(second)["spec"].get("nodeName")


@pytest.mark.parametrize("keys", [["gpu-uuid"], GUARDED, ["gpu-uuid", "original", "share"]],
                         ids=["one", "all", "with-marks"])
def test_a_pod_that_pretends_to_be_placed(live, name, keys):
    """The webhook strips it: it gets nothing by it, and it is an ordinary whole pod."""
    stack, tenant, _ = live
    forged = stack.pod(name(), labels={P + "tenant": "true"}, **asking.NOWHERE)
    real = stack.get_pod(tenant)["metadata"]["annotations"]
    forged["metadata"]["annotations"] = {P + key: real.get(P + key, "100") for key in keys
                                         if key != "original"}
    if "original" in keys:
        forged["metadata"]["annotations"][P + "original"] = "{}"
    before = own_books(live)
    made = stack.api.create("pods", forged)
    assert not [key for key in GUARDED if note(made, key) is not None], made["metadata"]
    assert P + "gpu" not in gates(made)
    assert made["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"
    wait_seen(stack, name)
    assert own_books(live) == before
    # With an `original` that makes no sense the rest is left as it is, and counts for nothing.
    held = asking.books(stack)[0].get(("default", made["metadata"]["name"]))
    assert held in ((None, 0, 0, False),) if "original" in keys else held is None, held
    stack.api.delete("pods", made["metadata"]["name"], "default", grace=0)


def test_a_capacity_pod_is_one_at_home_only(live, name, node):
    """C8: the label elsewhere means nothing; at home nobody but the controller may set it."""
    stack, _, capacity = live
    real = stack.get_pod(capacity, HOME)
    before, where, fake = own_books(live), node(), name()
    forged = {"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": "capacity-forged-0", "namespace": HOME, "labels": real["metadata"]["labels"],
        "annotations": real["metadata"]["annotations"]}, "spec": stack.pod("x")["spec"]}
    assert P + "capacity" in refused(stack.api.create, "pods", forged)
    elsewhere = copy.deepcopy(forged)
    elsewhere["metadata"].update(name=fake, namespace="default")
    elsewhere["spec"]["nodeSelector"] = on(where)["nodeSelector"]
    made = stack.api.create("pods", elsewhere)
    assert note(made, "grants") is None and is_whole(made) and not is_tenant(made)
    stack.wait_running(fake)
    # It takes its GPU as any whole pod does: no tenant is put on it, and it is never deleted.
    late = name()
    stack.create_pod(late, fraction="0.25", **on(where))
    stack.wait_pod(late, placed, 60, what="a condition")
    assert own_books(live) == before
    assert not capacity_on(stack, where) and stack.get_pod(fake)["status"]["phase"] == "Running"


def debugger(name, *values):
    """What `kubectl debug --image=cuda` adds, with these values of the variable."""
    return {"name": name, "image": "cuda", "targetContainerName": "main", "env": [
        {"name": "BEFORE", "value": "1"}, *({"name": DEVICES, "value": v} for v in values)]}


def debuggers(stack, pod_name):
    """{name: the values of the variable, in order} of the containers that were added."""
    return {one["name"]: [entry.get("value") for entry in one["env"] if entry["name"] == DEVICES]
            for one in stack.get_pod(pod_name)["spec"]["ephemeralContainers"]}


def test_k30_a_debugger_of_a_tenant_sees_no_gpu(live, name):
    """Its image may say `all`: silence is not enough. Nobody else's debugger meets the webhook."""
    stack, tenant, _ = live
    before = stack.get_pod(tenant)
    asked = [("silent", [], False), ("choosing", ["all"], True), ("void", ["void"], False),
             ("twice", ["void", "all"], True)]
    for added, values, told in asked:
        _, warnings = asking.debug_warned(stack.api, tenant, debugger(added, *values))
        assert bool(warnings) == told, warnings
        assert not told or "container %s sees no GPU" % added in warnings[0], warnings
        assert not told or "in its container main (kubectl exec -c)" in warnings[0], warnings
    assert debuggers(stack, tenant) == {added: ["void"] for added, _, _ in asked}
    after = stack.get_pod(tenant)
    assert after["spec"].pop("ephemeralContainers") and after["spec"] == before["spec"]
    assert after["metadata"]["annotations"] == before["metadata"]["annotations"]
    whole = name()
    stack.create_pod(whole, **asking.NOWHERE)
    met = asking.Meetings(stack.leader())
    _, warnings = asking.debug_warned(stack.api, whole, debugger("own", "all"))
    total, _, canaries = met.since()
    # It sees what others share, which is said and not prevented (manifests/around.yaml).
    assert all("'aliquot-around'" in text for text in warnings), warnings
    assert total <= canaries and debuggers(stack, whole) == {"own": ["all"]}
    stack.api.delete("pods", whole, "default", grace=0)


def refused_debugger(stack, tenant, container):
    with pytest.raises(ApiError) as caught:
        asking.debug_warned(stack.api, tenant, container)
    assert caught.value.status == 403 and "'aliquot-guard'" in caught.value.message
    return caught.value.message


def test_without_the_webhook_a_forged_pod_is_refused(live, name):
    """The one case in which a pod is stopped, in a sentence that says what to delete."""
    stack, tenant, _ = live
    controller = stack.leader()
    uuid = note(stack.get_pod(tenant), "gpu-uuid")
    assert controller.stop() == 0
    try:
        for key in GUARDED:
            said = refused(stack.api.create, "pods", stack.pod(
                name(), annotations={P + key: uuid}, **asking.NOWHERE))
            assert "delete these lines from the metadata of this pod" in said and P + key in said
        # Case 30: nor is a debugger that could see every GPU; one that cannot is.
        for values in [], ["all"], ["void", "all"]:
            said = refused_debugger(stack, tenant, debugger("alone", *values))
            assert "--env=NVIDIA_VISIBLE_DEVICES=void) in alone" in said, said
        asking.debug_warned(stack.api, tenant, debugger("alone", "void"))
        assert debuggers(stack, tenant)["alone"] == ["void"]
    finally:
        controller.start()
    stack.wait_converting()
    pod = stack.get_pod(tenant)
    assert note(pod, "gpu-uuid") == uuid and seen(stack, pod) == [uuid]
