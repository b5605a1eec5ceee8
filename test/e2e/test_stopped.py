"""What stops replacements: a disruption budget that only the API server knows, a webhook that is away, pods that come
back whole, and the budget of all workloads after a start."""

import concurrent.futures
import contextlib
import datetime
import re
import socket

import pytest

from api import ApiError
from helpers import events, is_tenant, is_whole
from rolled import rolled_on, stack_of
from test_rolling import DAY, is_ready
from waiting import wait_until

WHERE = "stop-0"
MANY = 20
STACK = stack_of(9404, (WHERE, MANY + 2))


@pytest.fixture(name="rolled")
def fixture_rolled(stack, name):
    if not stack.controllers[0].can_crash():
        pytest.skip("this build's policy time is the wall's; a sanitized one can be told")
    with rolled_on(stack, name, WHERE) as rolled:
        yield rolled


def restart(stack):
    controller, = stack.controllers
    assert controller.stop() == 0
    controller.start(wait_ready=False)
    stack.heal()


def sees_budgets(stack):
    """Whether the API server, which learns of its rules by watches, lets our account see disruption budgets."""
    try:
        return stack.plane.client("controller").list("poddisruptionbudgets") is not None
    except ApiError as error:
        assert error.status == 403, error
        return False


@pytest.fixture(name="blind")
def fixture_blind(stack):
    """Our account may not see disruption budgets."""
    role = stack.api.get("clusterroles", "aliquot-controller")
    rules = [r for r in role["rules"] if "poddisruptionbudgets" not in r.get("resources", [])]
    assert len(rules) == len(role["rules"]) - 1
    stack.api.patch("clusterroles", "aliquot-controller", {"rules": rules})
    wait_until(lambda: not sees_budgets(stack), 60, "budgets to be out of sight")
    restart(stack)
    yield
    stack.api.patch("clusterroles", "aliquot-controller", {"rules": role["rules"]})
    wait_until(lambda: sees_budgets(stack), 60, "budgets to be in sight")
    restart(stack)


def next_try(blocked):
    """Seconds since 1970; 0: it does not wait for a time, or not because of a budget."""
    found = re.search(r"looked at again at (\S+?)(\.\d+)?Z", blocked[1]) if blocked[0] == "PDB" else None
    return found and datetime.datetime.fromisoformat(found.group(1) + "+00:00").timestamp() or 0


def learn(rolled, name):
    """Enough is known of it, and the controller has been at it for two minutes: nothing waits for policy time."""
    rolled.wait_later(lambda: rolled.condition(name, "HistorySufficient")[0] == "Sufficient", "enough history")
    rolled.go_on(150)


@pytest.mark.usefixtures("blind")
@pytest.mark.timeout(400)
def test_u2_a_budget_that_only_the_api_server_knows(rolled):
    """429: nobody goes, its words name the budget, and each try is later than the last: 30 s, doubling, at most 10 min."""
    controller, = rolled.stack.controllers
    rolled.policy(mode="Recommend")
    rolled.deploy("web", 2)
    rolled.budget("web", 2)
    learn(rolled, "web")
    tries, since = [], controller.policy_time()
    with rolled.watched("web"):
        rolled.policy(mode="Automate")
        for _ in range(7):
            def refused():
                blocked = rolled.blocked("web")
                return next_try(blocked) > since and blocked  # pylint: disable=cell-var-from-loop
            blocked = rolled.wait(refused, "a refusal")
            due = next_try(blocked)
            assert "web-pdb" in blocked[1], blocked
            tries.append((due - controller.policy_time(), due - since))
            rolled.forward(max(0, int(due - controller.policy_time()) + 1))
            since = due
    # From the answer on, which came after `since` and before it was seen here; times are told in seconds.
    wanted = (30, 60, 120, 240, 480, 600, 600)
    assert all(least <= wait <= most + 1 for wait, (least, most) in zip(wanted, tries)), tries
    assert rolled.fewest == 2 and len(rolled.uids) == 2 and all(is_whole(p) for p in rolled.running("web"))


@contextlib.contextmanager
def unreachable(stack):
    """The API server knocks where nobody listens."""
    def point_at(port):
        stack.api.patch("mutatingwebhookconfigurations", "zz-aliquot", [
            {"op": "replace", "path": "/webhooks/0/clientConfig/url", "value": "https://127.0.0.1:%d/admit" % port}],
                        kind="json")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        point_at(nobody.getsockname()[1])
        try:
            yield
        finally:
            point_at(stack.webhook_port)
            stack.wait_converting()


@pytest.mark.timeout(400)
def test_u11_nobody_goes_while_the_webhook_is_away(rolled):
    """Whoever went would come back whole. What comes meanwhile is whole, and told. Once it is back all get their share."""
    leader = rolled.stack.leader()
    rolled.policy(mode="Recommend")
    with unreachable(rolled.stack):
        rolled.deploy("web", 2)
        with rolled.watched("web"):
            rolled.wait_later(lambda: rolled.condition("web", "HistorySufficient")[0] == "Sufficient", "enough history")
            wait_until(lambda: leader.metric("aliquot_webhook_reachable") == 0, 90, "the canary to miss")
            rolled.policy(mode="Automate")
            message = rolled.wait_blocked("web", "WebhookUnhealthy")
            assert "a new pod might start whole" in message, message
            rolled.forward(3600)
            rolled.look()
        assert rolled.fewest == 2 and len(rolled.uids) == 2
        rolled.api.delete("pods", rolled.running("web")[0]["metadata"]["name"], rolled.space, grace=0)
        rolled.wait(lambda: len(rolled.running("web")) == 2, "the second to come back")
        assert all(is_whole(p) for p in rolled.running("web"))
        rolled.wait_later(lambda: rolled.status("web")["summary"].get("pods") == "0/2" and
                          rolled.blocked("web")[0] == "WebhookUnhealthy", "that to be told")
    rolled.wait_later(lambda: any(is_tenant(p) for p in rolled.running("web")), "the first to have a share", 200)


def limit(rolled):
    """Admission leaves pods of such a namespace whole (C4, C7)."""
    rolled.api.create("limitranges", {
        "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "gpus", "namespace": rolled.space},
        "spec": {"limits": [{"type": "Container", "max": {"nvidia.com/gpu": "4"}}]}})


def own_devices(rolled):
    """A template whose pods admission leaves whole (C4), and runs of which nobody sees why."""
    container = dict(rolled.stack.pod("x")["spec"]["containers"][0])
    container["env"] = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "0"}]
    return {"containers": [container]}


@pytest.mark.timeout(400)
def test_c4_nobody_goes_whom_admission_leaves_whole(rolled):
    """Neither where the namespace keeps it whole nor where the template does, which nobody reads before one is to go."""
    # Before there are pods: by the time that they run enough may be known of them.
    limit(rolled)
    rolled.deploy("limited", 2)
    rolled.deploy("own", 2, **own_devices(rolled))
    with rolled.watched("limited"):
        assert "LimitRange" in rolled.wait_blocked("limited", "Unsupported")
        rolled.forward(DAY)
        rolled.look()
    assert rolled.fewest == 2 and len(rolled.uids) == 2
    rolled.api.delete("limitranges", "gpus", rolled.space)
    with rolled.watched("own"):
        rolled.wait_later(lambda: "OwnVisibleDevices" in rolled.blocked("own")[1], "its template to be told of", 200)
        rolled.forward(DAY)
        rolled.look()
    assert rolled.fewest == 2 and len(rolled.uids) == 2
    rolled.wait_later(lambda: any(is_tenant(p) for p in rolled.running("limited")), "one to have a share", 200)


@contextlib.contextmanager
def privileged_by_others(rolled):
    """Somebody else's admission changes each new pod of the namespace, so that ours leaves it whole: no template tells."""
    name, group = rolled.space, "admissionregistration.k8s.io/v1"
    rolled.api.create("mutatingadmissionpolicies." + group, {
        "apiVersion": group, "kind": "MutatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {"failurePolicy": "Fail", "reinvocationPolicy": "Never", "matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]},
                 "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression":
                     '[JSONPatch{op: "add", path: "/spec/containers/0/securityContext", '
                     'value: Object.spec.containers.securityContext{privileged: true}}]'}}]}})
    rolled.api.create("mutatingadmissionpolicybindings." + group, {
        "apiVersion": group, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": name},
        "spec": {"policyName": name, "matchResources": {"namespaceSelector": {
            "matchLabels": {"kubernetes.io/metadata.name": rolled.space}}}}})
    probe = rolled.stack.pod("probe", rolled.space)
    wait_until(lambda: rolled.api.create("pods", probe, rolled.space, dryRun="All")["spec"]["containers"][0].get(
        "securityContext"), 60, "their policy to act")
    try:
        yield
    finally:
        rolled.api.delete("mutatingadmissionpolicybindings." + group, name)
        rolled.api.delete("mutatingadmissionpolicies." + group, name)


@pytest.mark.timeout(400)
def test_u12_two_that_come_back_whole_stop_it(rolled):
    """Two are evicted in vain, and no third. Once a person has mended it and changed the policy it goes on."""
    # Nobody goes before their policy acts, however long it takes all to run.
    rolled.policy(mode="Recommend")
    rolled.deploy("web", 3)
    with privileged_by_others(rolled), rolled.watched("web"):
        rolled.policy(mode="Automate")
        rolled.wait_later(lambda: rolled.condition("web", "Paused")[0] == "NoEffect", "it to stop", 200)
        rolled.forward(4 * DAY)
        rolled.look()
        rolled.wait(lambda: len(rolled.running("web")) == 3, "the last to run")
    assert rolled.fewest == 2 and len(rolled.uids) == 5, (rolled.fewest, rolled.uids)
    assert all(is_whole(p) for p in rolled.running("web"))
    assert rolled.condition("web", "Paused")[0] == "NoEffect"
    grec = rolled.api.get("gpurecommendations", "deployment-web", rolled.space)
    rolled.wait(lambda: events(rolled.stack, grec, "AutomationPaused"), "the event")
    failed = rolled.wait(lambda: events(rolled.stack, grec, "ReplacementFailed"), "the event of the failure")
    assert "came without a share" in failed[0]["message"]
    rolled.policy(update={"minChangePercent": 11})
    rolled.wait_later(lambda: any(is_tenant(p) for p in rolled.running("web")), "one to have a share", 200)
    rolled.wait(lambda: rolled.condition("web", "Paused")[0] is None, "it not to be told any more")


def learnt(rolled):
    return [g for g in rolled.api.list("gpurecommendations", rolled.space) if any(
        c["reason"] == "Sufficient" for c in g.get("status", {}).get("conditions", []))]


@pytest.mark.timeout(600)
def test_u13_no_stampede_after_a_start(rolled):
    """So many Deployments whose pods should have another share when a controller begins: for two minutes nobody goes, and
    then no more than one in twenty in ten minutes."""
    controller, = rolled.stack.controllers
    rolled.policy(mode="Recommend")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: rolled.make("web-%d" % i, 1), range(MANY)))
    rolled.wait(lambda: len([p for p in rolled.pods(rolled="true") if is_ready(p) and is_whole(p)]) == MANY, "all to run")
    rolled.wait_later(lambda: len(learnt(rolled)) == MANY, "enough history of all")
    assert controller.stop() == 0
    rolled.policy(mode="Automate")
    first = {p["metadata"]["uid"] for p in rolled.pods(rolled="true")}
    began, seen, most = controller.policy_time(), [], MANY // 20
    controller.start()

    def gone():
        """When it was asked for, when it was answered, and how many had gone: by then, and not all of them before."""
        asked = controller.policy_time() - began
        count = len(first - {p["metadata"]["uid"] for p in rolled.pods(rolled="true")})
        seen.append((asked, controller.policy_time() - began, count))
        return count
    # In steps of which the bound below allows for two.
    rolled.wait_later(lambda: gone() >= 2 * most, "twice as many as may go at once", 200, 20)
    assert all(count == 0 for _, until, count in seen if until < 120), seen
    # Between two looks somebody may go at any time; and of the time that it was told the controller may not have read the
    # last step yet.
    assert all(later - count <= most for at, _, count in seen for _, until, later in seen
               if at <= until < at + 560), seen
