"""Pods that arrive at random moments while something else goes wrong."""

import threading
import time


class Arrivals(threading.Thread):
    """COUNT pods of mixed shares, on average GAP_S seconds apart; all of it follows from RNG."""

    def __init__(self, stack, rng, count, gap_s, prefix, **options):
        super().__init__(daemon=True)
        self._stack = stack
        self._options = options
        self._plan = [("%s-%d" % (prefix, i), "0.%02d" % rng.randrange(5, 90),
                       rng.expovariate(1 / gap_s)) for i in range(count)]
        self._error = None
        self.made = {}

    def run(self):
        try:
            for name, fraction, gap in self._plan:
                time.sleep(gap)
                pod = self._stack.create_surely(name, fraction=fraction, **self._options)
                self.made[name] = pod["metadata"]["uid"]
        except BaseException as error:  # pylint: disable=broad-except
            self._error = error

    def finish(self, timeout=120):
        """Waits for the last one. {name: uid}"""
        self.join(timeout)
        assert not self.is_alive(), "only %d pods were made" % len(self.made)
        if self._error:
            raise self._error
        return self.made

    def check_all_there(self):
        """None is lost, and none was made anew under its name."""
        found = {p["metadata"]["name"]: p["metadata"]["uid"]
                 for p in self._stack.api.list("pods", namespace="default")}
        lost = {name for name, uid in self.made.items() if found.get(name) != uid}
        assert not lost, "lost: %s" % lost

    def remove(self):
        for name in self.made:
            self._stack.api.delete("pods", name, "default")
