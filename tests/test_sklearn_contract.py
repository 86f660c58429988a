"""scikit-learn's own rules for estimators, all of them, with no expected failure."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from kfriendly import DCN, ConvFactory, Descent, KMeans, MLPFactory

# scikit-learn's checks feed odd data on purpose; our warnings are tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore")

QUICK: dict[str, Any] = {
    "pretrain_epochs": 2,
    "max_epochs": 2,
    "n_init": 2,
    "hidden": (8,),
}

# Defined by scikit-learn but not run by check_estimator. The two sample-weight checks
# do not apply: `fit` takes no sample_weight.
NOT_RUN_BY_CHECK_ESTIMATOR = [
    estimator_checks.check_dataframe_column_names_consistency,
    estimator_checks.check_set_output_transform,
    estimator_checks.check_set_output_transform_pandas,
    estimator_checks.check_set_output_transform_polars,
    estimator_checks.check_global_output_transform_pandas,
    estimator_checks.check_global_set_output_transform_polars,
    estimator_checks.check_transformer_get_feature_names_out,
    estimator_checks.check_transformer_get_feature_names_out_pandas,
    estimator_checks.check_inplace_ensure_writeable,
    estimator_checks.check_param_validation,
]


@parametrize_with_checks([DCN(**QUICK)])  # type: ignore[untyped-decorator]
def test_dcn_passes_check(estimator: DCN, check: Callable[[DCN], None]) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([DCN()])  # type: ignore[untyped-decorator]
def test_dcn_with_defaults_passes_check(
    estimator: DCN, check: Callable[[DCN], None]
) -> None:
    check(estimator)


@pytest.mark.parametrize("check", NOT_RUN_BY_CHECK_ESTIMATOR)
def test_dcn_passes_further_check(check: Callable[[str, DCN], None]) -> None:
    check("DCN", DCN(**QUICK))


@pytest.mark.parametrize(
    "params",
    [
        {"criterion": KMeans(prior_count=1.0)},
        {"network": MLPFactory(hidden=(4,), tied=True)},
        {"network": ConvFactory((2, 2), channels=(2,))},
        {"optimizer": Descent("sgd", 0.01)},
    ],
)
def test_clone_keeps_objects_given_as_parameters(params: dict[str, Any]) -> None:
    copy = clone(DCN(**params))
    assert {name: getattr(copy, name) for name in params} == params


def test_dcn_works_in_pipeline_and_grid_search() -> None:
    pipeline = make_pipeline(StandardScaler(), DCN(**QUICK, random_state=0))
    search = GridSearchCV(pipeline, {"dcn__n_clusters": [2, 3]}, cv=2)
    X = [[float(i % 7), float(i % 5), float(i % 3)] for i in range(40)]
    assert search.fit(X).best_params_["dcn__n_clusters"] in (2, 3)
