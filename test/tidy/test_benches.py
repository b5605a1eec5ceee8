"""What benches make of what they measured, with played figures: which runs count, and what a miss is."""
import argparse
import os
import sys

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TREE, "test", "bench"), os.path.join(TREE, "test", "lib")]

import _served  # noqa: E402
import burst  # noqa: E402
import webhook  # noqa: E402

CALM = {"disturbed": False, "others_percent": 0.0, "tries": 1}


def played_round(p99, not_synced=0, covered=0.9, **client):
    seen = {"sent": 100, "answered": 100, "errors": 0, "wrong": 0, "tenants": 50 - not_synced, "not_synced": not_synced,
            "whole": 50, "per_second": 1000.0, "p50_us": 1, "p99_us": 2, "max_us": 3, "p99_since_planned_us": 4,
            "first_wrong": "", "pod_bytes": [1, 2, 3], **client}
    return {"server": {"p50_us": 1, "p99_us": p99}, "client": seen, "core": {"stalls": 0, "stalled_ms": 0},
            "relists": [9.0], "covered": covered, "others": CALM}


def judged(*rounds):
    return webhook.verdict(argparse.Namespace(pods=1, connections=1, seconds=10), {}, list(rounds), {})


@pytest.mark.parametrize("figures,p99,holds", [
    ((900, 900, 900), 900, True), ((400, 1100, 1200), 1100, False), ((400, 900, 5000), 900, True),
    ((900, -1, 900), 900, False)])
def test_the_median_of_all_rounds_is_the_webhooks(figures, p99, holds):
    found = judged(*(played_round(each) for each in figures))
    assert (found["p99_us"], found["held"]["p99"], found["holds"]) == (p99, holds, holds)
    assert found["p99_all_us"] == list(figures) and "error" not in found


def test_one_tenant_that_stayed_whole_is_a_miss():
    """C2 wants it so, and whoever waits has a whole GPU all the same: no error, and no bar that was met."""
    found = judged(played_round(500), played_round(500, not_synced=1), played_round(500))
    assert found["held"] == {"p99": True, "answers": True, "converted": False, "relists": True}
    assert (found["converted"], found["to_convert"], found["not_converted"]) == (149, 150, 1)
    assert not found["holds"] and "error" not in found


@pytest.mark.parametrize("bad", [{"wrong": 1}, {"errors": 1}, {"answered": 99}])
def test_an_answer_that_is_wrong_or_missing_is_an_error(bad):
    found = judged(played_round(500), played_round(500), played_round(500, **bad))
    assert found["error"] and not found["held"]["answers"] and not found["holds"]


def test_a_round_without_relists_is_a_miss():
    assert not judged(played_round(500), played_round(500, covered=0.4), played_round(500))["held"]["relists"]


def played_run(rate, writes=1.2):
    return {"tenants_per_s": rate, "writes_per_s": rate, "writes_per_tenant": writes, "cpu_s": 1.0, "peak_kib": 1024,
            "others": CALM}


@pytest.mark.parametrize("pairs,ratio,holds", [
    (((100, 100), (89, 100), (95, 100)), 0.95, True), (((89, 100), (72, 100), (104, 100)), 0.89, False),
    # The median of the rates would be 1.0 here: each pair is of its own time.
    (((50, 100), (100, 120), (150, 100)), 0.833, False)])
def test_the_median_of_the_pairs_is_the_bursts(pairs, ratio, holds):
    args = argparse.Namespace(nodes=1, gpus=8, tenants=40, bar=0.9)
    found = burst.verdict(args, 64, {"ours": [played_run(ours) for ours, _ in pairs], "tried": [], "cold": None,
                                     "floors": [played_run(floor) for _, floor in pairs]})
    assert (found["ratio"], found["held"]["ratio"], found["holds"]) == (ratio, holds, holds)
    assert not found["disturbed"] and len(found["others"]) == 2 * len(pairs)


PAGE = """# HELP apiserver_request_duration_seconds x
apiserver_request_duration_seconds_sum{component="apiserver",verb="PATCH",resource="pods",subresource="",scope="resource"} %s
apiserver_request_duration_seconds_count{component="apiserver",verb="PATCH",resource="pods",subresource="",scope="resource"} %d
apiserver_request_duration_seconds_count{component="apiserver",verb="POST",resource="pods",subresource="binding"} %d
apiserver_request_duration_seconds_count{component="apiserver",verb="LIST",resource="pods",subresource=""} %d
apiserver_request_duration_seconds_count{component="apiserver",verb="GET",resource="leases",subresource=""} %d
apiserver_watch_events_sizes_sum{group="",resource="pods",version="v1"} %s
apiserver_watch_events_sizes_count{group="",resource="pods",version="v1"} %d
process_cpu_seconds_total 12
"""


def test_what_the_api_server_did_between_two_pages():
    before, after = (_served.read(PAGE % values) for values in (
        (1.5, 100, 7, 1, 3, "1.0e+06", 40), (4.25, 4900, 4007, 3, 5, "3.5e+07", 20040)))
    assert _served.difference(before, after) == {
        "request_s": {"PATCH/pods": 2.75}, "requests": {"LIST/pods": 2, "PATCH/pods": 4800, "POST/pods/binding": 4000},
        "event_bytes": {"pods": 34000000}, "events": {"pods": 20000}}
