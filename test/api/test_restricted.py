"""The overlay `restricted` (C28): aliquot-system enforces Pod Security's `restricted`, agents are in a namespace of their own.

On a control plane of its own, for it changes what all others look at.
"""

import copy
import os

import pytest

import controlplane
import manifests
import signing
from api import ApiError
from apisuite import pod, refusal
from test_rbac import AT_HOME, CANARY, EVERYWHERE, IN_CANARY, OF_AN_AGENT, granted, rights
from waiting import wait_until

HOME, AGENTS, P = "aliquot-system", "aliquot-agents", "aliquot.dev/"
NODE = "restricted-node"


def rendered():
    return manifests.with_component(manifests.render(), "restricted")


def one(kind, name, namespace=None):
    found, = [obj for obj in rendered() if (obj["kind"], obj["metadata"]["name"]) == (kind, name) and
              namespace in (None, obj["metadata"].get("namespace"))]
    return found


@pytest.fixture(scope="module")
def plane():
    """Installed as by default, and then with the overlay."""
    with controlplane.ControlPlane.up(with_parent=os.getpid()) as found:
        manifests.install(found.admin)
        manifests.install(found.admin, rendered())
        yield found


@pytest.fixture(scope="module")
def admin(plane):  # pylint: disable=redefined-outer-name
    return plane.admin


@pytest.fixture(scope="module")
def controller(plane):  # pylint: disable=redefined-outer-name
    return plane.client("controller")


@pytest.fixture(scope="module")
def agent(plane, admin):  # pylint: disable=redefined-outer-name
    """An agent as it is there: the token of a pod of a node."""
    yield from bound(plane, admin, AGENTS)


@pytest.fixture(scope="module")
def former(plane, admin):  # pylint: disable=redefined-outer-name
    """Who has the account that agents had before, which the overlay does not take away."""
    yield from bound(plane, admin, HOME)


def bound(plane, admin, namespace):  # pylint: disable=redefined-outer-name
    name = "agent-in-" + namespace
    obj = pod(name, namespace)
    obj["spec"].update(serviceAccountName=signing.ACCOUNT, nodeName=NODE)
    try:
        admin.create("nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
    except ApiError as error:
        assert error.status == 409
    made = admin.create("pods", obj)
    yield plane.client_of_token(admin.mint_token(signing.ACCOUNT, namespace, pod=made))
    admin.delete("pods", name, namespace, grace=0)


# What src/act makes; the unit tests act/body, act/probe_draft and act/mps know it word for word.

def container(name, **more):
    return {"name": name, "image": "aliquot:dev", "args": ["capacity", name],
            "env": [{"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "utility"}],
            "resources": {"limits": {"cpu": "10m", "memory": "32Mi", "nvidia.com/gpu": "1"}},
            "volumeMounts": [{"name": "identity", "mountPath": "/run/aliquot"}],
            "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                "capabilities": {"drop": ["ALL"]}}, **more}


def capacity(admin, mps=False):  # pylint: disable=redefined-outer-name
    owner = admin.get("configmaps", "aliquot-capacity", HOME)["metadata"]["uid"]
    obj = {"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": "capacity-mps" if mps else "capacity-none", "namespace": HOME,
        "labels": {"app.kubernetes.io/name": "aliquot-capacity", P + "capacity": "true", P + "in-use": "false"},
        "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "aliquot-capacity", "uid": owner, "controller": True}]},
        "spec": {
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 600, "priorityClassName": "aliquot-capacity",
            "serviceAccountName": "aliquot-capacity", "automountServiceAccountToken": False, "enableServiceLinks": False,
            "securityContext": {"runAsNonRoot": True, "runAsUser": 60812, "runAsGroup": 60812,
                                "seccompProfile": {"type": "RuntimeDefault"}},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
            "initContainers": [container("identify")], "containers": [container("hold")],
            "volumes": [{"name": "identity", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
                        {"name": "told", "downwardAPI": {"items": [{"path": "in-use", "fieldRef": {
                            "fieldPath": "metadata.labels['aliquot.dev/in-use']"}}]}}]}}
    if mps:
        obj["metadata"]["annotations"][P + "isolation"] = "MPS"
        obj["spec"]["hostPID"] = True
        obj["spec"]["volumes"].append({"name": "mps", "hostPath": {"path": "/run/aliquot/mps", "type": "DirectoryOrCreate"}})
        obj["spec"]["containers"][0]["securityContext"] = {
            "runAsNonRoot": False, "runAsUser": 0, "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN", "SYS_PTRACE"]}}
    return obj


def probe():
    obj = pod("probe-env", HOME, labels={P + "probe": "env"})
    obj["spec"]["containers"] = [container("probe", volumeMounts=[], env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "GPU-7"}])]
    return obj


def test_applying_it_again_changes_nothing(admin):
    """By server-side dry run, as `kubectl diff` asks."""
    for obj in rendered():
        before = admin.get(*place(admin, obj))
        after = admin.apply(obj, dryRun="All")
        for meta in (before["metadata"], after["metadata"]):
            meta.pop("managedFields", None)
            meta.pop("resourceVersion", None)
        # What is told of it by others in the meantime.
        for status in (before, after):
            status.pop("status", None)
        assert after == before, manifests.key_of(obj)


def place(api, obj):
    resource, namespaced = api.resource_of(obj)
    return resource, obj["metadata"]["name"], obj["metadata"].get("namespace") if namespaced else None


def test_c28_capacity_pods_are_taken_where_restricted_is_enforced(admin, controller):
    assert admin.get("namespaces", HOME)["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    for obj in (capacity(admin), probe(), pod("companion", HOME, labels={P + "companion": "true"})):
        made = controller.create("pods", obj)
        controller.delete("pods", obj["metadata"]["name"], HOME, grace=0, uid=made["metadata"]["uid"])


def test_c28_the_controllers_own_pods_are_taken_too(admin):
    """Those of its Deployment, which kube-controller-manager makes."""
    def made():
        found = admin.list("pods", HOME, labelSelector="app.kubernetes.io/component=controller")
        return [one for one in found if "--agent-namespace=" + AGENTS in one["spec"]["containers"][0]["args"]]
    wait_until(made, 60, lambda: "the controller's pods: %s" % admin.get("deployments", "aliquot-controller", HOME)["status"])


def test_c28_nothing_privileged_is_taken_there(admin, controller):
    """Not from the controller, whose own policy would let a capacity pod under MPS pass, nor from anybody else."""
    error = refusal(controller.create, "pods", capacity(admin, mps=True))
    assert error.status == 403 and 'violates PodSecurity "restricted' in error.message, error
    for change in ({"hostPID": True}, {"hostNetwork": True}, {"volumes": [{"name": "x", "hostPath": {"path": "/"}}]}):
        obj = pod("privileged", HOME)
        obj["spec"].update(change)
        error = refusal(admin.create, "pods", obj)
        assert "violates PodSecurity" in error.message, error
    obj = pod("privileged", HOME)
    obj["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    assert "violates PodSecurity" in refusal(admin.create, "pods", obj).message


def test_c28_an_agents_pod_is_taken_in_its_own_namespace_alone(admin):
    template = one("DaemonSet", "aliquot-agent")["spec"]["template"]
    for namespace in (AGENTS, HOME):
        obj = {"apiVersion": "v1", "kind": "Pod", "spec": copy.deepcopy(template["spec"]),
               "metadata": dict(template["metadata"], name="agent-of-a-test", namespace=namespace)}
        if namespace == AGENTS:
            admin.create("pods", obj)
            admin.delete("pods", "agent-of-a-test", namespace, grace=0)
        else:
            assert "violates PodSecurity" in refusal(admin.create, "pods", obj).message


@pytest.mark.parametrize("namespace, rows", [
    ("default", EVERYWHERE), ("kube-system", EVERYWHERE), (CANARY, IN_CANARY),
    (HOME, [row for row in AT_HOME if row[3] != "aliquot-agent"]),
    (AGENTS, EVERYWHERE + [("get patch", "", "secrets", "aliquot-agent")])])
def test_the_controller_may_do_exactly_this(controller, namespace, rows):
    """No pod is made or deleted where the agents are, and their Secret is nowhere else."""
    assert granted(controller, namespace) == rights(rows)


@pytest.mark.parametrize("namespace", ["default", HOME, AGENTS])
def test_an_agent_may_do_what_it_did_before(agent, namespace):
    assert granted(agent, namespace) == rights(OF_AN_AGENT)


@pytest.mark.parametrize("namespace", ["default", HOME, AGENTS])
def test_the_account_that_agents_had_may_do_nothing(former, namespace):
    assert granted(former, namespace) == set()


def test_agents_of_that_namespace_ask_for_certificates_and_nobody_else(admin, agent, former, tmp_path):
    pem = signing.make(tmp_path, [signing.agent_name(NODE)])[1]
    stored = agent.create("certificatesigningrequests", signing.request("of-an-agent", pem))
    assert stored["spec"]["username"] == "system:serviceaccount:aliquot-agents:aliquot-agent"
    assert stored["spec"]["extra"]["authentication.kubernetes.io/node-name"] == [NODE]
    admin.delete("certificatesigningrequests", "of-an-agent")
    error = refusal(agent.create, "certificatesigningrequests", signing.request("other", pem, signerName="example.com/other"))
    assert error.status == 403 and "alone" in error.message, error
    assert refusal(former.create, "certificatesigningrequests", signing.request("former", pem)).status == 403
    # RBAC is not all that keeps it from that.
    admin.create("clusterrolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "former"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "aliquot-agent"},
        "subjects": [{"kind": "ServiceAccount", "name": signing.ACCOUNT, "namespace": HOME}]})
    try:
        def told():
            return refusal(former.create, "certificatesigningrequests", signing.request("former", pem)).message
        wait_until(lambda: "only the agents of Aliquot ask" in told(), 60, lambda: told())  # pylint: disable=unnecessary-lambda
    finally:
        admin.delete("clusterrolebindings", "former")


def test_agents_name_gpus_and_others_are_warned_everywhere_else(admin):
    def warned(namespace):
        obj = pod("naming", namespace)
        obj["spec"]["containers"][0]["env"] = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
        said = admin.warnings("POST", "/api/v1/namespaces/%s/pods?dryRun=All" % namespace, obj)
        return [line for line in said if "aliquot-around" in line]
    wait_until(lambda: warned(HOME) and not warned(AGENTS), 60, "the policy to know the namespaces")


# Without a server.

def test_each_namespace_has_what_is_its_own():
    ours = {obj["metadata"]["name"]: obj["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
            for obj in rendered() if obj["kind"] == "Namespace"}
    assert ours == {HOME: "restricted", AGENTS: "privileged", CANARY: "baseline"}
    assert {(obj["kind"], obj["metadata"]["name"]) for obj in rendered() if obj["metadata"].get("namespace") == AGENTS} == {
        ("DaemonSet", "aliquot-agent"), ("ServiceAccount", "aliquot-agent"), ("Secret", "aliquot-agent"),
        ("NetworkPolicy", "aliquot-agent"), ("Role", "aliquot-controller"), ("RoleBinding", "aliquot-controller")}
    assert "system:serviceaccount:aliquot-system:aliquot-agent" not in str(rendered())
    webhook, = one("MutatingWebhookConfiguration", "zz-aliquot")["webhooks"]
    assert webhook["namespaceSelector"]["matchExpressions"][0]["values"] == [HOME, "kube-system", AGENTS]
    subject, = one("ClusterRoleBinding", "aliquot-agent")["subjects"]
    assert subject == {"kind": "ServiceAccount", "name": "aliquot-agent", "namespace": AGENTS}


def test_they_reach_each_other_and_nobody_else_is_let_in():
    def peer(namespace, labels):
        return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "podSelector": {"matchLabels": labels}}
    of_agents, of_controllers = one("NetworkPolicy", "aliquot-agent")["spec"], one("NetworkPolicy", "aliquot-controller")["spec"]
    ours = peer(HOME, {"app.kubernetes.io/name": "aliquot", "app.kubernetes.io/component": "controller"})
    metrics, state = of_agents["ingress"]
    assert state["from"] == [ours] and ours in metrics["from"]
    assert all("namespaceSelector" in who for who in metrics["from"])
    assert [rule["to"] for rule in of_controllers["egress"] if "to" in rule] == [[peer(AGENTS, {P + "agent": "true"})]]
