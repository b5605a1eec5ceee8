"""Which pods meet the webhook (C1), judged by the API server with the conditions of manifests/.

A copy of the configuration calls a listener of this suite, which notes who came and changes
nothing.
"""

import base64
import copy
import http.server
import json
import ssl
import subprocess
import threading

import pytest

import manifests
from apisuite import pod, refusal
from waiting import wait_until

P = "aliquot.dev/"
GUARDED = ["gpu-uuid", "visible-devices", "compute-milli", "memory-mib", "mps-threads",
           "mps-memory", "framework-memory", "capacity-pod", "term"]
GPU = {"nvidia.com/gpu": "1"}


class Listener(http.server.ThreadingHTTPServer):
    """An admission webhook that allows everything and remembers the names of the pods."""

    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = set()
        cert, key = str(folder / "tls.crt"), str(folder / "tls.key")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", cert,
                        "-days", "2", "-subj", "/CN=listener", "-addext",
                        "subjectAltName=IP:127.0.0.1"],
                       check=True, capture_output=True, timeout=60)
        with open(cert, "rb") as file:
            self.bundle = file.read()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def url(self):
        return "https://127.0.0.1:%d/admit" % self.server_address[1]


class Handler(http.server.BaseHTTPRequestHandler):
    """One AdmissionReview after the other on a kept connection."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = review["request"]
        self.server.seen.add(request["object"]["metadata"]["name"])
        body = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": {
            "uid": request["uid"], "allowed": True}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):  # pylint: disable=arguments-differ
        pass


@pytest.fixture(scope="module")
def met(admin, space, tmp_path_factory):
    """Tells whether a pod meets the webhook: met(pod)."""
    listener = Listener(tmp_path_factory.mktemp("listener"))
    thread = threading.Thread(target=listener.serve_forever, args=(0.05,))
    thread.start()
    config = copy.deepcopy(next(obj for obj in manifests.render()
                                if obj["kind"] == "MutatingWebhookConfiguration"))
    config["metadata"]["name"] = "zz-aliquot-suite"
    config["webhooks"][0]["clientConfig"] = {
        "url": listener.url, "caBundle": base64.b64encode(listener.bundle).decode()}
    config["webhooks"][0]["failurePolicy"] = "Fail"
    # A listener that is late on a busy machine is no refusal.
    config["webhooks"][0]["timeoutSeconds"] = 30
    admin.apply(config)

    def ask(obj):
        name = obj["metadata"]["name"]
        listener.seen.discard(name)
        admin.create("pods", obj, dryRun="All")
        return name in listener.seen
    ask.seen = listener.seen
    try:
        wait_until(lambda: ask(gpu_pod("first", space)), 60, "the webhook to be called")
        yield ask
    finally:
        admin.delete("mutatingwebhookconfigurations", "zz-aliquot-suite")
        # Who still called it when nobody listens any more would be refused.
        wait_until(lambda: not ask(gpu_pod("last", space)), 60, "the webhook to be forgotten")
        listener.shutdown()
        thread.join(10)
        listener.server_close()


def gpu_pod(name, namespace, part="limits", where="containers", resources=None, **meta):
    obj = pod(name, namespace, **meta)
    resources = {part: dict(resources or GPU)}
    if part == "requests":
        resources["limits"] = dict(resources["requests"])
    container = dict(obj["spec"]["containers"][0], resources=resources)
    if where == "initContainers":
        container["name"] = "init"
        obj["spec"]["initContainers"] = [container]
    elif where == "second":
        obj["spec"]["containers"].append(dict(container, name="second"))
    else:
        obj["spec"]["containers"] = [container]
    return obj


@pytest.mark.parametrize("part", ["limits", "requests"])
@pytest.mark.parametrize("where", ["containers", "second", "initContainers"])
def test_a_pod_that_asks_for_a_gpu_comes(met, space, part, where):
    assert met(gpu_pod("asks", space, part, where))


@pytest.mark.parametrize("marks", [
    {"gates": [P + "gpu"]}, {"labels": {P + "tenant": "true"}}, {"labels": {P + "tenant": ""}},
    {"annotations": {P + "grants": "x"}}, {"labels": {P + "in-use": "true"}}], ids=str)
def test_a_pod_with_our_marks_comes(met, space, marks):
    assert met(pod("marked", space, **marks))


@pytest.mark.parametrize("key", GUARDED)
def test_a_pod_with_a_guarded_key_comes(met, space, key):
    """It comes to be stripped; the listener does not, so the guard refuses the pod afterwards."""
    name = "guarded-" + key
    error = refusal(met, pod(name, space, annotations={P + key: "x"}))
    assert error.status == 403
    assert name in met.seen


@pytest.mark.parametrize("obj", [
    pod("plain", "SPACE"),
    pod("noted", "SPACE", annotations={P + "gpu-fraction": "0.25", "example.com/gpu-uuid": "x"},
        labels={"tenant": "true"}),
    pod("gated", "SPACE", gates=["example.com/gpu"]),
    gpu_pod("mig", "SPACE", resources={"nvidia.com/mig-1g.10gb": "1"}),
    gpu_pod("amd", "SPACE", resources={"amd.com/gpu": "1"}),
], ids=lambda obj: obj["metadata"]["name"])
def test_other_pods_never_meet_it(met, space, obj):
    obj = copy.deepcopy(obj)
    obj["metadata"]["namespace"] = space
    assert not met(obj)
    assert met(gpu_pod("still-there", space))


def test_a_pod_without_any_resources_is_no_error(met, space):
    """With failurePolicy Fail, as here, a condition that cannot be evaluated would stop the pod."""
    obj = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare", "namespace": space},
           "spec": {"containers": [{"name": "main", "image": "none"}],
                    "initContainers": [{"name": "init", "image": "none"}]}}
    assert not met(obj)


@pytest.mark.parametrize("namespace", ["aliquot-system", "kube-system"])
def test_our_own_and_the_systems_pods_never_meet_it(met, admin, namespace):
    wait_until(lambda: admin.find("serviceaccounts", "default", namespace), 60, "the account")
    assert not met(gpu_pod("system", namespace))


def test_the_canary_meets_it(met, admin):
    wait_until(lambda: admin.find("serviceaccounts", "default", "aliquot-canary"), 60,
               "the account")
    assert met(gpu_pod("canary", "aliquot-canary"))


def test_updates_and_status_never_meet_it(met, pods, admin, space):
    pods("updated", labels={P + "tenant": "true"})
    assert "updated" in met.seen
    met.seen.discard("updated")
    admin.patch("pods", "updated", {"metadata": {"labels": {"a": "b"}}}, space)
    admin.patch("pods", "updated", {"status": {"phase": "Running"}}, space, "status")
    assert "updated" not in met.seen


def test_k30_a_debugger_of_a_tenant_comes_and_no_other(met, pods, admin, space):
    """A label that the update itself takes away or adds, which the server ignores, is none."""
    def debug(name, value):
        body = {"metadata": {"labels": {P + "tenant": value}}, "spec": {"ephemeralContainers": [
            {"name": "debug", "image": "none", "env": [
                {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]}]}}
        met.seen.discard(name)
        admin.patch("pods", name, body, space, "ephemeralcontainers", "strategic")
        return name in met.seen
    pods("debugged", labels={P + "tenant": "true"})
    pods("ordinary", annotations={P + "gpu-fraction": "0.5"})
    admin.create("pods", gpu_pod("whole", space))
    try:
        assert debug("debugged", None)
        assert not debug("ordinary", "true") and not debug("whole", "true")
    finally:
        admin.delete("pods", "whole", space, grace=0)
