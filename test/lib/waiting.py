"""Waiting for a condition with a deadline, so that no test sleeps for a fixed time."""

import time

# Who has waited long need not be asked as often: the answer is late by a tenth of that at most, and never by more than half a
# second. Most of what the API servers of a suite are asked is whether something has happened yet.
STRETCH, STRETCHED_MAX_S = 0.1, 0.5


class Timeout(AssertionError):
    """What was awaited did not come in time."""


def wait_until(condition, timeout=30.0, what="the condition", every=0.05, ignore=()):
    """Calls CONDITION until it returns something true, and returns that.

    Exceptions of the classes in IGNORE count as not yet, and the last of them is named on timeout.
    WHAT may be a function, called only then.
    """
    began = time.monotonic()
    deadline = began + timeout
    last = None
    while True:
        try:
            value = condition()
            if value:
                return value
        except ignore as error:  # pylint: disable=catching-non-exception
            last = error
        if time.monotonic() >= deadline:
            reason = "" if last is None else "; last: %s" % last
            said = what() if callable(what) else what
            raise Timeout("waited %g s for %s%s" % (timeout, said, reason))
        time.sleep(max(every, min(STRETCHED_MAX_S, STRETCH * (time.monotonic() - began))))


def within(bound, attempt, tries=3):
    """ATTEMPT does something and returns the seconds that it took: at most BOUND, in one of a few tries. Others may have the
    processors meanwhile; what is slow by itself is so each time."""
    took = []
    while len(took) < tries:
        took.append(attempt())
        if took[-1] <= bound:
            return took
    raise AssertionError("took %s s, not %g" % (", ".join("%.2f" % each for each in took), bound))


def holds_for(condition, seconds, what="the condition", every=0.25):
    """CONDITION is true for so long on end: what must not happen, in the time in which it would have."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert condition(), "does not hold any more: %s" % (what() if callable(what) else what)
        time.sleep(every)
