"""scikit-learn: a forest and its scaler, by skl2onnx.

pip install skl2onnx; python -m examples.export.sklearn_forest [FOLDER]
"""

from skl2onnx import to_onnx
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from examples.export import saving


def main(argv=None):
    wine = load_wine()
    x, labels = wine.data.astype("float32"), wine.target_names[wine.target]
    x, x_test, labels, labels_test = train_test_split(x, labels, random_state=0)
    forest = RandomForestClassifier(n_estimators=10, max_depth=5, random_state=0)
    model = make_pipeline(StandardScaler(), forest).fit(x, labels)
    print(f"accuracy {model.score(x_test, labels_test):.1%}")
    # float32, as on the board; the first row provides dtype and columns
    one = x_test[:1]
    outputs = [model.predict(one), model.predict_proba(one).astype("float32")]
    saving.save(to_onnx(model, x[:1]), "sklearn_forest", argv, x_test[:8], outputs)


if __name__ == "__main__":
    main()
