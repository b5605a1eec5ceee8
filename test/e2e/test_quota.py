"""C7: ResourceQuotas on GPUs, which the API server would not charge for a pod that became a tenant."""

import contextlib

import pytest

from api import ApiError
from asking import namespace, told
from helpers import P, is_tenant, is_whole, on
from waiting import wait_until

GPUS = "requests.nvidia.com/gpu"
HIGH = "quota-high"
FOREIGN = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
    {"weight": 1, "podAffinityTerm": {"topologyKey": "zone", "namespaces": ["elsewhere"],
                                      "labelSelector": {}}}]}}


def quota(stack, space, name, hard, **spec):
    """Makes a quota, and waits until the API server charges it and the controller counts with it: it hears of quotas by
    another watch than of pods."""
    api = stack.api
    api.create("resourcequotas", {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name, "namespace": space},
        "spec": {"hard": {GPUS: hard}, **spec}}, namespace=space)
    wait_until(lambda: charged(stack, space, name) is not None, 60,
               "the quota %s to be charged" % name)
    wait_until(lambda: (space, name) in {(q["ns"], q["name"]) for q in stack.leader().dump()["quotas"]}, 60,
               "the controller to know the quota " + name)


def charged(stack, space, name):
    """What the API server says is used."""
    status = stack.api.get("resourcequotas", name, space).get("status", {})
    return status.get("used", {}).get(GPUS)


def test_c7_shares_and_whole_gpus_stay_within_the_quota_together(stack, node):
    """A whole one and 0.6 of a quota of 2: the next 0.6 waits, 0.4 passes it by."""
    where = node(2)
    with namespace(stack) as space:
        quota(stack, space, "gpus", "2")
        whole = stack.create_pod("whole", namespace=space, nodeSelector={"nowhere": "true"})
        assert is_whole(whole)
        # Made in one moment: the engine may see both in one step.
        for name in ("first", "second"):
            assert is_tenant(stack.create_pod(name, namespace=space, fraction="0.6", **on(where)))
        names = {"first", "second"}

        def running():
            return {name for name in names if
                    stack.get_pod(name, space)["status"].get("phase") == "Running"}
        wait_until(lambda: len(running()) == 1, 60, "one of the two to run")
        waiting, = names - running()
        pod = stack.wait_pod(waiting, lambda pod: told(pod, "Quota"), 60, space)
        assert told(pod, "Quota") == (
            "needs 0.60 GPU, more than a ResourceQuota of the namespace has left: "
            "gpus allows 2 GPU, 1.60 GPU of it taken")
        # The API server has charged the whole one alone.
        assert charged(stack, space, "gpus") == "1"
        held, = [q for q in stack.leader().dump()["quotas"] if q["ns"] == space]
        assert (held["whole_gpus"], held["granted_milli"], held["hard_milli"]) == (1, 600, 2000)
        assert stack.leader().metric('aliquot_tenants_waiting{reason="Quota"}') == 1
        stack.create_pod("small", namespace=space, fraction="0.4", **on(where))
        stack.wait_running("small", 60, space)
        stack.api.delete("pods", "whole", space, grace=0)
        stack.wait_running(waiting, 60, space)
        # Two GPUs' worth less 0.4 is given now, and the quota of the API server is empty.
        wait_until(lambda: charged(stack, space, "gpus") == "0", 60, "the whole pod to be forgotten")


def test_c7_a_quota_may_change_while_pods_wait(stack, node):
    where = node(1)
    with namespace(stack) as space:
        quota(stack, space, "gpus", "500m")
        stack.create_pod("half", namespace=space, fraction="0.5", **on(where))
        stack.wait_running("half", 60, space)
        stack.create_pod("more", namespace=space, memory="1Gi", **on(where))
        stack.wait_pod("more", lambda pod: told(pod, "Quota"), 60, space)
        stack.api.patch("resourcequotas", "gpus", {"spec": {"hard": {GPUS: "1"}}}, namespace=space)
        stack.wait_running("more", 60, space)


LIMITS = [("Container", "min", "1"), ("Container", "max", "4"), ("Container", "default", "1"),
          ("Container", "maxLimitRequestRatio", "1"), ("Pod", "min", "1"), ("Pod", "max", "4"),
          ("Pod", "maxLimitRequestRatio", "1")]


def test_c7_a_limit_range_leaves_pods_whole(stack):
    """A share would be refused, or get a GPU besides: the API server judges what the webhook left."""
    with namespace(stack) as space:
        assert is_tenant(made(stack, space, PLAIN))
        for kind, part, amount in LIMITS:
            stack.api.create("limitranges", {
                "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "gpus", "namespace": space},
                "spec": {"limits": [{"type": kind, part: {"nvidia.com/gpu": amount}}]}}, namespace=space)
            wait_until(lambda: is_whole(made(stack, space, PLAIN)), 60, "%s %s to be seen" % (kind, part),
                       ignore=(AssertionError,))
            stack.api.delete("limitranges", "gpus", space)
            wait_until(lambda: is_tenant(made(stack, space, PLAIN)), 60, "%s %s to be gone" % (kind, part),
                       ignore=(AssertionError,))


@pytest.fixture(name="priority")
def fixture_priority(stack):
    stack.api.create("priorityclasses", {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": HIGH},
        "value": 1000})
    yield HIGH
    stack.api.delete("priorityclasses", HIGH)


def named(operator, *values):
    term = {"scopeName": "PriorityClass", "operator": operator}
    return {"scopeSelector": {"matchExpressions": [dict(term, values=list(values)) if values
                                                   else term]}}


# The quota's scopes, a pod that they cover, and one that they do not.
PLAIN, BARE = {}, {"bare": True}
ENDS, RANKED, WIDE = {"activeDeadlineSeconds": 600}, {"priorityClassName": HIGH}, {"affinity": FOREIGN}
SCOPES = [
    ({"scopes": ["Terminating"]}, ENDS, PLAIN),
    ({"scopes": ["NotTerminating"]}, PLAIN, ENDS),
    ({"scopes": ["BestEffort"]}, BARE, PLAIN),
    ({"scopes": ["NotBestEffort"]}, PLAIN, BARE),
    ({"scopes": ["PriorityClass"]}, RANKED, PLAIN),
    ({"scopes": ["CrossNamespacePodAffinity"]}, WIDE, PLAIN),
    (named("In", HIGH), RANKED, PLAIN),
    (named("NotIn", HIGH), PLAIN, RANKED),
    (named("DoesNotExist"), PLAIN, RANKED),
    ({"scopes": ["Terminating"], **named("Exists")}, {**ENDS, **RANKED}, ENDS),
]


def made(stack, space, options, **notes):
    """The pod as a dry run would make it; None where a quota refuses it."""
    spec = dict(options)
    bare = spec.pop("bare", False)
    pod = stack.pod("probe", space, fraction="0.5", annotations=notes, **spec)
    if bare:
        # GPUs are no quality of service.
        del pod["spec"]["containers"][0]["resources"]["requests"]
    try:
        return stack.api.create("pods", pod, namespace=space, dryRun="All")
    except ApiError as error:
        assert error.status == 403 and "exceeded quota" in error.message, error
        return None


@pytest.mark.usefixtures("priority")
def test_c7_a_quota_of_none_refuses_whom_the_api_server_means(stack):
    """Each scope means the same pods to us as to the API server, which judges whole ones alone."""
    with namespace(stack) as space:
        for number, (scopes, covered, free) in enumerate(SCOPES):
            name = "none-%d" % number
            assert is_tenant(made(stack, space, covered))
            quota(stack, space, name, "0", **scopes)
            # What is excluded comes whole to the API server, whatever we think.
            wait_until(lambda: made(stack, space, covered, **{P + "exclude": "true"}) is None, 60,
                       "%s to refuse a whole pod" % scopes)
            assert is_whole(made(stack, space, free, **{P + "exclude": "true"})), scopes
            wait_until(lambda: made(stack, space, covered) is None, 60, "%s to be seen" % scopes)
            assert is_tenant(made(stack, space, free)), scopes
            with contextlib.suppress(ApiError):
                stack.api.delete("resourcequotas", name, space)
            wait_until(lambda: is_tenant(made(stack, space, covered) or {"metadata": {}}), 60,
                       "%s to be gone" % name)
