"""What a real Prometheus kept of a workload counts as observed: nobody waits for a day again."""

import contextlib
import time

import pytest

import asking
import ports
from controlplane import home
from helpers import on
from prometheus import Prometheus
from waiting import wait_until


# The Prometheus must be named before the controller starts, and nobody may have its port until it is there.
PORT = ports.of_this_process(home())
STACK = {"nodes": [("past-0", 1), ("past-1", 1)],
         "arguments": ["--usage-seconds=5", "--rightsizing-seconds=1", "--usage-prometheus=http://127.0.0.1:%d" % PORT]}
# More than is observed while the test runs.
SPEC = {"mode": "Recommend",
        "compute": {"percentile": 98, "headroomPercent": 25, "minPercent": 10, "maxPercent": 100, "stepPercent": 5},
        "memory": {"headroomPercent": 15, "min": "1Gi", "step": "256Mi"},
        "history": {"windowSeconds": 7200, "requiredSeconds": 3600, "halfLifeSeconds": 3600},
        "update": {"scaleDownDelaySeconds": 0}}
HOURS = 2


def series(space, pod, percent, mib, gap=range(0)):
    """Samples each 30 s of the last hours, but for those minutes ago."""
    labels = '{namespace="%s",pod="%s",container="main",UUID="GPU-old"}' % (space, pod)
    times = [t for t in range(int(time.time()) - HOURS * 3600, int(time.time()) - 30, 30)
             if (time.time() - t) // 60 not in gap]
    return {"DCGM_FI_DEV_GPU_UTIL": ["%s %d %d" % (labels, percent, t) for t in times],
            "DCGM_FI_DEV_FB_USED": ["%s %d %d" % (labels, mib, t) for t in times]}


def openmetrics(*all_series):
    text = ""
    for family in ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"):
        lines = [family + line for one in all_series for line in one[family]]
        text += "# TYPE %s gauge\n%s\n" % (family, "\n".join(lines))
    return text + "# EOF\n"


@pytest.fixture(name="space")
def fixture_space(stack):
    with asking.policed_namespace(stack, SPEC) as space:
        yield space


@contextlib.contextmanager
def remembering(past):
    prometheus = Prometheus(PORT, None, config="global: {scrape_interval: 1h}\n", past=past)
    try:
        prometheus.wait_scraped("count(last_over_time(DCGM_FI_DEV_GPU_UTIL[2h]))")
        yield prometheus
    finally:
        prometheus.stop()


def deploy(stack, space, where):
    labels = {"app": "llm"}
    stack.api.create("deployments", {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "llm", "namespace": space},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": stack.pod("x", **on(where))["spec"]}}})


def wait(stack, space, holds, what):
    last = {}

    def found():
        last["grec"] = stack.api.find("gpurecommendations", "deployment-llm", space)
        status = (last["grec"] or {}).get("status", {})
        sufficient = [c["reason"] for c in status.get("conditions", []) if c["type"] == "HistorySufficient"]
        return sufficient and status.get("containers") and holds(status, sufficient[0]) and status
    return wait_until(found, 60, lambda: "%s; it says %s\n%s" % (what, last["grec"], stack.logs()), every=0.3)


def test_r1_what_a_prometheus_kept_counts_as_observed(stack, node, space):
    """Of a former pod of the Deployment, and not of one of another with a name like it."""
    past = openmetrics(series(space, "llm-6d4cf56db6-x7k2p", 20, 6144),
                       series(space, "llm-api-6d4cf56db6-x7k2p", 90, 60000))
    with remembering(past):
        deploy(stack, space, node())
        status = wait(stack, space, lambda s, reason: reason == "Sufficient", "its past to count")
    container, = status["containers"]
    assert container["target"] == {"computePercent": 30, "memory": "7Gi"}
    assert container["usage"]["memoryPeak"] == "6Gi"
    assert status["history"]["coveragePercent"] >= 90


def test_r2_r14_a_gap_in_it_is_a_gap(stack, node, space):
    """70 minutes of 120 are missing: what is left is less than is asked for."""
    past = openmetrics(series(space, "llm-6d4cf56db6-x7k2p", 20, 6144, gap=range(20, 90)))
    with remembering(past):
        deploy(stack, space, node())
        status = wait(stack, space, lambda s, reason: s["history"]["samples"] > 0, "its past to be read")
    assert [c["reason"] for c in status["conditions"] if c["type"] == "HistorySufficient"] == ["Learning"]
    assert 30 <= status["history"]["coveragePercent"] <= 42
    assert status["containers"][0]["target"] == {"computePercent": 30, "memory": "7Gi"}
