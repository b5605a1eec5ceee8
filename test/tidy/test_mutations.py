"""The mutations of the simulator: each is tried in the suite at a seed that is known to catch it."""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEEDS = 200  # within which each must be caught


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def rows():
    table = read("test/sim/mutations.c").split("mutation_rows[] = {", 1)[1].split("\n};", 1)[0]
    return dict(re.findall(r'^\t\{"([a-z-]+)",(.*?)\},?$(?=\n\t\{|\s*\Z)', table, re.M | re.S))


def test_every_mutation_names_a_seed_that_catches_it():
    found = rows()
    assert len(found) == len(re.findall(r'^\t\{"', read("test/sim/mutations.c"), re.M)) > 50
    seeds = {name: re.search(r"\.seed = (\d+)", row) for name, row in found.items()}
    assert [name for name, seed in seeds.items() if seed is None or not 1 <= int(seed[1]) <= SEEDS] == []


def test_the_suite_tries_every_mutation():
    build = read("test/sim/meson.build")
    parts = re.search(r"foreach part : \[([^\]]*)\]\n\s*test\('sim/mutations-' \+ part, sim, "
                      r"args: \['--all-mutations', '--seeds', '200', '--part', part, '--parts', '(\d+)'\]", build)
    assert re.findall(r"\d+", parts[1]) == [str(i + 1) for i in range(int(parts[2]))]


def test_every_mutation_is_described():
    text = read("docs/design/simulation.md")
    assert [name for name in rows() if f"`{name}`" not in text] == []
