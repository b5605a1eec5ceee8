"""hack/soak and hack/bench: what they find, run and believe; and how a fuzz soak counts."""
import json
import os
import subprocess
import sys
import textwrap

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TREE, "hack", "lib"))

import dispatch  # noqa: E402
import fuzzing  # noqa: E402
import reports  # noqa: E402


@pytest.fixture(name="tree")
def a_tree(tmp_path):
    """A tree with the dispatchers and three benches."""
    for path in ("hack/bench", "hack/lib/dispatch.py"):
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(open(os.path.join(TREE, path), encoding="utf-8").read())
        target.chmod(0o755)
    folder = tmp_path / "test" / "bench"
    folder.mkdir(parents=True)
    (folder / "good.sh").write_text(textwrap.dedent("""\
        #!/usr/bin/env bash
        # Counts to a number and says so.
        #
        # smoke: --small 3
        # build: none
        echo working on it
        echo "{\\"name\\": \\"good\\", \\"args\\": \\"$*\\", \\"holds\\": $([ "$*" = fail ] && echo false || echo true)}"
        """))
    (folder / "silent.sh").write_text("# Says nothing that counts.\n# smoke:\n# build: none\necho done\n")
    (folder / "broken.sh").write_text("# Exits badly.\n# build: none\necho '{}'\nexit 7\n")
    (folder / "bench.c").write_text("/* no script */\n")
    return tmp_path


def bench(tree, *argv):
    done = subprocess.run([sys.executable, "hack/bench", *argv], cwd=tree, capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout


def test_lists_what_there_is(tree):
    status, out = bench(tree)
    assert status == 0
    rows = dict(line.split(None, 1) for line in out.splitlines() if line.startswith("  "))
    assert rows == {"broken": "Exits badly.", "good": "Counts to a number and says so.",
                    "silent": "Says nothing that counts."}


def test_runs_one_and_passes_arguments(tree):
    status, out = bench(tree, "good", "a", "b")
    assert status == 0
    assert json.loads(out.splitlines()[-1]) == {"name": "good", "args": "a b", "holds": True}


@pytest.mark.parametrize("argv,wanted", [
    (["good", "fail"], 1), (["silent"], 1), (["broken"], 1), (["nothing"], 2), (["--smoke", "broken"], 2),
    (["--smoke", "silent"], 1), (["--smoke", "good"], 0)])
def test_exit_status(tree, argv, wanted):
    assert bench(tree, *argv)[0] == wanted


def test_smoke_arguments(tree):
    assert json.loads(bench(tree, "--smoke", "good")[1].splitlines()[-1])["args"] == "--small 3"
    assert reports.smoke_benches(str(tree / "test" / "bench")) == ["good", "silent"]


@pytest.mark.parametrize("asked", ["--help", "-h"])
def test_help_neither_builds_nor_runs(tree, asked):
    """There is nothing to build in this tree: trying to would fail."""
    venv = tree / "hack" / "lib" / "venv"
    venv.write_text("#!/bin/sh\necho %s\n" % sys.executable)
    venv.chmod(0o755)
    (tree / "test" / "bench" / "built.py").write_text(textwrap.dedent("""\
        # Wants a build.
        import argparse, os
        parser = argparse.ArgumentParser(description=os.environ["ALIQUOT_BUILD"])
        parser.add_argument("--count")
        parser.parse_args()
        print("it ran")
        """))
    status, out = bench(tree, "built", asked)
    assert status == 0 and "--count" in out and "build-release" in out and "it ran" not in out
    assert bench(tree, "good", "a", asked) == (0, "Counts to a number and says so.\n")
    assert bench(tree, "built")[0] != 0, "it would have to be built for this"


def test_a_verdict_needs_an_object():
    assert dispatch.verdict(0, '{"holds": true}', False) == 0
    assert dispatch.verdict(0, '{"holds": false}', False) == 1
    assert dispatch.verdict(1, '{"holds": true}', False) == 1
    assert dispatch.verdict(0, "[1]", False) == 1
    assert dispatch.verdict(0, "", True) == 1


def test_a_count_is_of_one_state_of_the_sources(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    os.makedirs(fuzzing.state_dir())
    state = fuzzing.State("slice", "one")
    state.counts.update(seconds=60, execs=5)
    state.save()
    assert fuzzing.State("slice", "one").counts["seconds"] == 60
    assert fuzzing.State("slice", "two").counts["seconds"] == 0


FUZZER = """\
#!/usr/bin/env bash
# A stand-in for libFuzzer.
echo "stat::number_of_executed_units: 1000" >&2
sleep 1.2
exit %d
"""


@pytest.mark.parametrize("status", [0, 77])
def test_a_slice_counts_or_is_a_finding(tmp_path, monkeypatch, status):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    os.makedirs(fuzzing.state_dir())
    program = tmp_path / "fuzz-slice"
    program.write_text(FUZZER % status)
    program.chmod(0o755)
    state = fuzzing.State("slice", "one")
    assert fuzzing.run_slice(str(program), "slice", 1, state) == (status == 0)
    counts = fuzzing.State("slice", "one").counts
    assert counts["execs"] == 1000
    assert (counts["seconds"], counts["findings"]) == ((1, 0) if status == 0 else (0, 1))
