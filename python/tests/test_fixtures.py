"""Tables written by Java, read through the builders, through SQL and through a stock session: the same rows."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

# Refused by name, with the words that must name it; everything else must agree.
REFUSED = {
    r"^aggregation_sketches/t$": "aggregate function 'theta_sketch' is not supported",
    r"^aggregation_sketches/t\.r64$": "aggregate function 'rbm64' is not supported",
    r"^row_tracking/t\.tracking": "the system table ora.t$row_tracking is not supported",
}
FIXTURES = pathlib.Path(__file__).parents[2] / "sql-tests" / "fixtures"


def is_refused_by_name(reading):
    words = [words for pattern, words in REFUSED.items() if re.search(pattern, reading["view"])]
    return reading["result"] == "refused" and any(word in reading["detail"] for word in words)


@pytest.mark.parametrize("implementation", ["pypaimon_rust.datafusion", "stock:pypaimon_rust.datafusion"])
def test_every_view_agrees(implementation, tmp_path):
    report = tmp_path / "report.jsonl"
    command = [sys.executable, str(FIXTURES / "compare.py"), str(FIXTURES), "--impl", implementation, "--report", str(report)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert report.exists(), done.stdout[-8000:] + done.stderr[-2000:]
    readings = [json.loads(line) for line in report.read_text().splitlines()]
    other = [r for r in readings if r["result"] != "agree" and not is_refused_by_name(r)]
    assert not other, "\n".join(f"{r['result']} {r['view']} [{r['way']}] {r.get('detail', '')}" for r in other)[:8000]
    # Every archive was read, and what is refused here is still refused: otherwise it leaves the list.
    archives = {re.sub(r"^[a-z]+-(py_)?", r"\1", p.name.removesuffix(".tar.gz")) for p in FIXTURES.glob("*.tar.gz")}
    assert archives == {r["fixture"] for r in readings}
    unrefused = [p for p in REFUSED if not any(re.search(p, r["view"]) and r["result"] == "refused" for r in readings)]
    assert not unrefused
