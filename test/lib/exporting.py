"""An exporter of a test's own: it answers /metrics with what the test says, and can misbehave."""

import contextlib
import http.server
import threading

from waiting import wait_until


class Handler(http.server.BaseHTTPRequestHandler):
    """GET of any path."""

    exporter = None
    timeout = 30

    def log_message(self, *_):
        """Quiet."""

    def do_GET(self):  # pylint: disable=invalid-name
        exporter = self.exporter
        exporter.asked.append(self.path)
        number = len(exporter.asked)
        status, body = exporter.status, exporter.body().encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        # More than will come: the connection breaks in the middle.
        self.send_header("Content-Length", str(len(body) + (10 if exporter.breaks else 0)))
        self.end_headers()
        self.wfile.write(body)
        exporter.answered = max(exporter.answered, number)


class Exporter:
    """Answers at (ADDRESS, PORT), until stop. `body` gives the text; `status` and `breaks` are for misbehaviour."""

    def __init__(self, address, port, body):
        self.body, self.status, self.breaks = body, 200, False
        self.asked, self.answered = [], 0  # the paths; the number of the last that has its answer
        handler = type("BoundHandler", (Handler,), {"exporter": self})
        self.server = http.server.ThreadingHTTPServer((address, port), handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    @property
    def target(self):
        return "%s:%d" % self.server.server_address

    def wait_read(self, timeout=60):
        """Until somebody who asked after this call has the answer: what was told before is no news then."""
        before = len(self.asked)
        wait_until(lambda: self.answered > before, timeout, "somebody to read the exporter at " + self.target)

    def stop(self):
        """Nobody answers there any more."""
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.thread.join(10)
            self.server = None


@contextlib.contextmanager
def exporter_on(stack, node, pod_name, port, told):
    """An exporter that is believed of the pods of that node. Its pod is found by its label, and has that once somebody
    answers there: who was asked in vain is not asked again for up to ten seconds."""
    stack.create_pod(pod_name, gpus=0, nodeSelector={"kubernetes.io/hostname": node})
    exporter = Exporter(stack.wait_running(pod_name)["status"]["podIP"], port, told)
    stack.api.patch("pods", pod_name, {"metadata": {"labels": {"app": "dcgm"}}}, "default")
    try:
        yield exporter
    finally:
        exporter.stop()
        stack.api.delete("pods", pod_name, "default", grace=0)


def line(name, pod, value, **labels):
    """One line about the container `main` of a pod of the API."""
    meta = pod["metadata"]
    labels = {"UUID": "GPU-test", "container": "main", "namespace": meta["namespace"], "pod": meta["name"],
              **labels}
    return "%s{%s} %s\n" % (name, ",".join('%s="%s"' % item for item in labels.items()), value)


def use(pod, percent, mib):
    return line("DCGM_FI_DEV_GPU_UTIL", pod, percent) + line("DCGM_FI_DEV_FB_USED", pod, mib)
