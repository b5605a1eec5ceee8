"""Looks at every state that some pods go through, as the API server tells of it."""

import threading

from api import ApiError
from waiting import wait_until

WATCH_S = 20
AGAIN_S = 0.2


class PodWatch:
    """A context manager that calls LOOK(pods) with the pods that a selector chooses, in every state there is.

    What a poll misses between two looks is seen here, and nobody is asked when nothing happens. At the end all that
    happened has been looked at.
    """

    def __init__(self, api, namespace, selector, look):
        self.api, self.namespace, self.selector, self.look = api, namespace, selector, look
        self.pods = {}
        self._lock = threading.Lock()
        self._over = False
        self._first = threading.Event()
        # It is not waited for: it ends with its watch, and looks no more.
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        assert self._first.wait(60), "%s cannot be listed" % self.selector
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                wait_until(self._seen_all, 60, "the watch of %s to tell all" % self.selector, ignore=(ApiError,))
        finally:
            with self._lock:
                self._over = True

    def _list(self):
        whole = self.api.list_raw("pods", self.namespace, labelSelector=self.selector)
        return {pod["metadata"]["uid"]: pod for pod in whole["items"]}, whole["metadata"]["resourceVersion"]

    def _seen_all(self):
        def versions(pods):
            return {uid: pod["metadata"]["resourceVersion"] for uid, pod in pods.items()}
        found = self._list()[0]
        with self._lock:
            return versions(found) == versions(self.pods)

    def _take(self, change):
        """False where it is over."""
        with self._lock:
            if not self._over:
                change()
                self.look(list(self.pods.values()))
                self._first.set()
            return not self._over

    def _set(self, kind, pod):
        if kind == "DELETED":
            self.pods.pop(pod["metadata"]["uid"], None)
        else:
            self.pods[pod["metadata"]["uid"]] = pod

    def _begin(self):
        """The version of one list."""
        found, version = self._list()
        self._take(lambda: setattr(self, "pods", found))
        return version

    def _follow(self, version):
        """One watch to its end; the version up to which it told. The next goes on from there: between two lists there
        would be states that nobody saw."""
        for kind, pod in self.api.watch("pods", self.namespace, version, WATCH_S, labelSelector=self.selector):
            if not self._take(lambda kind=kind, pod=pod: self._set(kind, pod)):
                break
            version = pod["metadata"]["resourceVersion"]
        return version

    def _run(self):
        again, version = threading.Event(), None
        while not self._over:
            try:
                version = self._follow(version or self._begin())
            except ApiError:
                version = None
                again.wait(AGAIN_S)
