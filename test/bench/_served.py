"""What the servers of a control plane spent on a run: processor time of each, and what the API server says of its requests
and watches. Its page of metrics costs it a tenth of a second, so it is asked before and after a run, not during one."""

import os
import re

LINE = re.compile(r'^(\w+)\{(.*)\} ([0-9.eE+-]+)$', re.M)
PAIR = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
TICKS = os.sysconf("SC_CLK_TCK")
# What of a page is kept: {name: (its short name, labels that are told apart)}.
KEPT = {
    "apiserver_request_duration_seconds_count": ("requests", ("verb", "resource", "subresource")),
    "apiserver_request_duration_seconds_sum": ("request_s", ("verb", "resource", "subresource")),
    # Some versions name the kind.
    "apiserver_watch_events_sizes_count": ("events", ("resource", "kind")),
    "apiserver_watch_events_sizes_sum": ("event_bytes", ("resource", "kind")),
    "apiserver_watch_cache_events_received_total": ("changes", ("resource",)),
    "etcd_request_duration_seconds_count": ("etcd", ("operation", "resource", "type")),
}


def cpu_of(pid):
    """Seconds that a process has used of the processors."""
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def read(page):
    """{(short name, labels): sum}, of a page of metrics."""
    found = {}
    for name, labels, value in LINE.findall(page):
        if name in KEPT:
            short, told = KEPT[name]
            pairs = dict(PAIR.findall(labels))
            key = short, "/".join(pairs[label] for label in told if pairs.get(label))
            found[key] = found.get(key, 0.0) + float(value)
    return found


def difference(before, after, least=10):
    """{short name: {labels: how much more}}, of what happened at least LEAST times or took as many hundredths of a second, and
    of each list and watch."""
    result = {}
    for (short, labels), value in sorted(after.items()):
        more = value - before.get((short, labels), 0.0)
        whole = short != "request_s"
        if more >= (least if whole else least / 100) or (more > 0 and labels.startswith(("LIST/", "WATCH/"))):
            result.setdefault(short, {})[labels] = round(more) if whole else round(more, 2)
    return result


class Served:
    """From its making to `tell`."""

    def __init__(self, plane, parts):
        self.api = plane.client("admin", timeout=60)
        self.pids = {name: plane.pid(name) for name in parts}
        self.before = self._page()
        self.cpu = self._cpu()

    def _page(self):
        status, content = self.api.raw("GET", "/metrics")
        return read(content.decode("utf-8", "replace")) if status == 200 else {}

    def _cpu(self):
        return {name: cpu_of(pid) for name, pid in self.pids.items()}

    def tell(self):
        spent = {name: round(value - self.cpu[name], 2) for name, value in self._cpu().items()}
        return {"cpu_s": spent, **difference(self.before, self._page())}
