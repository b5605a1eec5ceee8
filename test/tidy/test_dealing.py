"""What test/lib/dealing.py promises: several pytests share a suite, and every test of it runs once."""
import os
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIB = os.path.join(TREE, "test", "lib")
sys.path.insert(0, LIB)

import dealing  # noqa: E402

CONFTEST = """
import os
import sys
sys.path.insert(0, {lib!r})
import dealing
import pytest

def stack_of(item):
    return getattr(item.module, "STACK", "usual")

def pytest_runtestloop(session):
    dealing.run(session, dealing.Table(os.environ[dealing.TABLE]), dealing.pieces_of(session.items, stack_of, {{}}))
    return True

@pytest.fixture(scope="session")
def whole():
    yield "a session's"
    with open({log!r}, "a") as file:
        file.write("end of session\\n")
    assert not os.path.exists({bad!r}), "left something"

@pytest.fixture(scope="module")
def log():
    def say(text):
        with open({log!r}, "a") as file:
            file.write("%s %d\\n" % (text, os.getpid()))
    yield say
    say("end of module")
"""
MODULE = """
import pytest
APART = {apart}
STACK = {stack!r}
@pytest.mark.parametrize("i", range(4))
def test_each(i, log, whole):
    log("{name} %d" % i)
"""


def suite(tmp_path):
    """Four modules of four tests, of which one may be taken apart."""
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "conftest.py").write_text(CONFTEST.format(lib=LIB, log=str(tmp_path / "log"), bad=str(tmp_path / "bad")))
    for name, apart, stack in (("a", False, "x"), ("b", True, "y"), ("c", False, "x"), ("d", False, "z")):
        (tests / ("test_%s.py" % name)).write_text(MODULE.format(name=name, apart=apart, stack=stack))
    (tmp_path / "table").mkdir()
    return tests


def start(tmp_path, tests, number, *options):
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=%s/%d.xml" % (tmp_path, number), *options,
         str(tests)], env=dict(os.environ, ALIQUOT_TABLE=str(tmp_path / "table")), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_each_runs_once_and_a_module_is_not_torn(tmp_path):
    tests = suite(tmp_path)
    processes = [start(tmp_path, tests, i) for i in range(3)]
    outs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outs
    log = (tmp_path / "log").read_text().splitlines()
    ran = [line.rsplit(" ", 1) for line in log if not line.startswith("end")]
    assert sorted(name for name, _ in ran) == ["%s %d" % (m, i) for m in "abcd" for i in range(4)]
    for module in "acd":
        assert len({pid for name, pid in ran if name[0] == module}) == 1
    assert log.count("end of session") == len({pid for _, pid in ran})
    assert sum(int(out.splitlines()[-1].split(" passed")[0]) for out in outs if " passed" in out) == 16
    assert sorted((tmp_path / "table" / "all").read_text().splitlines()) == sorted(
        (tmp_path / "table" / "done").read_text().splitlines())


def test_the_sessions_end_may_fail(tmp_path):
    (tmp_path / "bad").write_text("")
    process = start(tmp_path, suite(tmp_path), 0)
    out = process.communicate(timeout=60)[0]
    assert process.returncode == 1 and "left something" in out, out
    assert "16 passed, 1 error" in out
    assert "left something" in (tmp_path / "0.xml").read_text()


def test_who_can_set_up_nothing_leaves_the_rest_to_others(tmp_path):
    tests = suite(tmp_path)
    conftest = (tests / "conftest.py").read_text()
    (tests / "conftest.py").write_text(conftest.replace("yield \"a session's\"", "assert False, 'no plane'"))
    process = start(tmp_path, tests, 0)
    out = process.communicate(timeout=60)[0]
    assert process.returncode == 1 and "1 error" in out, out
    assert len((tmp_path / "table" / "taken").read_text().splitlines()) == 1
    (tests / "conftest.py").write_text(conftest)
    process = start(tmp_path, tests, 1)
    out = process.communicate(timeout=60)[0]
    assert process.returncode == 0 and "15 passed" in out, out


def test_who_stops_early_leaves_the_rest_to_be_named(tmp_path):
    tests = suite(tmp_path)
    (tests / "test_a.py").write_text("def test_bad():\n    assert False\ndef test_after():\n    pass\n")
    process = start(tmp_path, tests, 0, "-x")
    process.communicate(timeout=60)
    assert process.returncode != 0
    done = (tmp_path / "table" / "done").read_text().splitlines()
    assert "tests/test_a.py::test_after" not in [name[-len("tests/test_a.py::test_after"):] for name in done]
    assert len(done) < len((tmp_path / "table" / "all").read_text().splitlines())


def piece(name, stack, seconds):
    return dealing.Piece(name, stack, seconds, [])


def chosen(taken, me, *pieces):
    found = dealing.choose({p.name: p for p in pieces}, taken, me)
    return found and found.name


def test_the_stack_that_most_is_left_of_is_begun_with():
    pieces = [piece("a", "x", 50), piece("b", "x", 60), piece("c", "y", 100)]
    assert chosen([], "1", *pieces) == "b"
    assert chosen([("b", "1")], "2", *pieces) == "c"
    assert chosen([("b", "1"), ("c", "2")], "1", *pieces) == "a"
    assert chosen([("b", "1"), ("c", "2")], "2", *pieces) == "a", "its own stack has nothing left"
    assert chosen([("b", "1"), ("c", "2"), ("a", "2")], "1", *pieces) is None


def test_many_do_not_crowd_at_one_stack():
    pieces = [piece("a%d" % i, "x", 100) for i in range(6)] + [piece("b", "y", 250)]
    assert chosen([("a0", "1"), ("a1", "2")], "3", *pieces) == "b"


def test_seconds_are_read_and_written(tmp_path):
    report = tmp_path / "r.xml"
    report.write_text('<testsuites><testsuite><testcase classname="test.e2e.test_m" name="a" time="61.5"/>'
                      '<testcase classname="test.e2e.test_m" name="b" time="2"/>'
                      '<testcase classname="test.e2e.test_n" name="c[x y]" time="7"/></testsuite></testsuites>')
    assert dealing.measured([str(report)], {"test_n"}) == {"test_m": 63.5, "test_n::c[x y]": 7}
    table = tmp_path / "seconds.txt"
    table.write_text("# head\n63 test_m\n7 test_n::c[x y]\n")
    assert dealing.read_seconds(str(table)) == {"test_m": 63, "test_n::c[x y]": 7}
    assert dealing.read_seconds(str(tmp_path / "none")) == {}


def test_what_seconds_are_told_of_is_there():
    folder = os.path.join(TREE, "test", "e2e")
    told = dealing.read_seconds(os.path.join(folder, "seconds.txt"))
    assert len(told) > 20
    for name in told:
        module, _, test = name.partition("::")
        with open(os.path.join(folder, module + ".py"), encoding="utf-8") as file:
            text = file.read()
        assert ("\nAPART = True\n" in text) == bool(test), name
        assert not test or "\ndef %s(" % test.split("[")[0] in text, name
