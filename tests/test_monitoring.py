"""scikit-learn's callbacks see phases and epochs, and can stop them."""

from typing import Any

import numpy as np
import pytest
from sklearn.callback import ProgressBar, ScoringMonitor

from kfriendly import DCN

QUICK: dict[str, Any] = {
    "n_clusters": 2,
    "hidden": (6,),
    "pretrain_epochs": 2,
    "max_epochs": 3,
    "n_init": 2,
    "random_state": 0,
}
X = np.random.RandomState(0).randn(60, 4)


class Spy:
    """Writes down every task, and stops joint training when told to."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.ended: list[str] = []
        self.begun: list[str] = []
        self.fitted: list[Any] = []
        self._stop_after = stop_after

    def setup(self, estimator: Any, context: Any) -> None:
        pass

    def teardown(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.begun.append(context.task_name)

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, fitted_estimator: Any = None
    ) -> bool:
        self.ended.append(context.task_name)
        if fitted_estimator is not None:
            self.fitted.append(fitted_estimator.predict(X))
        joint = context.parent is not None and context.parent.task_name == "joint"
        return joint and context.task_id + 1 == self._stop_after


def test_callbacks_are_told_of_phases_and_epochs() -> None:
    spy = Spy()
    DCN(**QUICK).set_callbacks(spy).fit(X)
    assert spy.ended == [
        *["epoch"] * 2,
        "pretrain",
        *["epoch"] * 3,
        "joint",
        "fit",
    ]
    assert sorted(spy.begun) == sorted(spy.ended)


def test_callbacks_can_stop_joint_training() -> None:
    dcn = DCN(**QUICK).set_callbacks(Spy(stop_after=1)).fit(X)
    assert dcn.n_iter_ == 1
    assert np.array_equal(dcn.labels_, dcn.predict(X))


def test_callbacks_get_a_fitted_estimator_in_joint_training() -> None:
    spy = Spy()
    dcn = DCN(**{**QUICK, "n_init": 1}).set_callbacks(spy).fit(X)
    assert len(spy.fitted) == 3
    assert np.array_equal(spy.fitted[-1], dcn.labels_)


def test_callbacks_do_not_change_the_result() -> None:
    plain = DCN(**QUICK).fit(X)
    watched = DCN(**QUICK).set_callbacks(Spy()).fit(X)
    assert np.array_equal(plain.transform(X), watched.transform(X))


def test_scikit_learns_own_callbacks_work(capsys: pytest.CaptureFixture[str]) -> None:
    monitor = ScoringMonitor(scoring=None)
    DCN(**QUICK).set_callbacks(ProgressBar(), monitor).fit(X)
    assert "joint" in capsys.readouterr().out
