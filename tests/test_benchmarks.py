"""The arithmetic of the benchmarks; what they time is tested elsewhere."""

from pathlib import Path

import lines
import numpy as np
import pytest
import timing
import workloads


@pytest.mark.parametrize(
    ("at_least", "target", "met"),
    [(True, 2.0, True), (True, 2.1, False), (False, 2.0, True), (False, 1.9, False)],
)
def test_a_figure_is_met_by_its_median(
    at_least: bool, target: float, met: bool
) -> None:
    figure = timing.Figure("", [9.0, 1.0, 2.0], target, at_least, "")
    assert figure.median == 2.0
    assert figure.is_met is met


def test_jobs_take_turns_after_a_round_to_warm_up() -> None:
    turns: list[str] = []

    def job(name: str) -> timing.Job:
        def run() -> float:
            turns.append(name)
            return float(len(turns))

        return run

    found = timing.interleave([job("a"), job("b")], repeats=2)
    assert turns == ["a", "b"] * 3
    assert found == [[3.0, 5.0], [4.0, 6.0]]
    assert timing.quotients(*found) == [3 / 4, 5 / 6]


def test_flops_of_a_step_by_hand() -> None:
    # Four products forth (2 x 3, 3 x 1 and back), four for weights, three for inputs.
    products = 4 * (2 * 3 + 3 * 1) + 2 * (2 * 3 + 3 * 1) - 2 * 3
    assert workloads.step_flops((2, 3, 1)) == 2 * products


def test_sparse_table_has_the_values_it_should() -> None:
    X = workloads.words(50, 47_236, 75)
    X.sum_duplicates()
    assert X.shape == (50, 47_236)
    assert np.diff(X.indptr).tolist() == [75] * 50


def test_every_job_runs() -> None:
    X, widths = workloads.noise(60, 6), (6, 5, 3)
    for make in (workloads.joint, workloads.layers, workloads.end_to_end):
        assert make(X, widths, 20, n_epochs=2)() > 0
    assert workloads.joint(X, widths, 20, 2)() > 0
    assert workloads.matmul(size=8)() > 0
    assert workloads.step_products(widths, 20, 1)() > 0


def test_lines_come_back_but_for_one_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    assert lines.read_lines(path) == []
    for n in (1, 2):
        lines.append_line(path, {"n": n})
    path.write_text(path.read_text() + '{"n": ')
    assert lines.read_lines(path) == [{"n": 1}, {"n": 2}]
