"""S1, S2: what a person reads of GPURecommendations, with a real kubectl on a real API server. The objects are those
that the controller wrote in test/scenario (golden/*.json), each in another state. ALIQUOT_WRITE_GOLDEN=1 writes the
texts anew."""

import glob
import json
import os
import re
import subprocess

import pytest

import binaries
from apisuite import VERSION

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = os.path.join(HERE, "golden")
STATES = {os.path.basename(path)[:-len(".json")]: path
          for path in glob.glob(os.path.join(os.path.dirname(HERE), "scenario", "golden", "*.json"))}
POLICY = {"apiVersion": VERSION, "kind": "GPUPolicy", "metadata": {"name": "rt"},
          "spec": {"isDefault": "Fallback", "mode": "Automate", "priority": 200}}
GROUP = {"apiVersion": VERSION, "kind": "GPUWorkloadGroup", "metadata": {"name": "cron"},
         "spec": {"rules": [{"labels": [{"key": "workflows.argoproj.io/cron-workflow"}]}], "keyFrom": "LabelValue",
                  "keyName": "workflows.argoproj.io/cron-workflow"}}


def kubectl(cp, *arguments):
    program = binaries.find(("kubectl",))["kubectl"]
    ended = subprocess.run([program, "--kubeconfig", cp.kubeconfig("admin"), *arguments], capture_output=True,
                           text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def without_what_changes(text):
    """Ages, versions and identities are another run's."""
    text = re.sub(r"^(\s*(?:UID|Resource Version|Creation Timestamp):\s+).*$", r"\1(another each time)", text, flags=re.M)
    lines = [re.sub(r"\s+(\d+[smh])+$", "  AGE", line) for line in text.splitlines()]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def check(name, text):
    path = os.path.join(TEXTS, name + ".txt")
    text = without_what_changes(text)
    if os.environ.get("ALIQUOT_WRITE_GOLDEN"):
        os.makedirs(TEXTS, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open(path, encoding="utf-8") as file:
        assert text == file.read(), path


@pytest.fixture(name="team", scope="module")
def fixture_team(admin):
    """A namespace with one GPURecommendation in each state, called by it. There are no others, nor policies: what is
    shown of all namespaces is these."""
    for kind in ("gpurecommendations", "gpupolicies"):
        for left in admin.list(kind):
            admin.delete(kind, left["metadata"]["name"], left["metadata"].get("namespace"))
    admin.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    for state, path in sorted(STATES.items()):
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        admin.create("gpurecommendations", {
            "apiVersion": found["apiVersion"], "kind": found["kind"],
            "metadata": {"name": state, "namespace": "team"}, "spec": found["spec"]})
        admin.patch("gpurecommendations", state, {
            "apiVersion": found["apiVersion"], "kind": found["kind"], "status": found["status"]}, "team", "status",
            "apply", fieldManager="aliquot", fieldValidation="Strict")
    admin.create("gpupolicies", POLICY)
    admin.create("gpuworkloadgroups", GROUP)
    yield "team"
    admin.delete("gpupolicies", "rt")
    admin.delete("gpuworkloadgroups", "cron")
    for state in STATES:
        admin.delete("gpurecommendations", state, "team")


@pytest.mark.usefixtures("team")
def test_s1_kubectl_get_shows_each_state_in_a_line(cp):
    check("get", kubectl(cp, "get", "gpol,grec", "-A") + "\n" + kubectl(cp, "get", "gwg", "cron"))


def test_s1_kubectl_get_says_in_wide_why_one_is_not_ready(cp, team):
    """Between AGE and REASON stands what is another each day."""
    lines = kubectl(cp, "get", "grec", "-n", team, "-o", "wide").splitlines()
    age, reason = lines[0].index("AGE"), lines[0].index("REASON")
    check("get-wide", "".join(line[:age] + line[reason:] + "\n" for line in lines))


@pytest.mark.parametrize("state", sorted(STATES))
def test_s2_kubectl_describe_says_what_is_blocked(cp, team, state):
    check(state, kubectl(cp, "describe", "grec", state, "-n", team))
