"""The scrape configuration of docs/operating.md, in a real Prometheus: what an agent writes keeps its own labels, and
what a stock dcgm-exporter charges to capacity pods is not counted a second time."""

import http.server
import os
import re
import threading

import pytest
import yaml

import ports
from controlplane import home
from prometheus import Prometheus
from waiting import wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# A dcgm-exporter with pod labels: device 0 is shared, its capacity pod holds it; device 1 is not.
STOCK = """# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-0",container="hold",namespace="aliquot-system",pod="capacity-0af3-0"} 62
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-1",container="main",namespace="team",pod="whole"} 70
DCGM_FI_DEV_GPU_UTIL{gpu="2",UUID="GPU-2",container="main",namespace="team",pod="capacity-planner"} 5
"""


def documented_jobs():
    """{name: job}, with the pods of a cluster left for the test to put in."""
    with open(os.path.join(ROOT, "docs", "operating.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```yaml\n(- job_name.*?)^```", file.read(), re.M | re.S)
    return {job["job_name"]: job for block in blocks for job in yaml.safe_load(block)}


def serve(text):
    """A target that answers TEXT."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # pylint: disable=invalid-name
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_args):  # pylint: disable=arguments-differ
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def place(job, server, **labels):
    """What discovery would have found. Debian's Prometheus is built without that of Kubernetes."""
    job = {key: value for key, value in job.items() if key != "kubernetes_sd_configs"}
    target = {"targets": ["127.0.0.1:%d" % server.server_address[1]], "labels": labels}
    return dict(job, static_configs=[target])


def start(port, honor):
    """Two targets and a Prometheus; HONOR is honor_labels of the stock exporter."""
    with open(os.path.join(ROOT, "test", "unit", "node", "data", "exposition.txt"), encoding="utf-8") as file:
        servers = [serve(file.read()), serve(STOCK)]
    jobs = documented_jobs()
    meta = "__meta_kubernetes_pod_"
    agent = place(jobs["aliquot-agent"], servers[0], **{
        meta + "label_aliquot_dev_agent": "true", meta + "container_port_number": "9400", meta + "node_name": "node-3"})
    stock = dict(place(jobs["dcgm-exporter"], servers[1], namespace="gpu-operator", pod="exporter-x"), honor_labels=honor)
    config = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": [agent, stock]}
    return servers, Prometheus(port, None, config=yaml.safe_dump(config))


@pytest.fixture(params=[False, True], ids=["exported labels", "honored labels"])
def scraped(request, tmp_path):
    """A Prometheus that has read both, and how the exporter's pods are called in it."""
    taken = ports.reserve(home(), str(tmp_path), 1)
    servers, prometheus = start(taken[0], request.param)
    try:
        wait_until(lambda: len(prometheus.query("up == 1")) == 2, 60, "both to be scraped", ignore=(OSError,))
        yield prometheus, "pod" if request.param else "exported_pod"
    finally:
        prometheus.stop()
        ports.release(home(), taken)
        for server in servers:
            server.shutdown()
            server.server_close()


def test_each_is_told_once(scraped):
    """After a scrape that a busy machine missed there is nothing until the next one."""
    wait_until(lambda: told_once(*scraped), 60, "what is told", ignore=(AssertionError, IndexError, OSError))


def told_once(prometheus, stock_pod):
    pods = prometheus.query('DCGM_FI_DEV_GPU_UTIL{job="aliquot-agent",pod!=""}')
    assert {(p["metric"]["namespace"], p["metric"]["pod"]): p["value"][1] for p in pods} == {
        ("team", "busy"): "50.5", ("team", "idle"): "0", ("team", "whole"): "70"}
    devices = prometheus.query('DCGM_FI_DEV_GPU_UTIL{job="aliquot-agent",pod=""}')
    assert {d["metric"]["UUID"]: d["value"][1] for d in devices} == {"GPU-0": "62.5", "GPU-1": "70"}
    assert {d["metric"]["node"] for d in devices} == {"node-3"}
    stock = prometheus.query('DCGM_FI_DEV_GPU_UTIL{job="dcgm-exporter"}')
    assert {s["metric"][stock_pod] for s in stock} == {"whole", "capacity-planner"}, "and no capacity pod of ours"
    assert all(series["metric"]["Hostname"] == "node-3" for series in devices)
    assert prometheus.query('scrape_samples_scraped{job="aliquot-agent"}')[0]["value"][1] == prometheus.query(
        'scrape_samples_post_metric_relabeling{job="aliquot-agent"}')[0]["value"][1]
    return True
