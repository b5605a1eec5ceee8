"""The webhook's certificates: made, published before they are served, made anew without a restart.

Admission works throughout: pods are created all the while, and every one of them is converted.
"""

import base64
import datetime
import hashlib
import socket
import ssl
import subprocess
import threading

import pytest

import manifests
from api import ApiError
from helpers import is_tenant
from waiting import wait_until

STACK = {"nodes": [("plain-0", 1)], "controllers": 2}
SECRET, HOME = "aliquot-webhook", "aliquot-system"
KEYS = {"ca.crt", "ca.key", "ca-next.crt", "ca-next.key", "tls.crt", "tls.key"}


def secret(stack):
    """{key: PEM} of what is there."""
    data = (stack.api.find("secrets", SECRET, HOME) or {}).get("data") or {}
    return {key: base64.b64decode(value or "").decode() for key, value in data.items() if value}


def bundle(obj_or_stack):
    obj = obj_or_stack
    if not isinstance(obj, dict):
        obj = obj.api.get("mutatingwebhookconfigurations", "zz-aliquot")
    return base64.b64decode(obj["webhooks"][0]["clientConfig"].get("caBundle", "")).decode()


def certificates(pem):
    """The fingerprints of all certificates of a text."""
    parts = pem.split("-----BEGIN CERTIFICATE-----")[1:]
    return [_digest("-----BEGIN CERTIFICATE-----" + part) for part in parts]


def _digest(pem):
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem.strip())).hexdigest()


def served(controller):
    """The fingerprint of the leaf that a controller answers with."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", controller.webhook_port), 5) as plain, \
            context.wrap_socket(plain) as tls:
        return hashlib.sha256(tls.getpeercert(True)).hexdigest()


def trusted(controller, pem):
    """Whether a client that trusts this bundle alone would talk to the controller."""
    context = ssl.create_default_context(cadata=pem)
    try:
        with socket.create_connection(("127.0.0.1", controller.webhook_port), 5) as plain, \
                context.wrap_socket(plain, server_hostname="aliquot-webhook.aliquot-system.svc"):
            return True
    except ssl.SSLError:
        return False


class Stream:
    """Dry runs one after the other, on a thread, until the end: how many, and how many whole."""

    def __init__(self, stack):
        self.stack, self.made, self.whole, self.errors = stack, 0, 0, []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self._ended.is_set():
            try:
                pod = self.stack.api.create("pods", self.stack.pod("s", fraction="0.5"),
                                            dryRun="All")
                self.made += 1
                self.whole += not is_tenant(pod)
            except ApiError as error:
                self.errors.append(str(error))

    def __enter__(self):
        self._thread.start()
        wait_until(lambda: self.made >= 3, 60, "the stream to begin")
        return self

    def __exit__(self, *_):
        at = self.made
        try:
            wait_until(lambda: self.made >= at + 10, 60, "a few more after the change")
        finally:
            self._ended.set()
            self._thread.join(30)


def put(stack, **pems):
    """Writes the Secret as somebody else would; None empties a key."""
    data = {key.replace("_", "."): pem and base64.b64encode(pem.encode()).decode()
            for key, pem in pems.items()}
    stack.api.patch("secrets", SECRET, {"data": data}, HOME)


def settled(stack):
    """Everything of one piece: each controller serves the Secret's leaf, which the bundle trusts."""
    kept, pem = secret(stack), bundle(stack)
    authority, leaf = certificates(kept.get("ca.crt", "")), certificates(kept.get("tls.crt", ""))
    return authority and leaf and authority[0] in certificates(pem) and all(
        served(c) == leaf[0] and trusted(c, pem)
        for c in stack.controllers) and kept


def openssl(*argv, folder):
    subprocess.run(["openssl", *argv], check=True, capture_output=True, timeout=60, cwd=folder)


@pytest.fixture(autouse=True)
def processes(stack):
    """No controller was restarted: its process is the one from before."""
    before = [c.record["pid"] for c in stack.controllers]
    wait_until(lambda: settled(stack), 60, "certificates", ignore=(OSError,))
    yield
    assert [c.record["pid"] for c in stack.controllers if c.alive()] == before


def test_they_are_in_the_secret_and_the_configuration(stack):
    kept = settled(stack)
    assert {"ca.crt", "ca.key", "tls.crt", "tls.key"} <= set(kept) <= KEYS
    assert certificates(bundle(stack)) == certificates(kept["ca.crt"])
    stored = stack.api.get("secrets", SECRET, HOME)
    assert stored["type"] == "Opaque"
    assert "ca.key" not in bundle(stack) and "PRIVATE" not in bundle(stack)


def test_applying_the_manifests_again_changes_nothing(stack):
    before, pem = secret(stack), bundle(stack)
    url = "https://127.0.0.1:%d/admit" % stack.webhook_port
    with Stream(stack) as stream:
        for obj in manifests.with_webhook_url(manifests.render(image="aliquot:test"), url):
            if obj["kind"] not in manifests.WORKLOADS:
                stack.api.apply(obj)
    assert (secret(stack), bundle(stack)) == (before, pem)
    assert (stream.whole, stream.errors) == (0, [])


def test_a_leaf_whose_time_is_near_is_made_anew(stack, tmp_path):
    """Less than a third of its life is left: the next one is issued, by the same authority."""
    before, now = secret(stack), datetime.datetime.now(datetime.timezone.utc)
    began, ends = ((now + datetime.timedelta(days)).strftime("%Y%m%d%H%M%SZ") for days in (-600, 60))
    (tmp_path / "ca.crt").write_text(before["ca.crt"])
    (tmp_path / "ca.key").write_text(before["ca.key"])
    (tmp_path / "names").write_text("subjectAltName=DNS:aliquot-webhook.aliquot-system.svc,"
                                    "DNS:localhost,IP:127.0.0.1\n")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
            "tls.key", "-out", "tls.csr", "-subj", "/CN=aliquot-webhook", folder=tmp_path)
    (tmp_path / "index").write_text("")
    (tmp_path / "ca.conf").write_text(
        "[ca]\ndefault_ca=one\n[one]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\n"
        "default_md=sha256\npolicy=any\nunique_subject=no\n[any]\ncommonName=supplied\n")
    openssl("ca", "-batch", "-config", "ca.conf", "-cert", "ca.crt", "-keyfile", "ca.key", "-in",
            "tls.csr", "-out", "tls.crt", "-extfile", "names", "-startdate", began,
            "-enddate", ends, "-notext", folder=tmp_path)
    old = (tmp_path / "tls.crt").read_text()
    with Stream(stack) as stream:
        put(stack, tls_crt=old, tls_key=(tmp_path / "tls.key").read_text())
        kept = wait_until(lambda: secret(stack).get("tls.crt") != old and settled(stack), 60,
                          "another leaf", ignore=(OSError,))
    assert kept["ca.crt"] == before["ca.crt"] and kept["tls.crt"] != before["tls.crt"]
    assert (stream.whole, stream.errors) == (0, []), stream.made


def test_a_bundle_that_somebody_emptied_is_published_again(stack):
    before = bundle(stack)
    stack.api.patch("mutatingwebhookconfigurations", "zz-aliquot", [
        {"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}], kind="json")
    wait_until(lambda: bundle(stack) == before, 60, "the bundle")
    stack.wait_converting()


def versions(stack, start):
    """What the Secret and the configuration said, one version after the other, since then."""
    def since(kind, name, namespace, what):
        """Up to what is there now: of the object of that name, for the agents have a Secret of their own."""
        last, found = stack.api.get(kind, name, namespace)["metadata"]["resourceVersion"], []
        for _, obj in stack.api.watch(kind, namespace, version=start, timeout=60):
            if obj["metadata"]["name"] == name:
                found.append((int(obj["metadata"]["resourceVersion"]), *what(obj)))
            if obj["metadata"]["resourceVersion"] == last:
                return found
        raise AssertionError("the watch of %s ended before what is there now" % kind)
    return sorted(since("mutatingwebhookconfigurations", "zz-aliquot", None,
                        lambda obj: ("bundle", certificates(bundle(obj)))) +
                  since("secrets", SECRET, HOME, lambda obj: ("leaf", "tls.crt" in (obj.get("data") or {}))))


def test_a_secret_that_somebody_deleted_may_return_empty(stack):
    """The controller may not create it; once the manifests are applied again it fills it.

    The new authority is published before its leaf exists, and the former one stays trusted as long
    as somebody may still serve its leaf, so that no pod misses its share.
    """
    before = secret(stack)
    start = stack.api.list_raw("secrets", HOME)["metadata"]["resourceVersion"]
    with Stream(stack) as stream:
        stack.api.delete("secrets", SECRET, HOME)
        empty, = [obj for obj in manifests.render() if obj["kind"] == "Secret" and obj["metadata"]["name"] == SECRET]
        stack.api.apply(empty)
        kept = wait_until(lambda: secret(stack).get("ca.crt") not in (None, before["ca.crt"]) and
                          settled(stack), 60, "another authority", ignore=(OSError,))
    assert (stream.whole, stream.errors) == (0, []), stream.made
    authority, = certificates(kept["ca.crt"])
    told = versions(stack, start)
    published = min(v for v, kind, what in told if kind == "bundle" and authority in what)
    emptied = max(v for v, kind, what in told if kind == "leaf" and not what)
    made = min(v for v, kind, what in told if kind == "leaf" and what and v > emptied)
    assert emptied < published < made, told
    assert set(certificates(before["ca.crt"])) < set(certificates(bundle(stack)))


def test_a_secret_that_makes_no_sense_is_made_anew(stack):
    """Bytes that are no certificate, and a leaf of somebody else's authority."""
    before = secret(stack)
    with Stream(stack) as stream:
        put(stack, ca_crt="no certificate\n", ca_key="no key\n", tls_crt="neither\n")
        kept = wait_until(lambda: secret(stack).get("ca.crt") != "no certificate\n" and
                          settled(stack), 60, "certificates that make sense", ignore=(OSError,))
    assert kept["ca.crt"] != before["ca.crt"]
    assert (stream.whole, stream.errors) == (0, []), stream.made
