"""Who may ask for the certificate of an agent, and what an agent may ask for: the policy aliquot-agent-key."""

import base64

import pytest

import signing
from apisuite import pod, refusal
from waiting import wait_until

HOME, RESOURCE, NODE = signing.HOME, "certificatesigningrequests", "keys-node"


@pytest.fixture(scope="module", name="bound")
def fixture_bound(cp, admin):
    """An agent whose token is bound to a pod of NODE."""
    admin.create("nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
    obj = pod("agent-of-a-node", HOME)
    obj["spec"].update(serviceAccountName=signing.ACCOUNT, nodeName=NODE)
    made = admin.create("pods", obj)
    yield cp.client_of_token(admin.mint_token(signing.ACCOUNT, HOME, pod=made))
    admin.delete("pods", "agent-of-a-node", HOME, grace=0)
    admin.delete("nodes", NODE)


@pytest.fixture(name="ask")
def fixture_ask(admin, tmp_path):
    """ask(client, **spec): the stored request, which goes after the test."""
    made, pem = [], signing.make(tmp_path, [signing.agent_name(NODE)])[1]

    def ask(client, name="keys", **spec):
        made.append(client.create(RESOURCE, signing.request(name, pem, **spec)))
        return made[-1]
    yield ask
    for obj in made:
        admin.delete(RESOURCE, obj["metadata"]["name"])


def test_an_agent_asks_and_the_api_server_says_for_which_node(bound, ask):
    stored = ask(bound)
    assert stored["spec"]["username"] == "system:serviceaccount:aliquot-system:aliquot-agent"
    assert stored["spec"]["extra"]["authentication.kubernetes.io/node-name"] == [NODE]
    assert bound.get(RESOURCE, "keys")["metadata"]["uid"] == stored["metadata"]["uid"]


def test_nobody_says_himself_where_he_is(bound, ask):
    stored = ask(bound, extra={"authentication.kubernetes.io/node-name": ["another"]}, username="jane")
    assert stored["spec"]["username"] == "system:serviceaccount:aliquot-system:aliquot-agent"
    assert stored["spec"]["extra"]["authentication.kubernetes.io/node-name"] == [NODE]


@pytest.mark.parametrize("spec, word", [
    ({"signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]}, "alone"),
    ({"signerName": "kubernetes.io/kubelet-serving"}, "alone"),
    ({"usages": ["digital signature", "client auth"]}, "a server's certificate"),
    ({"usages": ["digital signature", "server auth", "cert sign"]}, "a server's certificate"),
    ({"expirationSeconds": 86401}, "for a day at most"),
    ({"expirationSeconds": None}, "for a day at most"),
])
def test_an_agent_asks_for_nothing_else(bound, ask, spec, word):
    error = refusal(ask, bound, **spec)
    assert error.status == 403 and word in error.message, error


def test_a_huge_request_is_refused(bound, ask, tmp_path):
    many = signing.make(tmp_path, ["n%d.%s" % (i, signing.agent_name(NODE)) for i in range(200)])[1]
    error = refusal(ask, bound, request=base64.b64encode(many).decode())
    assert error.status == 403 and "a server's certificate" in error.message, error


def test_a_token_that_names_no_node_asks_for_nothing(agent, ask):
    error = refusal(ask, agent)
    assert error.status == 403 and "shared-agent-key" in error.message, error


def test_nobody_else_asks_for_the_certificate_of_an_agent(admin, ask):
    """Not even who may do everything, by mistake: the policy can be lifted, and says what it is for."""
    error = refusal(ask, admin)
    assert error.status == 403 and "only the agents of Aliquot" in error.message, error
    stored = ask(admin, signerName="example.com/other", name="keys-other")
    assert stored["spec"]["signerName"] == "example.com/other"


def verdict(kind="Approved"):
    return {"status": {"conditions": [{"type": kind, "status": "True", "reason": "Test", "message": "of a test"}]}}


def test_the_controller_approves_for_our_signer_alone(admin, controller, bound, ask):
    """RBAC names the signer; the API server's own admission asks for it."""
    ask(bound)
    ask(admin, signerName="example.com/other", name="keys-other")
    error = refusal(controller.patch, RESOURCE, "keys-other", verdict(), sub="approval")
    assert error.status == 403 and "signer" in error.message, error
    wait_until(lambda: controller.patch(RESOURCE, "keys", verdict(), sub="approval"), 60, "the approval")
    stored = admin.get(RESOURCE, "keys")
    assert [one["type"] for one in stored["status"]["conditions"]] == ["Approved"]
    assert "certificate" not in stored["status"]
