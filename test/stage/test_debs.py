"""Programs out of Debian packages: fetched once, whole or not at all, and never installed."""

import os
import stat
import subprocess
import sys

import pytest

LIB = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib")
RUNS = "#!/bin/sh\necho 'version 1'\n"
APT = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$*" in
*download*) [ -e "$LISTS" ] || { echo "E: Unable to locate package" >&2; exit 100; }; : > prometheus_1_amd64.deb ;;
*update*) [ -z "$ONLINE" ] || : > "$LISTS" ;;
esac
"""
UNPACK = """#!/bin/sh
mkdir -p "$3/usr/bin"
for name in prometheus $TOOL; do printf '%s' "$PROGRAM" > "$3/usr/bin/$name"; chmod +x "$3/usr/bin/$name"; done
"""


@pytest.fixture(name="machine")
def fixture_machine(tmp_path):
    """machine(…) looks for the programs on a bare machine, whose apt-get and dpkg-deb are played."""
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    played = {"apt-get": APT, "dpkg-deb": UNPACK, "sudo": '#!/bin/sh\nshift\nexec "$@"\n'}
    for name, text in played.items():
        (bin_dir / name).write_text(text, encoding="ascii")
        (bin_dir / name).chmod(stat.S_IRWXU)
    for name in ("sh", "mkdir", "chmod"):
        (bin_dir / name).symlink_to("/bin/" + name)
    calls = tmp_path / "calls"
    calls.touch()

    def find(online=True, program=RUNS, tool="promtool"):
        env = {"PATH": str(bin_dir), "XDG_CACHE_HOME": str(tmp_path / "cache"), "CALLS": str(calls),
               "LISTS": str(tmp_path / "lists"), "PROGRAM": program, "TOOL": tool, "ONLINE": "1" if online else ""}
        return subprocess.run([sys.executable, os.path.join(LIB, "debs.py")], env=env, capture_output=True, text=True,
                              timeout=60, check=False)
    find.calls = lambda: calls.read_text(encoding="ascii").splitlines()
    find.bin_dir = bin_dir
    find.cached = lambda: sorted(path.name for path in (tmp_path / "cache").rglob("*") if path.is_file())
    return find


def test_they_are_fetched_once_and_not_installed(machine):
    assert machine().returncode == 0
    assert machine.cached() == ["lock", "prometheus", "promtool"]
    calls = machine.calls()
    assert [call.split()[-1] for call in calls] == ["prometheus", "update", "prometheus"], calls
    assert not [call for call in calls if "install" in call.split()]
    assert machine().returncode == 0 and machine.calls() == calls


def test_what_is_on_the_path_is_taken(machine):
    for name in ("prometheus", "promtool"):
        (machine.bin_dir / name).write_text(RUNS, encoding="ascii")
        (machine.bin_dir / name).chmod(stat.S_IRWXU)
    assert machine(online=False).returncode == 0
    assert machine.calls() == []


def test_offline_it_says_what_to_do(machine):
    ended = machine(online=False)
    assert ended.returncode == 1 and "put its programs on PATH" in ended.stderr, ended.stderr
    assert "Unable to locate package" in ended.stderr
    assert machine.cached() == ["lock"]


@pytest.mark.parametrize("what", [{"program": "#!/bin/sh\nexit 3\n"}, {"tool": ""}], ids=["does-not-run", "lacks-one"])
def test_what_is_of_no_use_is_not_kept(machine, what):
    ended = machine(**what)
    assert ended.returncode == 1 and "of no use here" in ended.stderr, ended.stderr
    assert machine.cached() == ["lock"]
    assert machine().returncode == 0, "and the next time it is fetched again"
