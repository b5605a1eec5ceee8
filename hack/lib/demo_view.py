"""What hack/demo shows: a table of pods, a bar for each GPU, and what Aliquot said, in sentences."""

import textwrap

WIDTH = 96
BAR = 20
UUID_SHOWN = 12  # "GPU-" and the first eight digits
PREFIX = "aliquot.dev/"
GONE = ("Succeeded", "Failed")


def note(pod, key):
    return pod["metadata"].get("annotations", {}).get(PREFIX + key)


def label(pod, key):
    return pod["metadata"].get("labels", {}).get(PREFIX + key)


def is_gated(pod):
    return any(gate["name"] == PREFIX + "gpu" for gate in pod["spec"].get("schedulingGates", []))


def placed_condition(pod):
    return next((c for c in pod["status"].get("conditions", []) if c["type"] == PREFIX + "Placed"), {})


def asked(pod):
    """What the person wrote, as short as it can be said."""
    parts = []
    fraction = note(pod, "gpu-fraction")
    if fraction:
        known = fraction.replace(".", "", 1).isdigit()
        parts.append(fraction + " GPU" if known else '"%s"' % fraction[:16])
    if note(pod, "gpu-memory"):
        parts.append(note(pod, "gpu-memory"))
    return " + ".join(parts) or "1 GPU"


def state(pod):
    if pod["metadata"].get("deletionTimestamp"):
        return "Terminating"
    if is_gated(pod):
        reason = placed_condition(pod).get("reason")
        return "waits: " + reason if reason else "waits"
    return pod["status"].get("phase", "Pending")


def gibibytes(mib):
    return "%.1fGi" % (mib / 1024)


class Row:
    """One pod: what it asked for, what it has, where, and how it is."""

    def __init__(self, pod, visible):
        """VISIBLE: the UUIDs that its container sees, as the node tells; none before it runs."""
        self.name = pod["metadata"]["name"]
        self.asked = asked(pod)
        self.tenant = label(pod, "tenant") == "true"
        self.milli = int(note(pod, "compute-milli") or 0)
        self.mib = int(note(pod, "memory-mib") or 0)
        self.node = pod["spec"].get("nodeName", "")
        self.uuid = visible[0] if visible else ""
        self.uuids = list(visible or ())
        self.whole = not self.tenant and bool(self.node)
        self.state = state(pod)
        self.group = pod["metadata"].get("labels", {}).get("app") or self.name

    def share(self):
        if self.whole:
            return "whole"
        return "%.3g" % (self.milli / 1000) if self.milli else "-"

    def memory(self):
        if self.whole:
            return "all"
        return gibibytes(self.mib) if self.mib else "-"

    def cells(self):
        shown = ",".join(uuid[:UUID_SHOWN] for uuid in self.uuids)
        return [self.name, self.asked, self.share(), self.memory(), self.node or "-",
                shown or "-", self.state]


HEAD = ["POD", "ASKS FOR", "SHARE", "MEMORY", "NODE", "GPU", "STATE"]


def table(rows):
    lines = [HEAD] + [row.cells() for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
            for line in lines]


def crowd(rows):
    """"chat x4, embed" out of the rows of one GPU."""
    counts = {}
    for row in rows:
        counts[row.group] = counts.get(row.group, 0) + 1
    return ", ".join(name if n == 1 else "%s x%d" % (name, n) for name, n in counts.items())


def gpus(rows, nodes, held):
    """NODES: {name: [uuid]}; HELD: the UUIDs of capacity pods. One line a GPU."""
    lines = []
    for node in sorted(nodes):
        for uuid in nodes[node]:
            here = [row for row in rows if uuid in row.uuids and row.state not in GONE]
            milli = sum(row.milli for row in here)
            if any(row.whole for row in here):
                bar, text = "=" * BAR, "whole"
            elif uuid in held:
                filled = round(milli * BAR / 1000)
                bar, text = "#" * filled + "." * (BAR - filled), "%.2f" % (milli / 1000)
            else:
                bar, text = " " * BAR, "free"
            lines.append(("%s  %s  [%s]  %-5s  %s" % (
                node, uuid[:UUID_SHOWN], bar, text, crowd(here))).rstrip())
    return lines


def summary(rows):
    """The gain, counted from the rows and nothing else."""
    sharing = [row for row in rows if row.tenant and row.uuid and row.state == "Running"]
    if not sharing:
        return []
    used = len({uuid for row in sharing for uuid in row.uuids})
    return ["%d pods with a share run on %d GPU%s; whole, they would need %d." % (
        len(sharing), used, "" if used == 1 else "s", len(sharing))]


def sentence(text, indent="  "):
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)
