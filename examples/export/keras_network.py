"""Keras 3: a small network for handwritten digits, by model.export.

pip install keras tensorflow tf2onnx (or KERAS_BACKEND=torch with torch and onnxscript);
python -m examples.export.keras_network [FOLDER]
"""

import keras
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from examples.export import saving


def main(argv=None):
    keras.utils.set_random_seed(0)
    x, y = load_digits(return_X_y=True)
    x, x_test, y, y_test = train_test_split(x.astype("float32") / 16, y, random_state=0)
    layers = [
        keras.Input((64,), name="x"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ]
    model = keras.Sequential(layers)
    model.compile(
        keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    model.fit(x, y, epochs=5, verbose=0)
    print(f"accuracy {model.evaluate(x_test, y_test, verbose=0)[1]:.1%}")
    folder = saving.folder_of(argv)
    model.export(str(folder / "keras_network.onnx"), format="onnx", verbose=False)
    outputs = [model.predict(x_test[:1], verbose=0)]
    saving.save_samples(folder, "keras_network", x_test[:8], outputs)


if __name__ == "__main__":
    main()
