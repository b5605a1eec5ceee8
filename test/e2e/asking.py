"""Asking the API server as a person would, and what it and the controller counted of that."""

import contextlib
import itertools
import json
import re
import time

import pytest

import invariants
from api import ApiError
from helpers import P, note, placed
from invariants import ledger
from waiting import wait_until

# Of the admission's modules: three wide nodes for pods that start whole, small ones for tenants.
STACK = {"nodes": [("wide-%d" % i, 48) for i in range(3)] + [("narrow-%d" % i, 1) for i in range(16)],
         "arguments": ["--idle-grace-seconds=2"]}
WEBHOOK = 'name="pods.aliquot.dev"'
COMPONENT = "aliquot.dev/controller"
NOWHERE = {"nodeSelector": {"aliquot.test/no-such-node": "true"}}
_numbers = itertools.count()


def create_warned(api, pod, **params):
    """(pod as stored, the warnings that kubectl would print)"""
    path = api.path("pods", None, pod["metadata"]["namespace"])
    if params:
        path += "?" + "&".join("%s=%s" % item for item in params.items())
    return _warned(api, "POST", path, pod, "application/json")


def debug_warned(api, name, container):
    """The same of what `kubectl debug` does: a container added to a running pod."""
    return _warned(api, "PATCH", api.path("pods", name, "default", "ephemeralcontainers"),
                   {"spec": {"ephemeralContainers": [container]}},
                   "application/strategic-merge-patch+json")


def _warned(api, method, path, body, kind):
    # pylint: disable=protected-access
    connection = api._connect(30)
    try:
        connection.request(method, path, json.dumps(body).encode(), api._headers(b"", kind))
        answer = connection.getresponse()
        body = json.loads(answer.read())
        said = answer.headers.get_all("Warning") or []
    finally:
        connection.close()
    if answer.status not in (200, 201):
        raise ApiError(answer.status, body.get("reason", ""), body.get("message", ""), body)
    return body, [re.fullmatch(r'299 - "(.*)"', line, re.DOTALL).group(1).replace('\\"', '"')
                  .replace("\\\\", "\\") for line in said]


def series(api):
    """{name and labels: value} of the API server's own /metrics, as far as they are about us."""
    text = api.raw("GET", "/metrics")[1].decode()
    return {name: float(value) for name, value in
            (line.rsplit(" ", 1) for line in text.splitlines() if WEBHOOK in line)}


class Meetings:
    """How many reviews came since: all, and those that were not converted.

    The canary is a review too (C3), at most one in 30 s, and it is always converted.
    """

    def __init__(self, controller):
        self.controller = controller
        self.began = time.monotonic()
        self.all, self.whole = self._now()

    def _now(self):
        values = self.controller.metrics()
        return (values["aliquot_admission_seconds_count"],
                sum(value for name, value in values.items()
                    if name.startswith("aliquot_admission_total") and "converted" not in name))

    def since(self):
        total, whole = self._now()
        canaries = 1 + int((time.monotonic() - self.began) / 30)
        return total - self.all, whole - self.whole, canaries


@contextlib.contextmanager
def namespace(stack, annotations=None, labels=None):
    """A namespace of its own that the controller knows and in which pods can be made."""
    name = "admit-%d" % next(_numbers)
    api = stack.api
    api.create("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": name, "annotations": annotations or {}, "labels": labels or {}}})
    wait_until(lambda: api.find("serviceaccounts", "default", name), 60, "the account in " + name)
    # A namespace that the controller has not seen yet leaves its pods whole: NotSynced.
    probe = stack.pod("probe", name, fraction="0.5", annotations={P + "exclude": "false"})

    def known():
        warnings = create_warned(api, probe, dryRun="All")[1]
        return not any("not fully known" in text for text in warnings)
    wait_until(known, 60, "the controller to know " + name)
    try:
        yield name
        invariants.check_audit(stack.plane)
    finally:
        wait_until(lambda: _emptied(api, name), 60, "no pods in " + name, every=0.1)
        api.delete("namespaces", name)


@contextlib.contextmanager
def policed_namespace(stack, policy):
    """The same under a GPUPolicy of its own."""
    with namespace(stack) as space:
        stack.api.create("gpupolicies", {
            "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUPolicy", "metadata": {"name": space},
            "spec": dict(policy, selector={"namespaceSelector": {
                "matchLabels": {"kubernetes.io/metadata.name": space}}})})
        try:
            yield space
        finally:
            with contextlib.suppress(ApiError):
                stack.api.delete("gpupolicies", space)


@contextlib.contextmanager
def ruled_namespace(stack, policy):
    """The same where policy time can be told to the controller."""
    if not stack.controllers[0].can_crash():
        pytest.skip("this build's policy time is the wall's; a sanitized one can be told")
    with policed_namespace(stack, policy) as space:
        yield space


def _emptied(api, space):
    """Nor anybody who makes pods: of a Deployment whose ReplicaSet comes only now there would be others."""
    found = [(kind, obj) for kind in ("deployments", "statefulsets", "daemonsets", "jobs", "replicasets", "pods")
             for obj in api.list(kind, space)]
    for kind, obj in found:
        with contextlib.suppress(ApiError):
            api.delete(kind, obj["metadata"]["name"], space, grace=1, propagationPolicy="Background")
    return not found


def books(stack):
    """What the controller holds of tenants, as it says itself, and every ledger with a grant."""
    tenants = {(t["ns"], t["name"]): (t["uuid"], t["milli"], t["mib"], t["gated"])
               for t in stack.leader().dump()["tenants"]}
    ledgers = {pod["metadata"]["name"]: note(pod, "grants") for pod in stack.capacity_pods()
               if ledger(pod)}
    return tenants, ledgers


def told(pod, reason):
    """The message of the condition that says with this reason why the pod has no share."""
    condition = placed(pod)
    return condition.get("message") if condition.get("status") == "False" and \
        condition.get("reason") == reason else None
