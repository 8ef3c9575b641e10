"""Write boosted/*.onnx: small models of LightGBM, XGBoost and CatBoost by their exporters.

    python -m tests.host.exporters.boosted_models lightgbm|xgboost|catboost

One library a process: some of them crash beside each other.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

FOLDER = Path(__file__).with_name("boosted")
DATA = {"two": load_breast_cancer, "three": load_wine, "value": load_diabetes}


def data(kind):
    x, y = DATA[kind](return_X_y=True)
    return np.ascontiguousarray(x[:, :6], np.float32), np.abs(y)


def of_lightgbm():
    import lightgbm
    from onnxmltools import convert_lightgbm

    few = {"n_estimators": 4, "num_leaves": 6, "n_jobs": 1, "verbose": -1, "random_state": 0}
    for kind in ("two", "three"):
        for boosting in ("gbdt", "dart", "rf"):
            if (kind, boosting) == ("three", "rf"):
                continue  # onnxmltools writes two scores for three labels: onnxruntime refuses it
            bag = {"bagging_freq": 1, "bagging_fraction": 0.7} if boosting == "rf" else {}
            model = lightgbm.LGBMClassifier(boosting_type=boosting, **few, **bag)
            yield f"{kind}_{boosting}", model.fit(*data(kind)), convert_lightgbm
    for objective in ("regression", "regression_l1", "huber", "poisson", "quantile", "tweedie"):
        model = lightgbm.LGBMRegressor(objective=objective, **few)
        yield f"value_{objective}", model.fit(*data("value")), convert_lightgbm


def of_xgboost():
    import xgboost
    from onnxmltools import convert_xgboost

    few = {"n_estimators": 4, "max_depth": 3, "n_jobs": 1, "random_state": 0}
    for kind in ("two", "three"):
        for method in ("hist", "exact"):
            model = xgboost.XGBClassifier(tree_method=method, **few)
            yield f"{kind}_{method}", model.fit(*data(kind)), convert_xgboost
        model = xgboost.XGBRFClassifier(**few)
        yield f"{kind}_forest", model.fit(*data(kind)), convert_xgboost
    for objective in ("squarederror", "absoluteerror", "pseudohubererror"):
        model = xgboost.XGBRegressor(objective=f"reg:{objective}", **few)
        yield f"value_{objective}", model.fit(*data("value")), convert_xgboost


def of_catboost():
    import catboost

    few = {"iterations": 4, "depth": 3, "thread_count": 1, "verbose": False, "random_seed": 0}
    few["allow_writing_files"] = False
    for kind in ("two", "three"):
        yield kind, catboost.CatBoostClassifier(**few).fit(*data(kind)), None
    for loss in ("RMSE", "MAE"):
        model = catboost.CatBoostRegressor(loss_function=loss, **few)
        yield f"value_{loss.lower()}", model.fit(*data("value")), None


def main(library):
    FOLDER.mkdir(exist_ok=True)
    for name, fitted, convert in globals()[f"of_{library}"]():
        path = FOLDER / f"{library}_{name}.onnx"
        if convert is None:
            fitted.save_model(str(path), format="onnx")
            continue
        from onnxmltools.convert.common.data_types import FloatTensorType

        inputs = [("x", FloatTensorType([1, 6]))]
        converted = convert(fitted, initial_types=inputs, target_opset=15)
        path.write_bytes(converted.SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1])
