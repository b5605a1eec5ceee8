"""Measures how the house is built: what calls in circles, what is declared far from where it is, what shares a name.

    hack/house                 today's figures, each with its ceiling and its aim
    hack/house --list FIGURE   what one figure counts, line by line: where to begin
    hack/house --check         exits 1 where a figure is worse than its ceiling (hack/tidy does the same)
    hack/house --lower         lowers each ceiling to today's figure; a ceiling is raised only by hand
    hack/house --root DIR      another tree: one of an older commit, say, that `git archive` wrote

No compiler is asked. The .c and .h of src, include and test/model are read as clang-format lays them out: a function's
braces stand alone at the start of a line, and nothing else's do. docs/design/house.md says how each figure is counted.
"""
import argparse
import collections
import json
import math
import os
import re
import signal
import sys

import csource

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CEILINGS = "hack/lib/house.txt"
CONTROL = ("engine", "control")  # the rooms that may take the whole engine: its step, and who calls it
CYCLE_AIM, ROOM_AIM = 3, 20


class Figure:
    """What was measured: `value` counts `unit`s, of so many; `items` are (path, line, what) that make it up."""

    def __init__(self, key, title, aim, value, of=None, items=(), step=1, percent=False):
        self.key, self.title, self.aim, self.value, self.of = key, title, aim, value, of
        self.items, self.step, self.percent = sorted(items), step, percent

    def measure(self):
        """What is compared with the ceiling."""
        return round(100 * self.value / self.of, 1) if self.percent and self.of else self.value

    def ceiling(self):
        """The measure, or the next step above it: not every honest change is to touch the list."""
        return self.measure() if self.step == 1 else (math.floor(self.measure() / self.step) + 1) * self.step

    def text(self):
        share = " of {:,}".format(self.of) if self.of is not None else ""
        plain = "{:,}{}".format(self.value, share)
        return "{:.1f} % ({})".format(self.measure(), plain) if self.percent else plain


class House:
    """The functions of a tree and who uses whom. `sources` is {path: csource.Source}."""

    def __init__(self, sources):
        self.sources = {path: source for path, source in sources.items()
                        if csource.is_of_a_room(path) and path.endswith((".c", ".h"))}
        self.functions = [(path, function) for path in sorted(self.sources)
                          for function in self.sources[path].functions()]
        self.shared = collections.defaultdict(set)  # of each function that is not static: the .c files that define it
        for path, function in self.functions:
            if path.endswith(".c") and not function.static:
                self.shared[function.name].add(path)
        self.uses = {path: collections.Counter(source.uses()) for path, source in self.sources.items()}
        self.prototypes = collections.defaultdict(list)
        for path, source in self.sources.items():
            for name in source.prototypes() if path.endswith(".h") else ():
                self.prototypes[name].append(path)
        self.rooms = collections.defaultdict(list)
        for path in sorted(self.sources):
            if path.endswith(".c"):
                self.rooms[csource.room_of(path)].append(path)

    def calls(self, room):
        """{.c of a room: {another .c of it: the functions that are defined there and used here}}"""
        calls = {path: collections.defaultdict(set) for path in self.rooms[room]}
        for path, used in calls.items():
            for name in self.uses[path]:
                owners = self.shared.get(name, ())
                for owner in owners if path not in owners else ():
                    if csource.room_of(owner) == room:
                        used[owner].add(name)
        return calls


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def cycles(calls):
    """The largest set of files, each of which reaches each other along the calls."""
    reach = {}
    for first in calls:
        seen, left = set(), [first]
        while left:
            for path in calls[left.pop()]:
                if path not in seen:
                    seen.add(path)
                    left.append(path)
        reach[first] = seen
    return max(([other for other in sorted(calls) if other == path or (other in reach[path] and path in reach[other])]
                for path in calls), key=len, default=[])


def measure_cycles(house):
    for room in sorted(house.rooms):
        calls = house.calls(room)
        worst = cycles(calls)
        yield Figure("cycle-" + room, "files of %s in one cycle of calls" % room, CYCLE_AIM, len(worst), len(calls),
                     [(path, 1, "uses %s of %s" % (" ".join(sorted(calls[path][owner])), os.path.basename(owner)))
                      for path in worst for owner in worst if owner in calls[path]])


def measure_engine(house):
    shipped = [(path, f) for path, f in house.functions
               if os.path.basename(csource.room_of(path)) not in (*csource.ELSEWHERE, *CONTROL)]
    takes = [(path, f.first + 1, f.name) for path, f in shipped if re.search(r"\bstruct engine \*", f.signature)]
    return Figure("engine", "functions that take the whole engine", 0, len(takes), len(shipped), takes, step=10)


def measure_foreign(house):
    far, declared = [], 0
    for path, function in house.functions:
        headers = house.prototypes.get(function.name, ())
        if path.endswith(".c") and not function.static and headers:
            declared += 1
            if not any(stem(h) == stem(path) and csource.room_of(h) == csource.room_of(path) for h in headers):
                far.append((path, function.first + 1, "%s is declared in %s" % (function.name, " ".join(headers))))
    return Figure("foreign", "prototypes in a foreign header", 2, len(far), declared, far, 0.5, percent=True)


def measure_shared(house):
    where = collections.Counter(name for name, _ in {(f.name, path) for path, f in house.functions})
    same = [(path, f.first + 1, "%s is defined in %d files" % (f.name, where[f.name]))
            for path, f in house.functions if f.static and where[f.name] > 1]
    return Figure("shared", "static functions that share their name", 6, len(same), len(house.functions), same, 0.5,
                  percent=True)


def measure_size(house):
    lines = [(path, 1, "%d lines" % source.code.count("\n")) for path, source in house.sources.items()
             if csource.room_of(path) not in csource.ELSEWHERE]
    yield Figure("lines", "lines without the modelled cluster", 92000, sum(int(what.split()[0]) for _, _, what in lines),
                 items=lines, step=1000)
    large = [(csource.folder_of(room), 1, "%d .c files" % len(paths)) for room, paths in house.rooms.items()
             if len(paths) > ROOM_AIM]
    yield Figure("rooms", "rooms of more than %d .c files" % ROOM_AIM, 0, len(large), len(house.rooms), large)
    named = collections.defaultdict(list)
    for paths in house.rooms.values():
        for path in paths:
            named[os.path.basename(path)].append(path)
    twice = [(paths[0], 1, "and " + " ".join(paths[1:])) for paths in named.values() if len(paths) > 1]
    yield Figure("names", "names of more than one .c file", 5, len(twice), len(named), twice)


def measure(sources):
    """All figures that have an aim."""
    house = House(sources)
    return house, [*measure_cycles(house), measure_engine(house), measure_foreign(house), measure_shared(house),
                   *measure_size(house)]


def described(house):
    """What has no aim, but tells the reader what kind of house it is."""
    everywhere = collections.Counter()
    for uses in house.uses.values():
        everywhere.update(uses)
    once = 0
    for path, function in house.functions:
        if function.static:
            forward = len(re.findall(r"^static [^\n;{}=]*\b%s\([^{};]*\);" % function.name, house.sources[path].code, re.M)) \
                if house.uses[path][function.name] > 2 else 0
            once += house.uses[path][function.name] - 1 - forward == 1
        else:
            once += everywhere[function.name] - 1 - len(house.prototypes.get(function.name, ())) == 1
    lengths = sorted(function.length for _, function in house.functions) or [0]
    at = lambda share: lengths[min(len(lengths) - 1, int(share * len(lengths)))]  # noqa: E731
    return {"functions": len(house.functions), "used_once": once, "length_median": at(0.5), "length_p90": at(0.9),
            "length_p99": at(0.99), "length_max": lengths[-1]}


def read_ceilings(text):
    """{figure: (ceiling, line)}"""
    rows = re.finditer(r"^([a-z][\w/-]*) +([\d.]+)$", text, re.M)
    return {row.group(1): (float(row.group(2)), text.count("\n", 0, row.start()) + 1) for row in rows}


def breaches(figures, ceilings):
    """(line of the list, what is wrong) of each figure above its ceiling. A room that has none keeps to the aim."""
    for figure in figures:
        ceiling, line = ceilings.get(figure.key, (figure.aim, 1))
        if figure.measure() > ceiling:
            yield line, "%s: %s, at most %s; hack/house --list %s shows them" % (
                figure.title, figure.text(), "{:,g}".format(ceiling) + (" %" if figure.percent else ""), figure.key)


def lowered(text, figures):
    """The list with no ceiling above what was measured; a room that reached the aim needs none."""
    known = {figure.key: figure for figure in figures}

    def lower(row):
        figure = known.get(row.group(1))
        if figure is None or (figure.key.startswith("cycle-") and figure.measure() <= figure.aim):
            return ""
        return "%s %g\n" % (figure.key, min(float(row.group(2)), figure.ceiling()))
    return re.sub(r"^([a-z][\w/-]*) +([\d.]+)\n", lower, text, flags=re.M)


def read_tree(root):
    sources = {}
    for top in ("src", "include", *csource.ELSEWHERE.values()):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as f:
                        sources[os.path.relpath(path, root)] = csource.source(f.read())
    return sources


def read_text(root):
    try:
        with open(os.path.join(root, CEILINGS), encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def show(figures, ceilings, more):
    small = [f for f in figures if f.key.startswith("cycle-") and f.key not in ceilings and f.measure() <= f.aim]
    print("%-46s %-23s %8s %10s" % ("", "today", "ceiling", "aim"))
    for figure in sorted((f for f in figures if f not in small),
                         key=lambda f: -f.value if f.key.startswith("cycle-") else 0):
        ceiling = "{:,g}".format(ceilings[figure.key][0]) if figure.key in ceilings else "-"
        print("%-46s %-23s %8s %10s" % (figure.title, figure.text(), ceiling, "<= {:,}".format(figure.aim)))
    if small:
        print("%-46s %-23s %8s %10s" % ("files of any of %d other rooms in one cycle" % len(small),
                                        max(f.value for f in small), "-", "<= %d" % CYCLE_AIM))
    print("%-46s %s" % ("functions used exactly once", "{:.1f} % ({:,} of {:,})".format(
        100 * more["used_once"] / max(1, more["functions"]), more["used_once"], more["functions"])))
    print("%-46s %d / %d / %d / %d" % ("lines of a function, median / p90 / p99 / max", more["length_median"],
                                       more["length_p90"], more["length_p99"], more["length_max"]))


def main():
    parser = argparse.ArgumentParser(prog="hack/house", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="the same as one JSON object")
    parser.add_argument("--list", metavar="FIGURE", help="what this figure of --json counts")
    parser.add_argument("--check", action="store_true", help="say nothing but what is worse than its ceiling")
    parser.add_argument("--lower", action="store_true", help="write today's figures into %s where they are lower" % CEILINGS)
    parser.add_argument("--root", default=TREE, help="the tree to measure")
    options = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `hack/house --list foreign | head`
    house, figures = measure(read_tree(options.root))
    text = read_text(options.root)
    ceilings = read_ceilings(text)
    if options.list:
        chosen = [figure for figure in figures if figure.key == options.list]
        if not chosen:
            parser.error("no figure is named %s: %s" % (options.list, " ".join(f.key for f in figures)))
        for path, line, what in chosen[0].items:
            print("%s:%d: %s" % (path, line, what))
        return 0
    if options.lower:
        with open(os.path.join(options.root, CEILINGS), "w", encoding="utf-8") as f:
            f.write(lowered(text, figures))
        return 0
    wrong = list(breaches(figures, ceilings))
    if options.check:
        for line, message in wrong:
            print("%s:%d: %s" % (CEILINGS, line, message))
    elif options.json:
        rows = {f.key: {"title": f.title, "measure": f.measure(), "count": f.value, "of": f.of, "aim": f.aim,
                        "ceiling": ceilings.get(f.key, (None,))[0]} for f in figures}
        print(json.dumps(dict(described(house), figures=rows, holds=not wrong)))
    else:
        show(figures, ceilings, described(house))
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
