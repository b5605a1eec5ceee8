"""What a soak has done so far, on disk, valid for one state of the sources."""

import hashlib
import json
import os
import subprocess

from binaries import TREE


def sources():
    """Everything that is compiled, as it is now."""
    listed = subprocess.run(["git", "ls-files", "-z", "src", "include", "manifests", "crds"], cwd=TREE,
                            capture_output=True, check=True).stdout.split(b"\0")
    digest = hashlib.sha256()
    for name in filter(None, listed):
        with open(os.path.join(os.fsencode(TREE), name), "rb") as file:
            digest.update(name + b"\0" + file.read() + b"\0")
    return digest.hexdigest()[:16]


class State:
    """COUNTS go on where the last run of the soak NAME stopped, unless the sources changed or it begins FRESH."""

    def __init__(self, name, counts, fresh=False):
        base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        self.path = os.devnull if fresh else os.path.join(base, "aliquot", "soak", name + ".json")
        self.counts = {"name": name, "sources": sources(), **counts}
        if not fresh and os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                before = json.load(file)
            if before["sources"] == self.counts["sources"]:
                self.counts.update(before)

    def save(self):
        if self.path != os.devnull:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(self.path + ".part", "w", encoding="utf-8") as file:
                json.dump(self.counts, file)
            os.replace(self.path + ".part", self.path)
