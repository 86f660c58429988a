"""Learning how raw rows become numbers, for every kind of input."""

from dataclasses import replace
from typing import Any

from kfriendly.inputs.base import Batch, Features, Input, InputOptions


def plan_features(source: Input, batch: Batch, options: InputOptions) -> Features:
    """Learn from the training rows how to turn rows into numbers.

    Parameters
    ----------
    source : Input
        Where the rows are from.
    batch : Batch
        The training rows.
    options : InputOptions

    Returns
    -------
    Features
    """
    # Each kind needs its own packages, and they take time to import.
    if source.kind == "table":
        from kfriendly.inputs.table_features import plan_table

        return plan_table(batch, options, source.column_names)
    if source.kind == "text":
        from kfriendly.inputs.text_features import plan_text

        return plan_text(batch, options)
    if source.kind == "images":
        from kfriendly.inputs.image_features import plan_images

        return plan_images(batch, options)
    from kfriendly.inputs.array_features import plan_array

    return plan_array(batch, options, source.column_names)


def options_for(features: Features, options: InputOptions) -> InputOptions:
    """Return the options with which to open further rows for these features.

    Images are brought to the size of the training images; their own may differ.
    """
    shape = features.input_shape
    if shape is None:
        return options
    height, width = shape[-2:]
    return replace(options, image_size=(height, width))


def features_from_json(stored: dict[str, Any]) -> Features:
    """Make features of what their `to_json` returned."""
    if stored["kind"] == "table":
        from kfriendly.inputs.table_features import TableFeatures

        return TableFeatures.from_json(stored)
    if stored["kind"] == "text":
        from kfriendly.inputs.text_features import TextFeatures

        return TextFeatures.from_json(stored)
    if stored["kind"] == "images":
        from kfriendly.inputs.image_features import ImageFeatures

        return ImageFeatures.from_json(stored)
    from kfriendly.inputs.array_features import ArrayFeatures

    return ArrayFeatures.from_json(stored)
