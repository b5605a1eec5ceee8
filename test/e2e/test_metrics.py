"""What /metrics prints is what docs/metrics.md says, and it does not go stale."""

import os
import re

from helpers import note, on, placed, wait_gone
from waiting import wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def documented():
    """{metric: type} of the tables of docs/metrics.md."""
    with open(os.path.join(ROOT, "docs", "metrics.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `(aliquot_\w+)` \| (\w+) \|", file.read(), re.M)
    assert len(dict(rows)) == len(rows), "a metric stands there twice"
    return dict(rows)


def printed(controller):
    text = controller.get("/metrics")[1]
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)), text


def test_every_printed_metric_is_documented(stack, node, name):
    pod = name()
    stack.create_pod(pod, fraction="0.5", **on(node()))
    stack.wait_running(pod)
    types, text = printed(stack.leader())
    assert len(types) > 20
    assert types.items() <= documented().items()
    series = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r'aliquot_\w+(\{[^{}]+\})? [0-9.]+', line) for line in series)


def test_the_source_and_the_document_name_the_same_metrics():
    names = set()
    for folder, _, files in os.walk(os.path.join(ROOT, "src")):
        for file in files:
            if file.endswith(".c"):
                with open(os.path.join(folder, file), encoding="utf-8") as source:
                    names |= set(re.findall(r'"(aliquot_[a-z0-9_]+)"', source.read()))
    assert names == set(documented())


def test_a_gauge_of_waiting_pods_falls_again(stack, node, name):
    pod, series = name(), "aliquot_tenants_waiting"
    stack.create_pod(pod, fraction="0.5", memory="200Gi", **on(node()))
    leader = stack.leader()
    stack.wait_pod(pod, lambda found: placed(found).get("status") == "False")
    waiting = leader.metric(series)
    assert waiting >= 1
    stack.api.delete("pods", pod, "default", grace=0)
    wait_gone(stack, pod)
    wait_until(lambda: leader.metric(series) < waiting, 60, "one fewer to wait")


def ownerless_milli(stack):
    """What pods that nobody controls have on nodes now; pods of other tests may still be leaving."""
    total = 0
    for pod in stack.api.list("pods"):
        owned = any(o.get("controller") for o in pod["metadata"].get("ownerReferences", []))
        if owned or pod["metadata"]["namespace"] == "aliquot-system" or not pod["spec"].get("nodeName") or \
                pod["status"].get("phase") in ("Failed", "Succeeded"):
            continue
        limits = pod["spec"]["containers"][0].get("resources", {}).get("limits", {})
        shares = int(note(pod, "compute-milli") or 0) * int(note(pod, "gpu-count") or 1)
        total += 1000 * int(limits.get("nvidia.com/gpu", 0)) + shares
    return total


def test_s4_who_is_not_recognized_is_told_by_kind(stack, node, name):
    """Whole GPUs, by the kind of an owner that nobody knows; those that nobody controls apart."""
    kind = "Widget" + name().replace("-", "")
    series = 'aliquot_unrecognized_milli{group="example.com",kind="%s"}' % kind

    def told(wanted):
        found = re.search(r"^%s (\d+)$" % re.escape(wanted), stack.leader().get("/metrics")[1], re.M)
        return int(found.group(1)) if found else 0

    def create(gpus, owner):
        obj = stack.pod(name(), gpus=gpus, **on(node(gpus)))
        if owner is not None:
            obj["metadata"]["ownerReferences"] = [{"apiVersion": "example.com/v1", "kind": owner, "controller": True,
                                                   "name": "one", "uid": "00000000-0000-0000-0000-000000000000"}]
        stack.api.create("pods", obj, namespace="default")
        stack.wait_running(obj["metadata"]["name"])
        return obj["metadata"]["name"]

    pods = [create(2, kind), create(1, kind)]
    create(1, None)
    wait_until(lambda: told(series) == 3000, 60, "three GPUs of " + kind)
    wait_until(lambda: told("aliquot_ownerless_milli") == ownerless_milli(stack), 60,
               lambda: "%d of nobody, where there is %d" % (told("aliquot_ownerless_milli"), ownerless_milli(stack)))
    assert ownerless_milli(stack) >= 1000
    for pod in pods:
        stack.api.delete("pods", pod, "default", grace=0)
    wait_until(lambda: told(series) == 0, 60, "nothing to be told of " + kind)
