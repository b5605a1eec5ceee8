"""Whoever reaches a port may open as many connections as it likes and say nothing. Probes, reviews and other sources are
answered all the while, and the memory that it took comes back."""

import ssl
import time

import pytest

import agents
import storm
from helpers import is_tenant, is_whole, on
from waiting import wait_until

STACK = {"nodes": [("one-%d" % i, 1) for i in range(8)], "arguments": ["--idle-grace-seconds=2"]}
LONG_S = 6  # longer than any deadline of a handshake or of a head
SOON_S = 1  # far less than the crowd's questions take together
MIB = 1 << 20


def rss_mib(controller):
    with open("/proc/%d/status" % controller.record["pid"], encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) / 1024


def plain(controller):
    """Not a sanitized build, whose memory is not its own."""
    with open(controller.argv[0], "rb") as file:
        return b"__asan_init" not in file.read()


def answered(stack, controller, crowd, ret_rss):
    """For LONG_S of a storm that has begun; how many questions were answered."""
    crowd.wait_tried(crowd.at_once)
    until, asked, slowest = time.monotonic() + LONG_S, 0, 0
    while time.monotonic() < until:
        began = time.monotonic()
        for path in ("/healthz", "/readyz"):
            assert controller.get(path, check=False, timeout=5)[0] == 200, controller.log()
        assert stack.converts(), "a review was not answered\n" + controller.log()
        slowest = max(slowest, time.monotonic() - began)
        ret_rss.append(rss_mib(controller))
        asked += 1
    return asked, slowest


@pytest.mark.parametrize("source", ["another", "the API server's"])
@pytest.mark.parametrize("words", [storm.one_byte, storm.half_handshake], ids=lambda words: words.__name__)
def test_silent_connections_to_the_webhook(stack, say, words, source):
    """1,100 of them, from one address: another one, or that of the API server itself."""
    controller = stack.controllers[0]
    stack.wait_converting()
    before, seen = rss_mib(controller), []
    where = "127.0.0.7" if source == "another" else "127.0.0.1"
    with storm.Storm(controller.webhook_port, words(), sources=[where]) as crowd:
        asked, slowest = answered(stack, controller, crowd, seen)
        tried = crowd.tried
    say("%d connections: %d rounds of questions, the slowest %.0f ms; %.1f MiB before, %.1f in the storm" % (
        tried, asked, slowest * 1000, before, max(seen)))
    if plain(controller):
        assert max(seen) < before + 32
        wait_until(lambda: rss_mib(controller) < before + 6, 60, lambda: "the memory to come back: %.1f MiB before, %.1f "
                   "after" % (before, rss_mib(controller)))
        say("%.1f MiB after" % rss_mib(controller))
    assert controller.metric("aliquot_http_server_evicted_total") > 0


def test_half_requests_to_the_pages(stack, say):
    """The probes come in by the same port."""
    controller = stack.controllers[0]
    stack.wait_converting()
    seen = []
    with storm.Storm(controller.metrics_port, storm.half_request()) as crowd:
        asked, slowest = answered(stack, controller, crowd, seen)
        say("%d rounds of questions, the slowest %.0f ms" % (asked, slowest * 1000))


@pytest.mark.parametrize("port", ["pages", "webhook"])
def test_who_asks_as_fast_as_he_can_slows_himself(stack, say, port):
    """60 connections of one address, each with 16 questions ahead; reviews and probes of others come in between."""
    controller = stack.controllers[0]
    stack.wait_converting()
    context = None
    if port == "webhook":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    number = controller.webhook_port if context else controller.metrics_port
    with storm.Askers(number, storm.no_review() if context else storm.page("/metrics"), context=context) as crowd:
        crowd.wait_answers(200)
        slowest, asked = 0, 0
        until = time.monotonic() + LONG_S
        while time.monotonic() < until:
            began = time.monotonic()
            assert controller.get("/readyz", check=False, timeout=5)[0] == 200, controller.log()
            assert stack.converts(), "a review was not answered\n" + controller.log()
            slowest, asked = max(slowest, time.monotonic() - began), asked + 1
        answers = crowd.answers
    say("%d questions of the crowd answered, %d rounds of ours, the slowest %.0f ms" % (
        answers, asked, slowest * 1000))
    assert slowest < SOON_S
    assert controller.metric("aliquot_http_server_paced_total") > 0


def test_a_tenant_is_placed_in_a_storm(stack, node, name):
    """From many addresses at once, more than there are slots."""
    controller = stack.controllers[0]
    crowd_of = ["127.0.%d.%d" % (i // 200 + 1, i % 200 + 1) for i in range(600)]
    with storm.Storm(controller.webhook_port, storm.half_handshake(), sources=crowd_of) as crowd:
        crowd.wait_tried(1100)
        for _ in range(3):
            pod_name = name()
            assert is_tenant(stack.create_pod(pod_name, fraction="0.5", **on(node())))
            stack.wait_running(pod_name)


def test_an_agent_is_read_in_a_storm(stack, node, name):
    """Its kubelet's probe and the controller come in while both of its ports are full of strangers."""
    where, pod_name = node(), name()
    agents.start_product(stack, [where])
    try:
        stack.create_pod(pod_name, fraction="0.5", **on(where))
        stack.wait_running(pod_name)
        leader = stack.wait_leader()
        wait_until(lambda: leader.metric("aliquot_agents_known") >= 1, 60, "the agent to be heard")
        host, answers = agents.address(stack, where), 'aliquot_agent_state_answers_total{answer="state"}'
        with storm.Storm(agents.METRICS_PORT, storm.half_request(), 200, host=host) as pages, \
                storm.Storm(agents.STATE_PORT, storm.half_handshake(), 200, host=host) as states:
            pages.wait_tried(400)
            states.wait_tried(400)
            first, until = figure(stack, where, answers), time.monotonic() + LONG_S
            while time.monotonic() < until:
                assert agents.get(stack, where, "/readyz")[0] == 200, agents.log(stack, where)
            wait_until(lambda: figure(stack, where, answers) > first + 2, 60, "the controller to ask on")
            assert leader.metric("aliquot_agents_known") >= 1
    finally:
        agents.end_product(stack)


def figure(stack, where, series):
    """One of the agent's own counters."""
    for line in agents.get(stack, where)[1].splitlines():
        if line.startswith(series + " "):
            return float(line.rsplit(" ", 1)[1])
    return 0


def test_a_huge_pod_is_left_whole_and_costs_others_nothing(stack, say):
    """The API server takes so many labels; whoever looks at all of them has no time for others."""
    controller = stack.controllers[0]
    stack.wait_converting()
    pod = stack.pod("huge", fraction="0.5")
    pod["metadata"].setdefault("labels", {}).update({"l%d" % i: "v" for i in range(60000)})
    counted = controller.metric('aliquot_admission_total{verdict="whole",reason="TooLarge"}')
    before = controller.metrics()
    answer = stack.api.create("pods", pod, namespace="default", dryRun="All")
    assert is_whole(answer)
    after = controller.metrics()
    assert controller.metric('aliquot_admission_total{verdict="whole",reason="TooLarge"}') == counted + 1
    took = after["aliquot_admission_seconds_sum"] - before["aliquot_admission_seconds_sum"]
    say("%.2f ms" % (took * 1000))
    assert stack.converts()
