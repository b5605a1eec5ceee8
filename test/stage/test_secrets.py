"""What the binary holds stays with it, whichever of our roles it has: no core file, nothing for another process of its
user, and no door for tests in what is shipped."""

import os
import resource
import shutil
import subprocess
import tempfile

import pytest

from stack import binary
from waiting import wait_until

USER = 60812


def content():
    with open(binary(), "rb") as file:
        return file.read()


SANITIZED = b"AddressSanitizer" in content()


@pytest.fixture
def sleeper():
    """A role that does nothing, as another user, by whom core files are wanted."""
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o755)
    program = shutil.copy(binary(), os.path.join(folder, "aliquot"))
    os.chmod(program, 0o755)

    def wants_cores():
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    with subprocess.Popen([program, "capacity", "pause"], user=USER, group=USER, extra_groups=[],
                          preexec_fn=wants_cores) as process:
        yield process
        process.kill()
    shutil.rmtree(folder)


def core_limits(pid):
    with open("/proc/%d/limits" % pid, encoding="ascii") as file:
        line, = [line for line in file if line.startswith("Max core file size")]
    return line.split()[4:6]


def test_no_core_is_left(sleeper):
    wait_until(lambda: core_limits(sleeper.pid) == ["0", "0"], 60, lambda: core_limits(sleeper.pid))


@pytest.mark.skipif(SANITIZED, reason="what the sanitizer looks for at the end it looks for as a debugger does")
def test_another_process_of_its_user_reads_nothing_of_it(sleeper):
    """The kernel gives the files of such a process to root."""
    wait_until(lambda: os.stat("/proc/%d/environ" % sleeper.pid).st_uid == 0, 60, "its environment to be root's")
    for name in ("environ", "mem", "maps", "root/", "fd/"):
        done = subprocess.run(["ls" if name.endswith("/") else "cat", "/proc/%d/%s" % (sleeper.pid, name)], user=USER, group=USER,
                              extra_groups=[], capture_output=True, check=False, timeout=60)
        assert done.returncode != 0 and b"Permission denied" in done.stderr, (name, done)


@pytest.mark.skipif(SANITIZED, reason="the build for tests has them")
def test_what_is_shipped_has_no_door_for_tests():
    """Ending at a write that a file names, and another time than the clock's: neither is in the binary."""
    assert b"ALIQUOT_VERSION" not in content() and b"capacity" in content()
    for variable in (b"ALIQUOT_CRASH_AT", b"ALIQUOT_AHEAD"):
        assert variable not in content(), variable
