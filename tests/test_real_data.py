"""Real data, where the data folder is at hand."""

from marks import needs_data
from sklearn.cluster import KMeans

from kfriendly import DCN
from kfriendly.datasets import load
from kfriendly.metrics import nmi


@needs_data
def test_dcn_beats_kmeans_and_sae_km_on_pendigits() -> None:
    X, y = load("pendigits")[1:3]
    X, y = X[-3_498:], y[-3_498:]  # the test rows
    kmeans = nmi(y, KMeans(10, n_init=10, random_state=0).fit_predict(X))
    alone = DCN(10, views=None, random_state=0).fit(X)  # Eq. (4)
    assert nmi(y, alone.labels_) > kmeans + 0.02
    assert nmi(y, alone.labels_) > nmi(y, alone.sae_km_labels_) + 0.02
    dcn = DCN(10, random_state=0).fit(X)
    assert nmi(y, dcn.labels_) > nmi(y, alone.labels_) + 0.02
