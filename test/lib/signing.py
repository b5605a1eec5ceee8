"""Certificate requests of agents, made by OpenSSL's command and by hand."""

import base64
import hashlib
import os
import subprocess

SIGNER = "aliquot.dev/agent"
USAGES = ["digital signature", "server auth"]
HOME, ACCOUNT = "aliquot-system", "aliquot-agent"


def agent_name(node):
    """The name in the certificate of a node's agent (docs/design/certificates.md)."""
    return hashlib.sha256(node.encode()).hexdigest()[:40] + ".aliquot-agent.aliquot-system.svc"


def make(folder, names, subject="/CN=aliquot-agent"):
    """(path of a new key, PEM of a request for it)"""
    key = os.path.join(str(folder), "agent.key")
    subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key], check=True, timeout=60)
    made = subprocess.run(["openssl", "req", "-new", "-key", key, "-subj", subject, "-addext",
                           "subjectAltName=" + ",".join("DNS:" + name for name in names)],
                          check=True, timeout=60, capture_output=True)
    return key, made.stdout


def request(name, pem, **spec):
    """A CertificateSigningRequest as an agent would write it, but for SPEC."""
    return {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
            "spec": {"signerName": SIGNER, "usages": USAGES, "expirationSeconds": 3600,
                     "request": base64.b64encode(pem).decode(), **spec}}
