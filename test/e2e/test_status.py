"""`aliquot status`: what a person sees at a shell, with whatever rights (S4)."""

import json
import os
import re
import subprocess

import pytest

from helpers import on, placed
from stack import binary
from waiting import wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def status(config, *arguments, env=None):
    """(exit status, standard output, standard error) of one call."""
    clean = {key: value for key, value in os.environ.items() if key not in ("KUBECONFIG", "HOME")}
    argv = [binary(), "status"] + (["--kubeconfig", config] if config else []) + list(arguments)
    done = subprocess.run(argv, env=dict(clean, **(env or {})), capture_output=True, timeout=150, check=False, text=True)
    return done.returncode, done.stdout, done.stderr


def told(config, *arguments):
    """What it says as JSON."""
    code, out, errors = status(config, "-o", "json", *arguments)
    assert (code, errors) == (0, ""), (code, out, errors)
    return json.loads(out)


def shown(config, *arguments):
    """What it says as text, whose lines fit."""
    code, out, errors = status(config, *arguments)
    assert (code, errors) == (0, ""), (code, out, errors)
    assert all(len(line) <= 100 for line in out.splitlines()), out
    return out


@pytest.fixture(name="admin")
def fixture_admin(stack):
    return stack.plane.kubeconfig("admin")


@pytest.fixture(name="account")
def fixture_account(stack, name, tmp_path):
    """account(): the name and the kubeconfig of a new service account, which may read nothing."""
    made = []

    def make():
        one = name()
        stack.api.create("serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": one}},
                         namespace="default")
        made.append(one)
        code, body = stack.api.raw("POST", "/api/v1/namespaces/default/serviceaccounts/%s/token" % one, {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        assert code == 201, body
        with open(stack.plane.kubeconfig("admin"), encoding="utf-8") as file:
            config = json.load(file)
        config["users"] = [{"name": one, "user": {"token": json.loads(body)["status"]["token"]}}]
        config["contexts"] = [
            {"name": "mine", "context": {"cluster": "plane", "user": one, "namespace": "default"}},
            {"name": "other", "context": {"cluster": "plane", "user": one, "namespace": "kube-system"}}]
        config["current-context"] = "mine"
        path = tmp_path / (one + ".kubeconfig")
        path.write_text(json.dumps(config), encoding="utf-8")
        return one, str(path)
    yield make
    for one in made:
        stack.api.delete("serviceaccounts", one, "default")


def granted(stack, account, role, cluster):
    """Binds these rules to the account; a callable that takes them away."""
    kind, where = ("ClusterRole", None) if cluster else ("Role", "default")
    api = "rbac.authorization.k8s.io/v1"
    meta = {"name": account}
    stack.api.create(kind.lower() + "s", {"apiVersion": api, "kind": kind, "metadata": meta, "rules": role}, namespace=where)
    stack.api.create(kind.lower() + "bindings", {
        "apiVersion": api, "kind": kind + "Binding", "metadata": meta,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": account},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "default"}]}, namespace=where)

    def take_away():
        for plural in (kind.lower() + "bindings", kind.lower() + "s"):
            stack.api.delete(plural, account, where)
    return take_away


def create_whole(stack, name, node, gpus, kind):
    """A pod that runs with whole GPUs, of an owner of that kind; None: nobody's."""
    obj = stack.pod(name, gpus=gpus, **on(node))
    if kind is not None:
        obj["metadata"]["ownerReferences"] = [{"apiVersion": "example.com/v1", "kind": kind, "controller": True,
                                               "name": "one", "uid": "00000000-0000-0000-0000-000000000000"}]
    stack.api.create("pods", obj, namespace="default")
    stack.wait_running(name, 60)


def names(found):
    return sorted(pod["name"] for pod in found["pods"])


def of_kind(report, kind):
    return next((row for row in report["unrecognized"] if row["kind"] == kind), None)


@pytest.mark.timeout(300)
def test_s4_pods_of_unknown_owners_are_listed_by_kind_and_the_ownerless_apart(stack, node, name, admin):
    """The command tells what the metric tells, and which pods those are."""
    kind = "Gizmo" + name().replace("-", "")
    strange, alone = [name(), name()], name()
    create_whole(stack, strange[0], node(2), 2, kind)
    create_whole(stack, strange[1], node(), 1, kind)
    create_whole(stack, alone, node(), 1, None)
    report = told(admin)
    row = of_kind(report, kind)
    assert (row["group"], row["milli"], row["count"], names(row)) == ("example.com", 3000, 2, strange), report
    assert alone in names(report["ownerless"]) and not set(strange) & set(names(report["ownerless"])), report
    assert report["ownerless"]["milli"] >= 1000
    series = 'aliquot_unrecognized_milli{group="example.com",kind="%s"}' % kind
    wait_until(lambda: stack.leader().metric(series) == 3000, 60, "the metric to say the same")
    text = shown(admin, "-n", "default")
    listed, nobodys = text.split("Unrecognized", 1)[1].split("Ownerless", 1)
    assert re.search(r"^  %s\.example\.com: 3 GPUs of 2 pods:" % kind, listed, re.M), text
    assert re.match(r" +[0-9.]+ GPUs? of [0-9]+ pods?:", nobodys), text
    for pod in strange:
        stack.api.delete("pods", pod, "default", grace=0)
    wait_until(lambda: of_kind(told(admin), kind) is None, 60, "nothing to be told of " + kind)


@pytest.mark.timeout(300)
def test_who_waits_and_who_was_left_whole_is_told_with_the_reason(stack, node, name, admin):
    waits, wrong = name(), name()
    stack.create_pod(waits, fraction="0.5", memory="200Gi", **on(node()))
    stack.create_pod(wrong, fraction="0,5", **on(node()))
    stack.wait_pod(waits, lambda found: placed(found).get("status") == "False", 60)
    stack.wait_pod(wrong, lambda found: placed(found).get("reason") == "BadValue", 60)

    def as_written():
        row, = [row for row in told(admin)["waiting"]["pods"] if row["name"] == waits]
        condition = placed(stack.get_pod(waits))
        return (row["reason"], row["message"]) == (condition["reason"], condition["message"])
    # The sentence may be renewed between the two looks.
    wait_until(as_written, 60, "its reason to be told as it is written")
    report = told(admin)
    row, = [row for row in report["leftWhole"]["pods"] if row["name"] == wrong]
    assert row["reason"] == "BadValue" and "0,5" in row["message"], row
    text = " ".join(shown(admin).split())
    assert re.search(r"Waiting \d+ pods?", text) and "Left whole" in text, text
    assert report["controller"]["leader"] == stack.holder(), report
    # Tests run the controllers, and no Deployment.
    assert report["controller"]["webhook"] == "is not answered: pods start whole", report
    nodes = [int(each["status"]["allocatable"].get("nvidia.com/gpu", 0)) for each in stack.api.list("nodes")]
    gpus = report["gpus"]
    assert (gpus["total"], gpus["nodes"]) == (sum(nodes), sum(1 for each in nodes if each > 0)), gpus


def test_a_tenant_and_its_gpu_are_counted(stack, node, name, admin):
    before, pod = told(admin)["gpus"], name()
    stack.create_pod(pod, fraction="0.25", **on(node()))
    stack.wait_running(pod, 60)

    def counted():
        # Those of tests before this one may still be leaving.
        gpus = told(admin)["gpus"]
        return gpus["tenants"] >= 1 and gpus["tenantMilli"] >= 250 and gpus["shared"] >= 1 and \
            gpus["idle"] == gpus["total"] - gpus["whole"] - gpus["shared"]
    wait_until(counted, 60, lambda: "the tenant to be counted: %s before" % before)


def test_who_may_read_nothing_is_told_so(account):
    code, out, errors = status(account()[1])
    assert (code, out) == (1, ""), (code, out, errors)
    assert re.fullmatch(r"aliquot status: https://\S+ lets this account read nothing that is to be shown\n", errors)


def test_who_may_look_at_one_namespace_sees_that(stack, account):
    """It says what it may not read, and shows what the account's own namespace has."""
    one, config = account()
    take_away = granted(stack, one, [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}], cluster=False)
    try:
        wait_until(lambda: status(config)[0] == 0, 60, "the right to be known")
        text = " ".join(shown(config).split())
        assert "cannot list pods in all namespaces: forbidden; shown: namespace default" in text, text
        assert "cannot list nodes: forbidden" in text and "cannot read Lease" in text, text
        assert "in namespace default:" in text, text
        # A context whose namespace is another one shows nothing.
        code, out, errors = status(config, "--context", "other")
        assert (code, out) == (1, "") and "read nothing" in errors, (code, out, errors)
        assert told(config, "--context", "other", "--namespace", "default")["namespace"] == "default"
    finally:
        take_away()


def test_the_rights_that_the_document_names_are_enough(stack, account):
    """Of what is there nothing stays untold."""
    yaml = pytest.importorskip("yaml")
    with open(os.path.join(ROOT, "docs", "operating.md"), encoding="utf-8") as file:
        text = file.read().split("## The state at a shell", 1)[1]
    role = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.S).group(1))
    one, config = account()
    take_away = granted(stack, one, role["rules"], cluster=True)
    # Tests run the controllers, and no Deployment.
    gaps = ["there is no Deployment aliquot-system/aliquot-controller"]
    try:
        wait_until(lambda: status(config)[0] == 0 and told(config)["notShown"] == gaps, 60,
                   lambda: "nothing to be forbidden: %s" % (status(config, "-o", "json"),))
    finally:
        take_away()


def test_where_the_configuration_comes_from(stack, admin, tmp_path):
    """KUBECONFIG, else ~/.kube/config; neither is a fault, and so is a server that nobody listens at."""
    assert status(None, env={"KUBECONFIG": admin})[0] == 0
    (tmp_path / ".kube").mkdir()
    with open(admin, encoding="utf-8") as file:
        config = file.read()
    (tmp_path / ".kube" / "config").write_text(config, encoding="utf-8")
    assert status(None, env={"HOME": str(tmp_path)})[0] == 0
    assert status(None, env={"HOME": str(tmp_path / "nowhere")})[0] == 1
    away = tmp_path / "away"
    away.write_text(config.replace(stack.plane.info()["url"], "https://127.0.0.1:1"), encoding="utf-8")
    code, out, errors = status(str(away))
    assert (code, out) == (1, "") and errors.startswith("aliquot status: cannot reach https://127.0.0.1:1: "), errors
    for ns in ("", "..", "-a", "A", "a.b", "a/b", "x" * 64, "x" * 100000):
        code, out, errors = status(admin, "-n", ns)
        assert (code, out) == (2, "") and "--namespace wants a namespace's name" in errors, (ns, errors)
    assert status(admin, "-n", "x" * 63)[0] == 0
    assert status(admin, "--output", "yaml")[0] == 2 and status(admin, "what")[0] == 2
