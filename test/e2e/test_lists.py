"""Lists where the API server has no watch-list: in pages, compressed, and one picture (docs/design/memory.md)."""

import concurrent.futures
import os

from relisting import Relisting
from waiting import wait_until

PODS = "/api/v1/pods"
MANY = 1200
SPACE = "many-pods"


def make_many(stack):
    """Pods that nobody places: what is listed of them is what is listed of any."""
    stack.api.create("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})

    def make(i):
        stack.api.create("pods", {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "many-%04d" % i, "namespace": SPACE, "labels": {"app": "many", "index": str(i)}},
            "spec": {"schedulerName": "nobody", "terminationGracePeriodSeconds": 0, "containers": [
                {"name": "main", "image": "registry.example.com/team/app:1.0", "env": [{"name": "INDEX", "value": str(i)}],
                 "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]}})
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(make, range(MANY)))


def counts(stack, alone):
    """It knows as many pods as there are."""
    def same():
        return alone.dump()["pods"] == len(stack.api.list("pods"))
    wait_until(same, 60, lambda: "it to know of all pods: %s of %d" % (alone.dump()["pods"], len(stack.api.list("pods"))),
               ignore=(OSError,))


def test_lists_are_paged_and_compressed_where_there_is_no_watch_list(stack, say):
    stack.wait_leader()
    make_many(stack)
    proxy = Relisting(stack.plane)
    alone = None
    try:
        path = proxy.kubeconfig(os.path.join(stack.plane.dir, "relisting.kubeconfig"))
        arguments = ["--never-lead", "--kubeconfig", path]
        alone = stack.add_controller(arguments, wait_ready=False)
        counts(stack, alone)
        pages = proxy.of(PODS)
        there = len(stack.api.list("pods"))
        assert len(pages) == (there + 499) // 500, [page.query for page in pages]
        assert all(page.query["limit"] == "500" and page.encoding == "gzip" for page in pages)
        assert ["continue" in page.query for page in pages] == [False] + [True] * (len(pages) - 1)
        plain = len(stack.api.raw("GET", PODS)[1])
        say("%d pods in %d pages, %d bytes on the wire, %d uncompressed" % (
            there, len(pages), sum(page.bytes for page in pages), plain))
        wait_until(lambda: proxy.of(PODS, watches=True), 60, "it to watch")
        watches = proxy.of(PODS, watches=True)
        assert {(watch.accepts, watch.encoding) for watch in watches} == {("identity", "")}
        # What happens after the first page is told by the watch.
        stack.api.delete("pods", "many-0007", SPACE)
        counts(stack, alone)
        # A token that is too old: the list is asked for once more, whole, and the picture is the same.
        before = len(proxy.of(PODS))
        proxy.expire = 1
        alone.kill()
        alone.start(wait_ready=False)
        counts(stack, alone)
        first, whole = proxy.of(PODS)[before:]
        assert first.query["limit"] == "500" and "limit" not in whole.query and "continue" not in whole.query
        say("whole: %d bytes on the wire" % whole.bytes)
        assert alone.metric('aliquot_watch_errors_total{kind="pods",reason="PageExpired"}') == 1
    finally:
        if alone is not None:
            stack.controllers.remove(alone)
            assert alone.stop() == 0 and not alone.findings()
        proxy.stop()
        stack.api.delete("namespaces", SPACE)
