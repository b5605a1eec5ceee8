"""C26: no tenant goes to a node before it is proven how a container gets its GPU there, end to end: the probe is the
shipped program, on played nodes whose runtimes honour one form, or none."""

import contextlib
import itertools
import json
import statistics
import time

import pytest

import boundaries
from api import ApiError
from asking import NOWHERE
from helpers import P, capacity_on, events, gates, note, on, pin, placed, seen, wait_empty, wait_nodes_known
from invariants import Picture
from waiting import wait_until

MARKS = itertools.count()
TOLD_LABEL = "example.com/told"
STACK = {"nodes": [("give-%d" % i, 2) for i in range(30)], "controllers": [["--identity=prover"]],
         "arguments": ["--injection=%s=yes:env,probe" % TOLD_LABEL, "--idle-grace-seconds=2"]}
SYSTEM = "aliquot-system"
NRI = "nvidia.cdi.k8s.io/container.main"
VARIABLE = "NVIDIA_VISIBLE_DEVICES"
TOLD = {"env": ("%s", None), "cdi": ("runtime.nvidia.com/gpu=%s", None),
        "nri": ("void", "k8s.device-plugin.nvidia.com/gpu=%s")}
# From the first probe to the last: what the controller writes on the way to a first tenant.
WRITES = ["%s %s" % (when, name) for name in ("CreateProbe", "Grant", "Place", "DeleteProbe")
          for when in ("before", "after")]


def probes(stack):
    return stack.api.list("pods", SYSTEM, labelSelector=P + "probe")


def now(stack):
    return stack.api.list_raw("pods")["metadata"]["resourceVersion"]


def made_since(stack, version, where):
    """The forms of the probes that were created for that node since, in order."""
    mark, forms = "mark-%d" % next(MARKS), []
    stack.create_pod(mark, namespace=SYSTEM, gpus=0, **NOWHERE)
    for kind, pod in stack.api.watch("pods", SYSTEM, version=version, timeout=60):
        if pod["metadata"]["name"] == mark:
            break
        if kind == "ADDED" and P + "probe" in pod["metadata"].get("labels", {}) and pin(pod) == where:
            forms.append(pod["metadata"]["labels"][P + "probe"])
    else:
        raise AssertionError("the watch did not tell of " + mark)
    stack.api.delete("pods", mark, SYSTEM, grace=0)
    return forms


def claim(pod):
    return json.loads(note(pod, "injection") or "{}")


def wait_no_probe(stack):
    wait_until(lambda: not probes(stack), 60, "the probes to be gone")


def check_told(stack, pod, form):
    """It runs, sees exactly its GPU, and was told of it in this form and no other."""
    uuid = note(pod, "gpu-uuid")
    value, noted = TOLD[form]
    assert note(pod, "visible-devices") == (value % uuid if "%s" in value else value)
    assert pod["metadata"]["annotations"].get(NRI) == (noted and noted % uuid)
    told = stack.kubelet.state()["pods"][pod["metadata"]["uid"]]["containers"]["main"]["env"]
    assert told[VARIABLE] == note(pod, "visible-devices") and seen(stack, pod) == [uuid]


@pytest.mark.parametrize("form", list(TOLD))
def test_c26_a_tenant_gets_its_gpu_in_the_form_of_its_node(stack, node, name, form):
    where, one, two, three = node(2), name(), name(), name()
    stack.kubelet.fault("injection", node=where, forms=[form])
    start = now(stack)
    stack.create_pod(one, fraction="0.5", **on(where))
    pod = stack.wait_running(one)
    check_told(stack, pod, form)
    proof, = [claim(holder) for holder in capacity_on(stack, where)]
    assert (proof["form"], proof["node"], proof["uuid"]) == (form, where, note(pod, "gpu-uuid"))
    assert proof["runtime"] == "fake://1"
    tried = made_since(stack, start, where)
    assert tried[-1] == form and len(tried) == len(set(tried)), tried
    wait_no_probe(stack)
    # It is proven of the node: neither for its neighbour on the GPU nor for the next GPU is anything tried.
    start = now(stack)
    for tenant, fraction in ((two, "0.5"), (three, "0.9")):
        stack.create_pod(tenant, fraction=fraction, **on(where))
        check_told(stack, stack.wait_running(tenant), form)
    assert made_since(stack, start, where) == [] and len(capacity_on(stack, where)) == 2
    notes = stack.api.get("nodes", where)["metadata"].get("annotations", {})
    assert not any(key.startswith(P) for key in notes), notes


def test_c26_where_no_form_works_nobody_goes_and_it_is_said(stack, node, name):
    """Nor where the container sees a GPU, and it is not the one that was named."""
    where, other, tenant, wrong = node(2), node(2), name(), name()
    stack.kubelet.fault("injection", node=where, forms=[])
    stack.kubelet.fault("injection", node=other, forms=[], besides=["all"])
    start = now(stack)
    stack.create_pod(tenant, fraction="0.5", **on(where))
    stack.create_pod(wrong, fraction="0.5", **on(other))
    pod = stack.wait_pod(tenant, lambda p: placed(p).get("reason") == "NoInjection", 60, what="its reason")
    said = placed(pod)["message"]
    assert all("%s sees none" % form in said for form in TOLD) and where in said, said
    assert gates(pod) == [P + "gpu"] and note(pod, "gpu-uuid") is None and "nodeName" not in pod["spec"]
    assert sorted(made_since(stack, start, where)) == sorted(TOLD)
    told = wait_until(lambda: [e for e in stack.api.list("events", SYSTEM) if e["reason"] == "NoInjection" and
                               where in e["message"]], 60, "the event")
    assert told[0]["type"] == "Warning" and told[0]["involvedObject"]["name"].startswith("capacity-"), told
    pod = stack.wait_pod(wrong, lambda p: placed(p).get("reason") == "NoInjection", 60, what="its reason")
    assert "env sees others" in placed(pod)["message"], placed(pod)
    stack.api.delete("pods", wrong, "default", grace=0)
    wait_until(lambda: not capacity_on(stack, where), 60, "its capacity pod to be given back")
    wait_no_probe(stack)
    # Another container runtime is tried at once, not after its rest.
    stack.kubelet.fault("injection", node=where, forms=["cdi"], version="fake://mended")
    pod = stack.wait_running(tenant)
    check_told(stack, pod, "cdi")
    assert claim(capacity_on(stack, where)[0])["runtime"] == "fake://mended"


def test_c26_a_runtime_class_that_comes_to_a_living_node_is_proven_too(stack, node, name):
    """Under the class of the first tenant the node honours another form than under that of the second."""
    where, one, two = node(2), name(), name()
    stack.kubelet.fault("injection", node=where, forms={"": ["env"], "nvidia": ["cdi"]})
    stack.create_pod(one, fraction="0.9", **on(where))
    check_told(stack, stack.wait_running(one), "env")
    stack.api.create("runtimeclasses", {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass",
                                        "metadata": {"name": "nvidia"}, "handler": "nvidia"})
    try:
        def follows():
            probe = stack.pod("probe", fraction="0.5")
            return stack.api.create("pods", probe, dryRun="All")["spec"].get("runtimeClassName") == "nvidia"
        # Classes are read when it starts, and once a minute.
        stack.controllers[0].kill()
        stack.heal()
        wait_until(follows, 60, "the class to be known")
        start = now(stack)
        stack.create_pod(two, fraction="0.9", **on(where))
        check_told(stack, stack.wait_running(two, timeout=60), "cdi")
        assert made_since(stack, start, where)[-1] == "cdi"
        assert {(claim(p)["class"], claim(p)["form"]) for p in capacity_on(stack, where)} == {
            ("", "env"), ("nvidia", "cdi")}
        check_told(stack, stack.get_pod(one), "env")
        wait_no_probe(stack)
    finally:
        for tenant in (one, two):
            with contextlib.suppress(ApiError):
                stack.api.delete("pods", tenant, "default", grace=1)
        wait_until(lambda: not capacity_on(stack, where), 60, "its capacity pods to go")
        stack.api.delete("runtimeclasses", "nvidia")
        # It would go on naming the class for a minute, and the API server refuse whoever names one that is gone.
        stack.controllers[0].kill()


@pytest.fixture
def own_class(stack):
    """A RuntimeClass that some tenants name themselves; capacity pods have none."""
    stack.api.create("runtimeclasses", {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass",
                                        "metadata": {"name": "boxed"}, "handler": "boxed"})
    yield "boxed"
    stack.api.delete("runtimeclasses", "boxed")


def others(pod):
    return {(entry["class"], entry["form"]) for entry in claim(pod).get("classes", [])}


def test_c26_a_tenant_with_a_class_of_its_own_is_told_in_the_form_of_that(stack, node, name, own_class):
    """On the same GPU: under the class of the capacity pod its node honours another form."""
    # What most nodes honour is tried first, and those of the tests before may be going.
    wait_empty(stack)
    where, one, two, three = node(2), name(), name(), name()
    stack.kubelet.fault("injection", node=where, forms={"": ["env"], own_class: ["nri"]})
    stack.create_pod(one, fraction="0.25", **on(where))
    check_told(stack, stack.wait_running(one), "env")
    wait_no_probe(stack)
    start = now(stack)
    stack.create_pod(two, fraction="0.25", runtimeClassName=own_class, **on(where))
    check_told(stack, stack.wait_running(two), "nri")
    assert made_since(stack, start, where) == ["env", "cdi", "nri"]
    holder, = capacity_on(stack, where)
    assert claim(holder)["form"] == "env" and others(holder) == {(own_class, "nri")}
    wait_no_probe(stack)
    # It is kept: neither for the next of that class nor after a restart anything is tried.
    start = now(stack)
    stack.controllers[0].kill()
    stack.heal()
    stack.create_pod(three, fraction="0.25", runtimeClassName=own_class, **on(where))
    check_told(stack, stack.wait_running(three), "nri")
    assert made_since(stack, start, where) == []


def test_c26_a_class_that_sees_nothing_waits_and_reads_it_or_goes_elsewhere(stack, node, name, own_class):
    where, elsewhere, one, two = node(2), node(2), name(), name()
    stack.kubelet.fault("injection", node=where, forms={"": ["env"], own_class: []})
    stack.kubelet.fault("injection", node=elsewhere, forms={"": ["env"], own_class: ["cdi"]})
    stack.create_pod(one, fraction="0.25", **on(where))
    check_told(stack, stack.wait_running(one), "env")
    stack.create_pod(two, fraction="0.25", runtimeClassName=own_class, **on(where))
    pod = stack.wait_pod(two, lambda p: placed(p).get("reason") == "NoInjection", 60, what="its reason")
    said = placed(pod)["message"]
    assert "RuntimeClass " + own_class in said and where in said and "env sees none" in said, said
    assert gates(pod) == [P + "gpu"] and note(pod, "gpu-uuid") is None
    assert stack.get_pod(one)["status"]["phase"] == "Running" and len(capacity_on(stack, where)) == 1
    stack.api.delete("pods", two, "default", grace=0)
    three = name()
    stack.create_pod(three, fraction="0.25", runtimeClassName=own_class, affinity={"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": [where, elsewhere]}]}]}}})
    pod = stack.wait_running(three, timeout=60)
    check_told(stack, pod, "cdi")
    assert pod["spec"]["nodeName"] == elsewhere
    stack.api.delete("pods", three, "default", grace=1)


def test_c26_the_proof_outlives_the_controller(stack, node, name):
    where, one, two = node(2), name(), name()
    stack.kubelet.fault("injection", node=where, forms=["env"])
    stack.create_pod(one, fraction="0.9", **on(where))
    pod = stack.wait_running(one)
    wait_no_probe(stack)
    before, start = [claim(holder) for holder in capacity_on(stack, where)], now(stack)
    stack.controllers[0].kill()
    stack.heal()
    stack.create_pod(two, fraction="0.9", **on(where))
    check_told(stack, stack.wait_running(two), "env")
    assert made_since(stack, start, where) == []
    assert [claim(holder) for holder in capacity_on(stack, where)] == before * 2
    assert events(stack, pod, "GpuOrphaned") == []


def seconds_to_place(stack, name, fraction, where):
    """From the pod's creation to the patch that takes its gate off."""
    start, began = now(stack), time.monotonic()
    stack.create_pod(name, fraction=fraction, **on(where))
    for _, pod in stack.api.watch("pods", "default", version=start, timeout=60, fieldSelector="metadata.name=" + name):
        if note(pod, "gpu-uuid"):
            return time.monotonic() - began
    raise AssertionError(name + " was not placed")


def test_c26_an_admin_may_say_it_and_what_the_proof_costs(stack, node, name, say):
    """The first start on a node that is proven waits for a probe, one of which it is said does not; later ones wait
    for nothing on either."""
    took = {"said": [], "proven": []}
    for way, found in [(way, found) for _ in range(5) for way, found in took.items()]:
        where = node(2)
        stack.api.patch("nodes", where, {"metadata": {"labels": {TOLD_LABEL: "yes" if way == "said" else None}}})
        wait_nodes_known(stack)
        start = now(stack)
        found.append([seconds_to_place(stack, name(), "0.5", where)])
        tried = made_since(stack, start, where)
        assert bool(tried) == (way == "proven"), (way, tried)
        start = now(stack)
        found[-1] += [seconds_to_place(stack, name(), fraction, where) for fraction in ("0.5", "0.9")]
        assert made_since(stack, start, where) == []
        assert all(bool(claim(holder)) == (way == "proven") for holder in capacity_on(stack, where))
    for what, times in zip(("first", "on the same GPU", "on the next GPU"), zip(*[zip(*took[w]) for w in took])):
        say("%s: %s" % (what, ", ".join("%s %.2f s" % (way, statistics.median(of)) for way, of in zip(took, times))))


@pytest.mark.parametrize("boundary", WRITES)
def test_c26_killed_at_each_write_of_the_proof(stack, node, name, boundary):
    wait_empty(stack)
    leader, where, tenant = stack.controllers[0], node(2), name()
    if not leader.can_crash():
        pytest.skip("this build does not end at writes; a sanitized one does")
    start = now(stack)
    leader.arm(boundary)
    stack.create_pod(tenant, fraction="0.5", **on(where))
    leader.wait_crashed()
    Picture(stack.api).check()
    leader.start(wait_ready=False)
    stack.heal()
    check_told(stack, stack.wait_running(tenant, timeout=60), "env")
    wait_no_probe(stack)
    wait_until(lambda: Picture(stack.api).check_settled(), 60, "rest", ignore=(AssertionError,))
    holder, = capacity_on(stack, where)
    assert claim(holder)["form"] == "env"
    # What a probe told is not asked for again: the next leader believes the one that is there.
    assert made_since(stack, start, where) == ["env"], boundary


def test_c26_killed_after_each_of_three_probes(stack, node, name):
    """How far it is the probes say: the next leader goes on with the form after those that were refused."""
    wait_empty(stack)
    leader, where, tenant = stack.controllers[0], node(2), name()
    if not leader.can_crash():
        pytest.skip("this build does not end at writes; a sanitized one does")
    stack.kubelet.fault("injection", node=where, forms=["nri"])
    start = now(stack)
    leader.arm("after CreateProbe")
    stack.create_pod(tenant, fraction="0.5", **on(where))
    for count in (1, 2, 3):
        leader.wait_crashed()
        assert len(made_since(stack, start, where)) == count
        if count < 3:
            leader.arm("after CreateProbe")
        leader.start(wait_ready=False)
    stack.heal()
    check_told(stack, stack.wait_running(tenant, timeout=60), "nri")
    wait_no_probe(stack)
    assert made_since(stack, start, where) == list(TOLD)


def test_c26_the_writes_are_all_there_are():
    """A write of the proof that is new is to be killed at, too."""
    assert {boundary.split()[1] for boundary in WRITES} - set(boundaries.names()) == set()
