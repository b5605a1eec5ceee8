"""Use of pods, read from exporters and from a real Prometheus: what is not known is never zero."""

import contextlib
import functools
import json
import subprocess
import time

import pytest

import agents
import debs
import exporting
import ports
import stack as stacks_of
from api import ApiError
from controlplane import home
from helpers import note, on
from prometheus import Prometheus
from waiting import wait_until


# The Prometheus must be named before the controller starts, and nobody may have its port until it is there.
PROMETHEUS_PORT, EXPORTER_PORT = ports.of_this_process(home()), 9400
STACK = {"nodes": [("metered-%d" % i, 1) for i in range(12)],
         "arguments": ["--idle-grace-seconds=1", "--usage-seconds=5", "--usage-gauges=pods",
                       "--usage-exporter=default/app=dcgm:%d" % EXPORTER_PORT,
                       "--usage-prometheus=http://127.0.0.1:%d" % PROMETHEUS_PORT,
                       "--usage-prometheus-matcher=job=\"exporter\""]}
READS = "aliquot_usage_reads_total"


def known(stack, pod):
    """What the leader knows of a pod; None: it does not want to."""
    meta = pod["metadata"]
    said = json.loads(stack.wait_leader().get("/debug/usage")[1])
    return next((p for p in said["pods"] if (p["ns"], p["name"]) == (meta["namespace"], meta["name"])), None)


def wait_known(stack, pod, condition, what, timeout=60):
    last = {}

    def holds():
        last["pod"] = known(stack, pod)
        return last["pod"] is not None and condition(last["pod"])
    wait_until(holds, timeout, lambda: "%s; known: %s\n%s" % (what, last["pod"], stack.logs()), every=0.2)
    return last["pod"]


def wait_wanted(stack, pod):
    """What is known of it, once the leader wants to: a pod may run before it has seen that."""
    return wait_known(stack, pod, lambda p: True, "it to be wanted")


def reads(stack, source, verdict):
    return stack.wait_leader().metric('%s{source="%s",verdict="%s"}' % (READS, source, verdict))


def check_metrics(text):
    """promtool can read it; what it would call otherwise (3) is no error, for dcgm-exporter's names are not ours."""
    ended = subprocess.run([debs.find("promtool"), "check", "metrics"], input=text, capture_output=True, text=True,
                           timeout=60, check=False)
    assert ended.returncode in (0, 3), (ended.returncode, ended.stderr)


def tenant(stack, name, where, **options):
    pod_name = name()
    stack.create_pod(pod_name, fraction="0.5", **options, **on(where))
    return stack.wait_running(pod_name)


@pytest.fixture(name="exporter_on")
def fixture_exporter_on(stack, name):
    """exporter_on(node, body): a pod with the exporters' label there, and who answers at its address."""
    made = []

    def make(where, body):
        pod_name = name()
        stack.create_pod(pod_name, gpus=0, labels={"app": "dcgm"}, **on(where))
        pod = stack.wait_running(pod_name)
        made.append(exporting.Exporter(pod["status"]["podIP"], EXPORTER_PORT, body))
        return made[-1]
    yield make
    for exporter in made:
        exporter.stop()


@pytest.fixture(name="prometheus_of")
def fixture_prometheus_of():
    """prometheus_of(target, …): a real Prometheus that scrapes it, where the controller looks for one."""
    made = []

    def make(target, **options):
        made.append(Prometheus(PROMETHEUS_PORT, target, **options))
        return made[-1]
    yield make
    for prometheus in made:
        prometheus.stop()


def test_an_exporter_is_read_and_its_silence_is_stale(stack, node, name, exporter_on):
    where = node()
    pod = tenant(stack, name, where)
    assert wait_wanted(stack, pod)["state"] == "unknown"
    exporter = exporter_on(where, lambda: exporting.use(pod, 37.5, 2048))
    found = wait_known(stack, pod, lambda p: p["state"] == "fresh", "its use")
    figure, = found["figures"]
    assert (found["source"], found["node"], found["state"]) == ("exporter", where, "fresh")
    assert (figure["milli_percent"], figure["mem_bytes"]) == (37500, 2048 << 20)
    leader = stack.wait_leader()
    assert leader.metric('aliquot_metered_by{source="exporter"}') == 1
    assert leader.metric("aliquot_used_milli") == 375
    assert leader.metric("aliquot_used_memory_mib") == 2048
    exporter.stop()
    wait_until(lambda: reads(stack, "exporter", "unreachable") >= 1, 60, "silence to be counted")
    found = wait_known(stack, pod, lambda p: p["state"] == "stale", "it to be stale", 90)
    assert found["figures"][0]["milli_percent"] == 37500, "what was known last, and no zero"
    assert leader.metric("aliquot_used_milli") == 0, "of what is fresh there is nothing"
    assert leader.metric('aliquot_metered_pods{state="stale"}') == 1


MALFORMED = [("malformed", lambda pod: exporting.use(pod, 10, 10) + "DCGM_FI_DEV_GPU_UTIL{pod= 3\n"),
             ("malformed", lambda pod: exporting.use(pod, "0x10", 10)),
             ("malformed", lambda pod: exporting.use(pod, 10, 10) + "cut"),
             ("too_large", lambda pod: exporting.use(pod, 10, 10) + "x" * 20000 + " 1\n"),
             ("malformed", lambda pod: "<html>\n")]


def test_what_cannot_be_read_is_counted_and_never_zero(stack, node, name, exporter_on):
    """Each of them on a node of its own, so that all wait at the same time."""
    nodes = [node() for _ in MALFORMED]
    pods = [name() for _ in MALFORMED]
    for pod, where in zip(pods, nodes):
        stack.create_pod(pod, fraction="0.5", **on(where))
    pods = [stack.wait_running(pod) for pod in pods]
    for pod in pods:
        wait_wanted(stack, pod)
    before = {verdict: reads(stack, "exporter", verdict) for verdict, _ in MALFORMED}
    exporters = [(verdict, exporter_on(where, functools.partial(text, pod)))
                 for (verdict, text), where, pod in zip(MALFORMED, nodes, pods)]

    def counted():
        """Each has been read, and so often as they have answered is counted what they are."""
        told = {verdict: sum(each.answered for other, each in exporters if other == verdict) for verdict in before}
        return all(each.answered for _, each in exporters) and all(
            reads(stack, "exporter", verdict) - before[verdict] == times for verdict, times in told.items())
    wait_until(counted, 120, lambda: "them to be counted: %s\n%s" % (
        [(verdict, each.answered) for verdict, each in exporters], stack.logs()))
    for pod in pods:
        found = known(stack, pod)
        assert (found["state"], found["figures"]) == ("unknown", [])


def test_an_answer_that_breaks_off_and_one_of_an_error(stack, node, name, exporter_on):
    where = node()
    pod = tenant(stack, name, where)
    wait_wanted(stack, pod)
    # Nothing is told before it breaks off: not one whole answer is ever heard.
    told = [""]
    exporter = exporter_on(where, lambda: told[0])
    exporter.breaks = True
    told[0] = exporting.use(pod, 10, 10)
    before = reads(stack, "exporter", "unreachable")
    wait_until(lambda: reads(stack, "exporter", "unreachable") > before, 60, "it to be counted")
    assert known(stack, pod)["state"] == "unknown"
    before = reads(stack, "exporter", "status")
    exporter.status = 500
    # Whoever asked while the status was another one has what there is to have.
    wait_until(lambda: exporter.answered >= len(exporter.asked), 60, "nobody to be in the middle of an answer")
    exporter.breaks = False
    wait_until(lambda: reads(stack, "exporter", "status") > before, 120, "it to be counted")
    assert known(stack, pod)["state"] == "unknown"


def test_an_application_speaks_for_its_pod(stack, node, name):
    where, port = node(), 8000
    pod = tenant(stack, name, where, annotations={
        "prometheus.io/scrape": "true", "prometheus.io/port": str(port), "prometheus.io/path": "/own"})
    text = 'vllm:kv_cache_usage_perc{engine="0"} 0.25\nvllm:num_requests_waiting{engine="0"} 3\n'
    application = exporting.Exporter(pod["status"]["podIP"], port, lambda: text + exporting.use(pod, 50, 5))
    try:
        found = wait_known(stack, pod, lambda p: "application" in p, "its gauges", 90)
    finally:
        application.stop()
    assert set(application.asked) == {"/own"}
    told = found["application"]
    assert (told["engine"], told["kv_used_millionths"], told["waiting"]) == ("vllm", 250000, 3)
    assert told["preemptions"] is None and found["state"] == "unknown", "of the GPU its word does not count"


@pytest.fixture(name="agents_on")
def fixture_agents_on(stack):
    """agents_on(node, …): the product's agents on these nodes, until the test ends."""
    yield lambda *nodes: agents.start_product(stack, nodes)
    with contextlib.suppress(ApiError):  # the test may have ended them
        agents.stop(stack)


def ask_anew(stack):
    """A controller that found no Prometheus until now asks again after minutes; one that starts asks at once."""
    for controller in stack.controllers:
        assert controller.stop() == 0
    stack.heal()


def test_a_real_agent_tells_tenants_apart(stack, node, name, agents_on, prometheus_of):
    """From the driver through the agent to what the controller knows; the idle one is told as 0, whoever else says
    otherwise counts less, and when the agent has gone the last figures are stale."""
    where = node()
    agents_on(where)
    busy, idle = tenant(stack, name, where), tenant(stack, name, where)
    uuid = note(busy, "gpu-uuid")
    stack.kubelet.fault("use", namespace="default", pod=busy["metadata"]["name"], mib=20480, sm=60)
    # The agent asks for one after the other, and may have asked for the first before there was use.
    found = wait_known(stack, busy, lambda p: p["state"] == "fresh" and [
        (one["milli_percent"], one["mem_bytes"]) for one in p["figures"]] == [(60000, 20480 << 20)], "its use")
    figure, = found["figures"]
    assert (found["source"], figure["uuid"]) == ("agent", uuid)
    found = wait_known(stack, idle, lambda p: p["state"] == "fresh", "that it is idle")
    figure, = found["figures"]
    assert (found["source"], figure["milli_percent"], figure["mem_bytes"]) == ("agent", 0, 0)
    # Prometheus scrapes the agent, too, and has what it says.
    address = agents.pod_on(stack, where)["status"]["podIP"]
    prometheus = prometheus_of("%s:%d" % (address, agents.METRICS_PORT))
    series = 'DCGM_FI_DEV_GPU_UTIL{pod="%s"}' % busy["metadata"]["name"]
    prometheus.wait_scraped(series)
    assert [float(one["value"][1]) for one in prometheus.query(series)] == [60]
    check_metrics(agents.get(stack, where)[1])
    agents.stop(stack)
    found = wait_known(stack, busy, lambda p: p["state"] == "stale" or p["source"] == "prometheus", "silence", 90)
    assert found["figures"][0]["milli_percent"] == 60000


def check_told(found):
    figure, = found["figures"]
    assert (found["source"], figure["container"]) == ("prometheus", "main")
    assert (figure["milli_percent"], figure["mem_bytes"]) == (42000, 1024 << 20)


def check_older(stack, pod):
    """By now it is silent: what is known gets older, whatever an instant query or anybody else would still say."""
    silent_ms = time.time() * 1000
    later = wait_known(stack, pod, lambda p: p["figures"][0]["age_ms"] > 15000, "it to get older")
    check_told(later)
    assert later["figures"][0]["at_ms"] <= silent_ms


def test_a_real_prometheus(stack, node, name, prometheus_of):
    """Its samples are as old as they were scraped; an exporter that is gone becomes stale, not zero. It keeps the labels of
    what it scrapes; another one, which does not, is below."""
    where = node()
    pod = tenant(stack, name, where)
    exporter = exporting.Exporter("127.0.0.1", 0, lambda: exporting.use(pod, 42, 1024))
    try:
        prometheus = prometheus_of(exporter.target)
        prometheus.wait_scraped("DCGM_FI_DEV_GPU_UTIL")
        ask_anew(stack)
        check_told(wait_known(stack, pod, lambda p: p["state"] == "fresh", "its use", 90))
    finally:
        exporter.stop()
    check_older(stack, pod)


FORGED = """
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
- job_name: exporter
  static_configs: [{targets: ["%(exporter)s"], labels: {namespace: monitoring, pod: exporter}}]
- job_name: tenants
  static_configs: [{targets: ["%(tenant)s"], labels: {namespace: default, pod: forger}}]
- job_name: tenants-whose-labels-are-kept
  honor_labels: true
  static_configs: [{targets: ["%(tenant)s"], labels: {namespace: default, pod: forger}}]
"""


def test_a_tenant_cannot_tell_of_another_through_a_prometheus(stack, node, name, prometheus_of):
    where = node()
    pod = tenant(stack, name, where)
    exporter = exporting.Exporter("127.0.0.1", 0, lambda: exporting.use(pod, 42, 1024))
    forger = exporting.Exporter("127.0.0.1", 0, lambda: exporting.use(pod, 99, 9999))
    try:
        prometheus = prometheus_of(None, config=FORGED % {"exporter": exporter.target, "tenant": forger.target})
        for names in ("exported_pod", "pod"):
            prometheus.wait_scraped('DCGM_FI_DEV_GPU_UTIL{job=~"tenants.*",%s="%s"}' % (names, pod["metadata"]["name"]))
        ask_anew(stack)
        check_told(wait_known(stack, pod, lambda p: p["state"] == "fresh", "its use", 90))
        exporter.stop()
        # Now only the forger speaks.
        check_older(stack, pod)
    finally:
        exporter.stop()
        forger.stop()


def test_a_real_prometheus_that_is_gone(stack, prometheus_of):
    exporter = exporting.Exporter("127.0.0.1", 0, lambda: "up 1\n")
    try:
        prometheus_of(exporter.target).stop()
    finally:
        exporter.stop()
    before = reads(stack, "prometheus", "unreachable")
    wait_until(lambda: reads(stack, "prometheus", "unreachable") > before, 120, "it to be counted")


BAD = [("--usage-exporter=app=dcgm", "write NAMESPACE/LABEL=VALUE"),
       ("--usage-prometheus=ftp://x", "neither http nor https"),
       ("--usage-prometheus-matcher=job=\"x\"", "write the URL to usage-prometheus"),
       ("--usage-prometheus=http://x --usage-prometheus-matcher=dcgm-exporter", "usage-prometheus-matcher: "),
       ("--usage-prometheus=http://x --usage-prometheus-matcher=namespace=\"x\"", "pods are asked for by it"),
       ("--usage-prometheus=http://x --usage-prometheus-matcher=job!=\"x\"", "it names nobody"),
       ("--usage-gauges=prometheus", "write its URL to usage-prometheus"),
       ("--usage-prometheus=http://x --usage-prometheus-token=/dev/null", "over https:// only"),
       ("--usage-prometheus=https://x --usage-prometheus-token=/nowhere", "/nowhere")]


@pytest.mark.parametrize("arguments, message", BAD)
def test_an_option_that_cannot_be_meant(cp, arguments, message):
    ended = subprocess.run([stacks_of.binary(), "controller", "--kubeconfig", cp.kubeconfig("controller"),
                            "--metrics-listen", "127.0.0.1:0", *arguments.split()], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1 and message in ended.stderr, ended.stderr


def test_our_own_metrics_as_promtool_reads_them(stack):
    check_metrics(stack.wait_leader().get("/metrics")[1])
