"""The stacks of the end-to-end suite: one at a time, shared by neighbours that ask for the same.

A module says in STACK what it needs (arguments of Stack.up); without it, it gets STEADY.
"""

import collections
import contextlib
import itertools
import json
import os

import pytest

import agents
import dealing
import invariants
from api import ApiError
from stack import Stack
from waiting import wait_until

# Many small nodes, so that every test has some of its own: NAME-0, NAME-1, …
STEADY = {"nodes": [("one-%d" % i, 1) for i in range(56)] + [("two-%d" % i, 2) for i in range(16)] +
          [("eight-%d" % i, 8) for i in range(9)], "arguments": ["--idle-grace-seconds=2"]}


# How many names the tests of a title had: titles may begin alike, and a test has one for all its parameters.
NUMBERS = collections.defaultdict(itertools.count)


def wanted(item):
    return getattr(item.module, "STACK", STEADY)


def stack_of(item):
    """The same text for those that share a stack."""
    return json.dumps(wanted(item))


def pytest_collection_modifyitems(items):
    """Modules with the same stack follow each other; a change costs some seconds."""
    first = {}
    for item in items:
        first.setdefault(stack_of(item), len(first))
    items.sort(key=lambda item: first[stack_of(item)])


def pytest_runtestloop(session):
    """Of several pytests that share the suite, each runs what it is dealt."""
    table = os.environ.get(dealing.TABLE)
    if table is None or session.testsfailed or session.config.option.collectonly:
        return None
    seconds = dealing.read_seconds(os.path.join(os.path.dirname(__file__), "seconds.txt"))
    dealing.run(session, dealing.Table(table), dealing.pieces_of(session.items, stack_of, seconds))
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    """Beside a failure stands what was there: pods, who holds the Lease, and what the processes wrote last."""
    report = (yield).get_result()
    if report.failed:
        report.sections += [("the stack at the failure", stack.account()) for stack in Stack.standing]


class Stacks:
    """The stack that is up."""

    def __init__(self, plane):
        self.plane = plane
        self.options = None
        self.stack = None
        self._exit = contextlib.ExitStack()
        self.fresh = {}

    def use(self, options):
        if options != self.options:
            self.close()
            self.stack = self._exit.enter_context(
                Stack.up(self.plane, service=True, **options))
            self.options = options
            self.fresh = {}
            for name, gpus, *_ in options["nodes"]:
                self.fresh.setdefault(gpus, []).append(name)
        return self.stack

    def close(self):
        stack, self.stack, self.options = self.stack, None, None
        if stack is None:
            return
        try:
            invariants.check_owned(stack.api)
            stack.clean()
            broken = stack.kubelet.state()["errors"]
        finally:
            self._exit.close()
        for name in [node["name"] for node in stack.nodes]:
            with contextlib.suppress(ApiError):
                stack.api.delete("nodes", name)
        assert not stack.findings(), stack.findings()
        assert not broken, broken[0]


@pytest.fixture(scope="session")
def stacks(cp):
    found = Stacks(cp)
    yield found
    found.close()


@pytest.fixture
def stack(request, stacks):  # pylint: disable=redefined-outer-name
    """The module's stack. After each test the invariants must hold, and the audit log shows no write of ours to what is not ours (G1)."""
    found = stacks.use(wanted(request.node))
    yield found
    invariants.check_audit(found.plane)
    found.heal()
    wait_until(lambda: invariants.Picture(found.api).check(), 60, "I1 to I3",
               ignore=(AssertionError,))
    invariants.check_devices(invariants.Picture(found.api), found.kubelet.state())


@pytest.fixture
def node(stack, stacks):  # pylint: disable=redefined-outer-name
    """node(gpus): the name of a node that no other test uses; its pods go afterwards."""
    given = []

    def take(gpus=1):
        assert stacks.fresh.get(gpus), "STACK has too few nodes of %d GPUs" % gpus
        given.append(stacks.fresh[gpus].pop(0))
        return given[-1]
    yield take
    for pod in stack.api.list("pods", namespace="default"):
        if pod["spec"].get("nodeSelector", {}).get("kubernetes.io/hostname") in given:
            with contextlib.suppress(ApiError):
                # By force its share would be held for minutes (C22).
                stack.api.delete("pods", pod["metadata"]["name"], "default", grace=1)


@pytest.fixture
def say(capsys):
    """say(text): a figure that a person may want to see although the test passed."""
    def tell(text):
        with capsys.disabled():
            print("\n  " + text, end="", flush=True)
    return tell


@pytest.fixture
def name(request):
    """name(): a pod name that no other pod has, not even one that the test before left to its kubelet."""
    base = request.node.name.split("[")[0].removeprefix("test_").replace("_", "-")[:40].strip("-")
    return lambda: "%s-%d" % (base, next(NUMBERS[base]))


@pytest.fixture(name="agents_on")
def fixture_agents_on(stack):
    """agents_on(node, …): the product's agents on these nodes, until the test ends."""
    yield lambda *nodes, **more: agents.start_product(stack, nodes, **more)
    agents.end_product(stack)
