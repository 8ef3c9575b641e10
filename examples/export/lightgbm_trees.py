"""LightGBM: boosted trees, by onnxmltools.

pip install lightgbm onnxmltools skl2onnx; python -m examples.export.lightgbm_trees [FOLDER]
"""

from lightgbm import LGBMClassifier
from onnxmltools import convert_lightgbm
from onnxmltools.convert.common.data_types import FloatTensorType
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from examples.export import saving


def main(argv=None):
    x, y = load_breast_cancer(return_X_y=True)
    x, x_test, y, y_test = train_test_split(x.astype("float32"), y, random_state=0)
    model = LGBMClassifier(n_estimators=20, max_depth=4, n_jobs=1, verbose=-1).fit(x, y)
    print(f"accuracy {model.score(x_test, y_test):.1%}")
    inputs = [("x", FloatTensorType([1, x.shape[1]]))]
    converted = convert_lightgbm(model, initial_types=inputs, target_opset=15)
    one = x_test[:1]
    outputs = [model.predict(one), model.predict_proba(one).astype("float32")]
    saving.save(converted, "lightgbm_trees", argv, x_test[:8], outputs)


if __name__ == "__main__":
    main()
