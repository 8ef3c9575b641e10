"""XGBoost: boosted trees of several classes, by onnxmltools.

pip install xgboost onnxmltools skl2onnx; python -m examples.export.xgboost_trees [FOLDER]
"""

from onnxmltools import convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

from examples.export import saving


def main(argv=None):
    x, y = load_wine(return_X_y=True)
    x, x_test, y, y_test = train_test_split(x.astype("float32"), y, random_state=0)
    model = XGBClassifier(n_estimators=10, max_depth=3, n_jobs=1).fit(x, y)
    print(f"accuracy {model.score(x_test, y_test):.1%}")
    inputs = [("x", FloatTensorType([1, x.shape[1]]))]
    converted = convert_xgboost(model, initial_types=inputs, target_opset=15)
    one = x_test[:1]
    outputs = [model.predict(one).astype("int64"), model.predict_proba(one)]
    saving.save(converted, "xgboost_trees", argv, x_test[:8], outputs)


if __name__ == "__main__":
    main()
