"""When a test can run."""

import os

import pytest

needs_data = pytest.mark.skipif(
    "KFRIENDLY_DATA" not in os.environ,
    reason="KFRIENDLY_DATA does not name a data folder",
)
