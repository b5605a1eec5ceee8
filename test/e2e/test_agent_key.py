"""A key for each agent: who answers for a node has the certificate of that node, which nobody else is given."""

import os
import socket
import ssl
import subprocess

import agents
import certificates
import signing
from helpers import on
from waiting import wait_until

RESOURCE = "certificatesigningrequests"
DENIED, HEARD = 'aliquot_agent_reads_total{result="denied"}', 'aliquot_agent_reads_total{result="ok"}'


def tenant(stack, name, where):
    """The controller wants to know of nodes where tenants are."""
    one = name()
    stack.create_pod(one, fraction="0.5", **on(where))
    return stack.wait_running(one, 60)


def shown(stack, where):
    """The text of the certificate that the agent there shows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((agents.address(stack, where), agents.STATE_PORT), 5) as plain, \
            context.wrap_socket(plain) as tls:
        pem = ssl.DER_cert_to_PEM_cert(tls.getpeercert(True))
    return subprocess.run(["openssl", "x509", "-noout", "-text"], input=pem.encode(), check=True, timeout=60,
                          capture_output=True).stdout.decode()


def unhealthy(where):
    return 'aliquot_unhealthy_gpus{node="%s"}' % where


def heard(stack, where):
    """The leader, once it has heard the agent there."""
    leader = stack.wait_leader()
    wait_until(lambda: unhealthy(where) in leader.metrics(), 60,
               lambda: "the agent to be heard\n%s\n%s" % (leader.log(), agents.log(stack, where)))
    return leader


def of_node(stack, where):
    return [one for one in stack.api.list(RESOURCE)
            if one["spec"].get("extra", {}).get("authentication.kubernetes.io/node-name") == [where]]


def test_an_agent_gets_the_certificate_of_its_node_and_is_heard_by_it(stack, node, name, agents_on):
    where = node()
    agents_on(where)
    tenant(stack, name, where)
    heard(stack, where)
    text = shown(stack, where)
    assert "DNS:" + signing.agent_name(where) in text and text.count("DNS:") == 1, text
    assert "Issuer: CN = aliquot authority" in text
    request, = of_node(stack, where)
    assert request["spec"]["username"] == "system:serviceaccount:aliquot-system:aliquot-agent"
    assert [one["type"] for one in request["status"]["conditions"]] == ["Approved"]
    assert not [one for one in agents.pod_on(stack, where)["spec"]["volumes"] if "secret" in one], "it has a key of others"


def answered(stack, client, folder, one, node):
    """What became of a request for the certificate of NODE by somebody with that token; and its key."""
    key, pem = signing.make(folder, [signing.agent_name(node)])
    client.create(RESOURCE, signing.request(one, pem))

    def status():
        found = stack.api.get(RESOURCE, one).get("status") or {}
        refused = [each["message"] for each in found.get("conditions") or [] if each["type"] == "Denied"]
        return ("denied", refused[0]) if refused else found.get("certificate") and ("signed", found["certificate"])
    try:
        return key, wait_until(status, 60, lambda: "an answer\n" + stack.logs())
    finally:
        stack.api.delete(RESOURCE, one)


def token_of(stack, where):
    """Somebody who has read the token of the agent there."""
    token = stack.api.mint_token(signing.ACCOUNT, agents.HOME, pod=agents.pod_on(stack, where))
    return stack.plane.client_of_token(token)


def test_an_agent_is_not_given_the_certificate_of_another_node(stack, node, agents_on, tmp_path):
    where, other = node(), node()
    agents_on(where)
    client = token_of(stack, where)
    _, (verdict, why) = answered(stack, client, tmp_path, "for-another", other)
    assert verdict == "denied" and where in why and "other names" in why, why
    _, (verdict, _) = answered(stack, client, tmp_path, "for-itself", where)
    assert verdict == "signed"


def folder_with(path, cert, key):
    os.makedirs(path)
    for file, text in (("tls.crt", cert), ("tls.key", key)):
        with open(os.path.join(path, file), "w", encoding="ascii") as out:
            out.write(text)
    os.chmod(path, 0o755)
    return path


def refused(stack, name, where, fault):
    """The leader asks the agent there, and believes nothing of it."""
    tenant(stack, name, where)
    leader = stack.wait_leader()
    before = leader.metric(DENIED)
    wait_until(lambda: leader.metric(DENIED) >= before + 2, 60, lambda: "answers to be refused\n" + leader.log())
    told = leader.log(200000)
    assert fault in told and where in told, told[-6000:]
    assert unhealthy(where) not in leader.metrics()


def test_who_has_another_nodes_certificate_is_not_believed(stack, node, name, agents_on, tmp_path):
    """Somebody with the key of node A at the address of the agent of node B."""
    where, other = node(), node()
    agents_on(where)
    key, (verdict, coded) = answered(stack, token_of(stack, where), tmp_path, "of-a", where)
    assert verdict == "signed"
    agents.end_product(stack)
    with open(key, encoding="ascii") as file:
        folder = folder_with(str(tmp_path / "tls"), certificates.decoded(coded), file.read())
    agents_on(other, arguments=["--tls-dir=" + folder])
    assert signing.agent_name(where) in shown(stack, other)
    refused(stack, name, other, "not the agent of this node")


def test_who_has_the_shared_certificate_is_not_believed_for_a_node_that_has_its_own(stack, node, name, agents_on, tmp_path):
    """No way back to the key that all agents had."""
    where = node()
    secret = wait_until(lambda: certificates.secret(stack, "aliquot-agent"), 60, "the shared certificate")
    folder = folder_with(str(tmp_path / "tls"), secret["tls.crt"], secret["tls.key"])
    agents_on(where, arguments=["--tls-dir=" + folder])
    assert "DNS:aliquot-agent.aliquot-system.svc" in shown(stack, where)
    refused(stack, name, where, "not the agent of this node")


def test_c30_an_agent_of_the_version_before_is_heard_by_the_shared_certificate(stack, node, name, agents_on):
    """As one in a cluster whose tokens do not name their node."""
    where = node()
    agents_on(where, component="shared-agent-key")
    tenant(stack, name, where)
    heard(stack, where)
    assert "DNS:aliquot-agent.aliquot-system.svc" in shown(stack, where)
    assert not of_node(stack, where), "it asks for nothing"
