"""Deals a suite out to several pytests that run side by side, each with a control plane of its own.

A pytest that is told of a table ($ALIQUOT_TABLE, a folder) collects the whole suite as always, and then takes one
piece after the other until none is left. A piece is a module, or a test where its module says APART = True: its tests
need nothing of each other and may run on several planes. Whoever is free takes what is due, so the parts end together
whatever single tests took, and a new file needs no entry anywhere. How long a piece took once (seconds.txt beside the
tests) only says what to begin with.

    python3 test/lib/dealing.py build/pytest-e2e-*.xml > test/e2e/seconds.txt
"""

import collections
import contextlib
import fcntl
import os
import sys
import xml.etree.ElementTree as ElementTree

import pytest

TABLE = "ALIQUOT_TABLE"
# Of a piece that no run has told of: it is taken early.
UNKNOWN_S = 100
SHORTEST_TOLD_S = 5

Piece = collections.namedtuple("Piece", "name stack seconds items")


def is_apart(module):
    return getattr(module, "APART", False)


def name_of(item):
    module = os.path.splitext(os.path.basename(item.nodeid.split("::")[0]))[0]
    return module + "::" + item.name if is_apart(item.module) else module


def pieces_of(items, stack_of, seconds):
    """{name: piece} in the order of the items. STACK_OF: a text for an item, the same where they share a stack."""
    found = {}
    for item in items:
        name = name_of(item)
        if name not in found:
            found[name] = Piece(name, stack_of(item), seconds.get(name, UNKNOWN_S), [])
        found[name].items.append(item)
    return found


def choose(pieces, taken, me):
    """The next piece of ME, or None. TAKEN: [(name, whose)] in order.

    The longest of the stack that is up here already, because another costs some seconds; else the longest of that
    stack of which most is left for each who would work on it.
    """
    gone = {name for name, _ in taken}
    left = collections.defaultdict(list)
    for piece in pieces.values():
        if piece.name not in gone:
            left[piece.stack].append(piece)
    at = {whose: pieces[name].stack for name, whose in taken}
    workers = collections.Counter(stack for whose, stack in at.items() if whose != me)

    def burden(stack):
        return sum(piece.seconds for piece in left[stack]) / (1 + workers[stack])
    mine = at.get(me)
    stack = mine if left.get(mine) else max(left, key=burden, default=None)
    return max(left[stack], key=lambda piece: piece.seconds) if left else None


class Table:
    """The folder that the pytests of one run share."""

    def __init__(self, folder):
        self.folder = folder

    def _path(self, name):
        return os.path.join(self.folder, name)

    @contextlib.contextmanager
    def _locked(self):
        with open(self._path("lock"), "a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _lines(self, name):
        with contextlib.suppress(FileNotFoundError), open(self._path(name), encoding="utf-8") as file:
            return file.read().splitlines()
        return []

    def _add(self, name, *lines):
        with open(self._path(name), "a", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))

    def open(self, items):
        """Every test that must have run at the end; whoever is first says it."""
        with self._locked():
            if not self._lines("all"):
                self._add("all", *(item.nodeid for item in items))

    def take(self, pieces, me):
        with self._locked():
            taken = [tuple(line.rsplit(" ", 1)) for line in self._lines("taken")]
            piece = choose(pieces, taken, me)
            if piece is not None:
                self._add("taken", "%s %s" % (piece.name, me))
            return piece

    def done(self, item):
        with self._locked():
            self._add("done", item.nodeid)


class Setups:
    """Counts the tests that could not be set up; a plugin."""

    def __init__(self):
        self.failed = 0

    def pytest_runtest_logreport(self, report):
        self.failed += report.when == "setup" and report.failed


def run(session, table, pieces):
    """The tests of this pytest, piece after piece; in place of its own loop.

    It ends at a piece of which it could set up nothing: without a control plane it would fail all that is left.
    """
    table.open(session.items)
    setups, last = Setups(), None
    session.config.pluginmanager.register(setups)
    while True:
        piece, failed = table.take(pieces, str(os.getpid())), setups.failed
        if piece is None:
            break
        # One of another module: this one's fixtures go after its last test, those of the session stay.
        other = next((item for item in session.items if item.module is not piece.items[0].module), None)
        for item, following in zip(piece.items, piece.items[1:] + [other]):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            table.done(item)
            last = item
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
        if setups.failed - failed == len(piece.items):
            break
    _end(session, last)


def _end(session, last):
    """The session's fixtures end; where that fails, the last test is told to have."""
    # pylint: disable=protected-access
    call = pytest.CallInfo.from_call(lambda: session._setupstate.teardown_exact(None), "teardown")
    if call.excinfo is not None:
        hook = session.config.hook
        hook.pytest_runtest_logreport(report=hook.pytest_runtest_makereport(item=last, call=call))


def read_seconds(path):
    """{piece: seconds} of a file of lines `SECONDS PIECE`."""
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        rows = [line.split(" ", 1) for line in file.read().splitlines() if line and not line.startswith("#")]
        return {name: int(number) for number, name in rows}
    return {}


def measured(reports, apart):
    """{piece: seconds} of pytest's reports; APART: modules whose tests are pieces."""
    found = collections.Counter()
    for report in reports:
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            module = case.get("classname", "").rsplit(".", 1)[-1]
            name = module + "::" + case.get("name", "") if module in apart else module
            found[name] += float(case.get("time", 0))
    return found


def _main(reports):
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e")
    apart = set()
    for file in os.listdir(folder):
        if file.endswith(".py"):
            with open(os.path.join(folder, file), encoding="utf-8") as source:
                if "\nAPART = True\n" in source.read():
                    apart.add(file[:-len(".py")])
    print("# How long the pieces of the suite take; test/lib/dealing.py reads and writes this.")
    for name, seconds in sorted(measured(reports, apart).items(), key=lambda row: (-int(row[1]), row[0])):
        if seconds >= SHORTEST_TOLD_S:
            print("%d %s" % (seconds, name))


if __name__ == "__main__":
    _main(sys.argv[1:])
