"""Real data, where the data folder is at hand."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans

from kfriendly import DCN
from kfriendly.metrics import nmi

FOLDER = os.environ.get("KFRIENDLY_DATA")
pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="KFRIENDLY_DATA does not name a data folder"
)


def test_dcn_beats_kmeans_and_sae_km_on_pendigits() -> None:
    path = Path(str(FOLDER)) / "pendigits" / "pendigits.tes"
    table = np.loadtxt(path, delimiter=",", dtype=np.int64)
    X, y = table[:, :-1], table[:, -1]
    dcn = DCN(10, random_state=0).fit(X)
    kmeans = KMeans(10, n_init=10, random_state=0).fit_predict(X)
    assert nmi(y, dcn.labels_) > nmi(y, kmeans) + 0.02
    assert nmi(y, dcn.labels_) > nmi(y, dcn.sae_km_labels_) + 0.02
