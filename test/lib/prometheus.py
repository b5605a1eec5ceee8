"""A real Prometheus (Debian's, debs.py) on loopback that scrapes what a test gives it, once a second."""

import json
import os
import shutil
import subprocess
import tempfile
import urllib.parse
import urllib.request

import debs
import processes
from waiting import wait_until

CONFIG = """
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
- job_name: exporter
  honor_labels: %s
  static_configs:
  - targets: [%s]
    labels: {namespace: monitoring, pod: exporter-of-somebody}
"""


class Prometheus:
    def __init__(self, port, target, honor_labels=True, config=None, past=None):
        """CONFIG, a whole configuration, stands in for the one that scrapes TARGET. PAST, OpenMetrics with times, is
        what it has scraped before."""
        self.url = "http://127.0.0.1:%d" % port
        self.dir = tempfile.mkdtemp(prefix="aliquot-prometheus-")
        path = os.path.join(self.dir, "prometheus.yml")
        with open(path, "w", encoding="ascii") as file:
            file.write(config or CONFIG % ("true" if honor_labels else "false", json.dumps(target)))
        self.log = os.path.join(self.dir, "log")
        if past is not None:
            self.remember(past)
        self.record = processes.start(
            [debs.find("prometheus"), "--config.file=" + path, "--storage.tsdb.path=" + os.path.join(self.dir, "data"),
             "--web.listen-address=127.0.0.1:%d" % port], self.log)

    def remember(self, text):
        path = os.path.join(self.dir, "past.om")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        subprocess.run([debs.find("promtool"), "tsdb", "create-blocks-from", "openmetrics", path,
                        os.path.join(self.dir, "data")], check=True, capture_output=True, timeout=60)

    def query(self, text):
        """The result of an instant query."""
        form = urllib.parse.urlencode({"query": text})
        with urllib.request.urlopen("%s/api/v1/query?%s" % (self.url, form), timeout=5) as answer:
            return json.load(answer)["data"]["result"]

    def wait_scraped(self, text, timeout=60):
        def scraped():
            assert processes.alive(self.record), "Prometheus ended:\n" + processes.log_tail(self.log)
            return self.query(text)
        wait_until(scraped, timeout, "Prometheus to have scraped", ignore=(OSError,))

    def stop(self):
        processes.stop([self.record])
        shutil.rmtree(self.dir, ignore_errors=True)
