"""promtool reads what agents tell: the text that the unit tests of the exposition compare with."""

import os
import re
import subprocess

import debs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOLDEN = os.path.join(ROOT, "test", "unit", "node", "data", "exposition.txt")
# What it says of dcgm-exporter's own names, which are not ours to choose.
FOREIGN = re.compile(r"^DCGM_FI_\w+ (counter metrics should have \"_total\" suffix"
                     r"|label names should be written in 'snake_case' not 'camelCase'"
                     r"|metric name should not include type 'counter')$")
UNREADABLE, LINT = 1, 3


def promtool(text):
    return subprocess.run([debs.find("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, timeout=30,
                          check=False)


def golden():
    with open(GOLDEN, encoding="utf-8") as file:
        return file.read()


def test_promtool_reads_it_and_finds_only_what_dcgm_chose():
    result = promtool(golden())
    assert result.returncode in (0, LINT), result.stderr
    complaints = (result.stdout + result.stderr).splitlines()
    assert [line for line in complaints if not FOREIGN.match(line)] == []


def test_promtool_notices():
    text = golden()
    assert promtool(text + text).returncode == UNREADABLE, "HELP and TYPE twice"
    assert promtool(text.replace('\\"model\\"', '"model"')).returncode == UNREADABLE, "a quote that ends a label"
    assert promtool("# TYPE aliquot_x counter\naliquot_x 1\n").returncode == LINT


def test_a_series_comes_once():
    series = [line.rsplit(" ", 1)[0] for line in golden().splitlines() if not line.startswith("#")]
    assert len(series) > 50
    assert len(set(series)) == len(series)
