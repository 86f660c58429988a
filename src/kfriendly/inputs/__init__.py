"""Inputs: files, folders and data sets to rows, and rows to numbers."""

from kfriendly.inputs.base import Batch, Features, Input, InputOptions
from kfriendly.inputs.opening import open_input
from kfriendly.inputs.planning import features_from_json, options_for, plan_features

__all__ = [
    "Batch",
    "Features",
    "Input",
    "InputOptions",
    "features_from_json",
    "open_input",
    "options_for",
    "plan_features",
]
