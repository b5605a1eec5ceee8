"""The fake nvidia-cuda-mps-control: where it is, its scenario, and what its journal says."""

import contextlib
import os

import nvml

FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror")


def control():
    """Path of the fake: named by ALIQUOT_FAKE_MPS, else compiled into the cache by its content."""
    given = os.environ.get("ALIQUOT_FAKE_MPS")
    return os.path.abspath(given) if given else \
        nvml.compiled("mps", FLAGS, "nvidia-cuda-mps-control")


class FakeMps:
    """A scenario and a journal in a folder; `env` is what the program under test is given."""

    def __init__(self, folder):
        self.scenario_path = os.path.join(folder, "mps-scenario")
        self.journal_path = os.path.join(folder, "mps-journal")
        self.env = {"FAKE_MPS_SCENARIO": self.scenario_path, "FAKE_JOURNAL": self.journal_path}
        if not os.path.exists(self.scenario_path):
            self.scenario()

    def scenario(self, *lines):
        """Replaces it at once; it holds from the next run on."""
        with open(self.scenario_path + ".new", "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
        os.replace(self.scenario_path + ".new", self.scenario_path)

    def note(self, line):
        """A line of somebody else."""
        with open(self.journal_path, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def journal(self, *beginnings):
        """Its lines, or those that begin with one of these."""
        try:
            with open(self.journal_path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except FileNotFoundError:
            return []
        return [line for line in lines if not beginnings or line.startswith(beginnings)]


def pids_of(folder, uid):
    """The processes of a pod on a fake node, by its /proc."""
    root = os.path.join(folder, "host", "proc")
    found = []
    for pid in sorted(filter(str.isdigit, os.listdir(root)), key=int):
        # One may end meanwhile.
        with contextlib.suppress(FileNotFoundError), open(os.path.join(root, pid, "cgroup"), encoding="utf-8") as file:
            if uid.replace("-", "_") in file.read():
                found.append(int(pid))
    return found
