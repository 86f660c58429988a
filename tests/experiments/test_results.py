"""Files of results."""

from pathlib import Path

import pytest

from kfriendly.errors import ResultsWarning
from kfriendly.experiments.results import Results, Row

ROW = Row("t", "", "KM", "", 0, None, 0.5, 0.4, 0.6, 1.0, "abc", {"python": "3"})


def test_rows_come_back_as_written(tmp_path: Path) -> None:
    results = Results(tmp_path / "new", "t")
    assert results.read() == []
    results.append(ROW)
    results.append(ROW._replace(seed=1))
    assert results.read() == [ROW, ROW._replace(seed=1)]


def test_a_line_cut_in_the_middle_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    results = Results(tmp_path, "t")
    results.append(ROW)
    results.append(ROW._replace(seed=1))
    whole = results.path.read_bytes()
    results.path.write_bytes(whole[:-20])
    with pytest.warns(ResultsWarning, match=r"t\.jsonl: line 2 is not a whole"):
        assert results.read() == [ROW]
    results.append(ROW._replace(seed=2))
    with pytest.warns(ResultsWarning, match="line 2"):
        assert results.read() == [ROW, ROW._replace(seed=2)]
    assert results.path.read_bytes().startswith(whole[:-20])


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"nmi": 1}', "\x00"])
def test_other_lines_are_no_rows(line: str) -> None:
    with pytest.raises(ValueError, match="."):
        Row.parse(line)
