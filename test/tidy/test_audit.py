"""What the API server's audit log tells of our writes is judged (G1)."""

import json
import types

import pytest

import invariants

POD = {"resource": "pods", "namespace": "team", "name": "a"}


def entry(what, code=200, uri="/api"):
    return json.dumps({"verb": "patch", "requestURI": uri, "user": {"username": "us"}, "objectRef": what,
                       "responseStatus": {"code": code}}) + "\n"


@pytest.fixture
def plane(tmp_path):
    return types.SimpleNamespace(dir=str(tmp_path), log=tmp_path / "audit.log")


@pytest.mark.parametrize("what", [
    {"resource": "deployments", "apiGroup": "apps", "namespace": "team", "name": "a"},
    {"resource": "secrets", "namespace": "team", "name": "a"},
    {"resource": "leases", "apiGroup": "coordination.k8s.io", "namespace": "team", "name": "a"},
    {"resource": "nodes", "name": "a"},
    {"resource": "certificatesigningrequests", "apiGroup": "certificates.k8s.io", "name": "a"},
    {"resource": "mutatingwebhookconfigurations", "apiGroup": "admissionregistration.k8s.io", "name": "another"}])
def test_what_is_not_ours_is_told(plane, what):  # pylint: disable=redefined-outer-name
    plane.log.write_text(entry(POD) + entry(what))
    with pytest.raises(AssertionError, match="us: patch"):
        invariants.check_audit(plane)


def test_what_is_ours_what_was_refused_and_dry_runs_are_not(plane):  # pylint: disable=redefined-outer-name
    nodes = {"resource": "nodes", "name": "a"}
    plane.log.write_text(
        entry(POD) + entry(nodes, code=403) + entry(nodes, uri="/api?dryRun=All") +
        entry({"resource": "gpupolicies", "apiGroup": "aliquot.dev", "name": "a"}) +
        entry({"resource": "secrets", "namespace": "aliquot-system", "name": "a"}) +
        entry({"resource": "certificatesigningrequests", "apiGroup": "certificates.k8s.io", "name": "a", "subresource": "status"}) +
        entry({"resource": "mutatingwebhookconfigurations", "apiGroup": "admissionregistration.k8s.io", "name": "zz-aliquot"}) +
        "half a li")
    invariants.check_audit(plane)


def test_each_line_is_judged_once_it_is_whole(plane):  # pylint: disable=redefined-outer-name
    nodes = entry({"resource": "nodes", "name": "a"})
    plane.log.write_text(entry(POD) + nodes[:20])
    invariants.check_audit(plane)
    plane.log.write_text(entry(POD) + nodes)
    with pytest.raises(AssertionError):
        invariants.check_audit(plane)
    invariants.check_audit(plane)
