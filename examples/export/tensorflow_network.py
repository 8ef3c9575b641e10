"""TensorFlow without Keras: a tf.function with its own variables, by tf2onnx.

pip install tensorflow tf2onnx; python -m examples.export.tensorflow_network [FOLDER]
"""

import tensorflow as tf
import tf2onnx
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from examples.export import saving


class Network(tf.Module):
    """A network with a hidden layer of 24 units."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.random.normal([64, 24], stddev=0.2, seed=0))
        self.b = tf.Variable(tf.zeros([24]))
        self.v = tf.Variable(tf.random.normal([24, 10], stddev=0.2, seed=1))

    @tf.function(input_signature=[tf.TensorSpec([1, 64], tf.float32, name="x")])
    def one(self, x):
        return self(x)

    def __call__(self, x):
        return tf.nn.relu(x @ self.w + self.b) @ self.v


def main(argv=None):
    x, y = load_digits(return_X_y=True)
    x, x_test, y, y_test = train_test_split((x / 16).astype("float32"), y, random_state=0)
    network = Network()
    for _ in range(200):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, network(x))
            loss = tf.reduce_mean(losses)
        variables = network.trainable_variables
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(gradient)
    print(f"accuracy {(network(x_test).numpy().argmax(1) == y_test).mean():.1%}")
    signature = Network.one.input_signature
    converted, _ = tf2onnx.convert.from_function(network.one, signature, opset=17)
    outputs = [network(x_test[:1]).numpy()]
    saving.save(converted, "tensorflow_network", argv, x_test[:8], outputs)


if __name__ == "__main__":
    main()
