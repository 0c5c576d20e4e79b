"""The list of requirements says what the tests prove."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
LIST = ROOT / "docs" / "REQUIREMENTS.md"
ROW = re.compile(r"^\| ((?:SQL|PY)-\d{3}) \| (.*) \| (done|refused|later) \| (.*) \|$")


def rows():
    lines = LIST.read_text(encoding="utf-8").splitlines()
    found = [ROW.match(line) for line in lines if re.match(r"\| (SQL|PY)-", line)]
    assert found and all(found), "a row of the list is malformed"
    return [match.groups() for match in found]


def test_every_number_stands_once():
    numbers = [number for number, *_ in rows()]
    assert len(numbers) == len(set(numbers))


def test_what_is_done_or_refused_has_a_test_of_its_number():
    missing = []
    for number, _, state, files in rows():
        named = re.findall(r"`([^`]+)`", files)
        if state == "later":
            assert not named, f"{number} has tests but is later"
            continue
        kind, digits = number.split("-")
        marks = (f"test_{kind.lower()}_{digits}_", number)
        texts = [(ROOT / name).read_text(encoding="utf-8") for name in named if (ROOT / name).is_file()]
        if not texts or not all(any(mark in text for mark in marks) for text in texts):
            missing.append(number)
    assert missing == []


def test_what_has_a_test_is_not_later():
    states = {number: state for number, _, state, _ in rows()}
    for path in sorted((ROOT / "python" / "tests").glob("test_*.py")):
        for kind, digits in re.findall(r"def test_(sql|py)_(\d{3})_", path.read_text(encoding="utf-8")):
            assert states[f"{kind.upper()}-{digits}"] != "later", f"{path.name}: {kind}-{digits}"
