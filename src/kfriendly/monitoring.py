"""Hands the progress of training to scikit-learn's callbacks."""

from collections.abc import Callable, Iterator
from typing import Any

from sklearn.callback import CallbackContext

from kfriendly.training.history import EpochRecord
from kfriendly.training.state import TrainState

# Given the state of training: the attributes a fitted copy of the estimator needs.
Snapshot = Callable[[TrainState], dict[str, Any]]


class CallbackMonitor:
    """A `Monitor` whose phases and epochs are tasks of scikit-learn's callbacks.

    The records so far are the estimator's `history_`, so a callback finds the last
    epoch in `estimator.history_[-1]`.
    """

    def __init__(
        self, estimator: Any, X: Any, root: CallbackContext, snapshot: Snapshot
    ) -> None:
        self.records: list[EpochRecord] = []
        estimator.history_ = self.records
        self._estimator = estimator
        self._X = X
        self._root = root
        self._snapshot = snapshot

    def epochs(self, phase: str, n_epochs: int, state: TrainState) -> Iterator[int]:
        """Yield epochs until all are run or a callback asks to stop."""
        told = {"estimator": self._estimator, "X": self._X}
        task = self._root.subcontext(task_name=phase, max_subtasks=n_epochs)
        task.call_on_fit_task_begin(**told)
        for epoch in range(state.epoch, n_epochs):
            part = task.subcontext(task_name="epoch")
            part.call_on_fit_task_begin(**told)
            yield epoch
            stop = part.call_on_fit_task_end(
                **told,
                reconstruction_attributes=(
                    None if state.cluster is None else lambda: self._snapshot(state)
                ),
            )
            if stop:
                break
        task.call_on_fit_task_end(**told)

    def record(self, record: EpochRecord) -> None:
        """Keep the record where callbacks can see it."""
        self.records.append(record)
