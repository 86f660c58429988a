"""Every exception and warning of kfriendly.

::

    KfriendlyError
      TrainingDiverged       (also ArithmeticError)     the objective is not finite
      UnknownName            (also ValueError)          no such data set or baseline
      DataNotFound           (also FileNotFoundError)   a data file cannot be had
      DataCorrupt            (also ValueError)          a data file is not whole
      PeerNotFound           (also FileNotFoundError)   another program cannot be run
      ModelFileError         (also ValueError)          a saved model is not whole
      NotSavable             (also TypeError)           a model has parts of the user's
      CheckpointMismatch     (also ValueError)          a checkpoint is of another fit
      BadInput               (also ValueError)          a user's data cannot be used

    sklearn.exceptions.ConvergenceWarning
      CollapseWarning        the latent space or the assignment has become trivial
      EmptyClusterWarning    a cluster had no sample in an epoch
    DataScaleWarning         columns that are constant, or of very different size
    CheckpointWarning        a checkpoint could not be written, or not be used
    ResultsWarning           a file of results has a line that is not whole
"""

from sklearn.exceptions import ConvergenceWarning


class KfriendlyError(Exception):
    """Base of all errors that are ours."""


class TrainingDiverged(KfriendlyError, ArithmeticError):
    """The objective became infinite or NaN and smaller steps did not help."""


class UnknownName(KfriendlyError, ValueError):
    """There is no data set or baseline of this name."""


class DataNotFound(KfriendlyError, FileNotFoundError):
    """A data file is not here and cannot be fetched."""


class PeerNotFound(KfriendlyError, FileNotFoundError):
    """A program to compare with is not installed, or does not run."""


class DataCorrupt(KfriendlyError, ValueError):
    """A data file does not have the checksum of the original."""


class BadInput(KfriendlyError, ValueError):
    """A user's file or rows cannot be used as they are.

    The message has a line of what, a line of where and a line of what to do.
    """


class ModelFileError(KfriendlyError, ValueError):
    """A saved model is damaged, not a model, or of a newer version."""


class NotSavable(KfriendlyError, TypeError):
    """A model has a part that is not kfriendly's own, and no file can hold it."""


class CheckpointMismatch(KfriendlyError, ValueError):
    """A checkpoint is of other data, parameters or version, or in use."""


class CollapseWarning(ConvergenceWarning):
    """The latent space shrank to a point, or one cluster took all samples."""


class EmptyClusterWarning(ConvergenceWarning):
    """A cluster had no sample in an epoch."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written, or not be used."""


class ResultsWarning(UserWarning):
    """A file of results has a line that is not whole."""


class DataScaleWarning(UserWarning):
    """Columns are constant, or differ so much in size that some will not matter."""
