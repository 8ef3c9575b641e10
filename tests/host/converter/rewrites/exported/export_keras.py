"""Write the models of this folder as tf2onnx converts Keras's: `python export_keras.py`.

It needs tensorflow 2.21 with Keras 3.15 and tf2onnx 1.17, which the project does not.
"""

from pathlib import Path

import keras
import onnx_ir as ir
import tensorflow as tf
import tf2onnx
from keras import layers
from onnx_ir.passes import common as ir_passes

HERE = Path(__file__).parent
keras.utils.set_random_seed(0)
MODELS = {
    "keras_lstm": [
        layers.Input((5, 3)),
        layers.LSTM(4, unroll=True, return_sequences=True),
    ],
    "keras_pool": [  # as a ResNet begins
        layers.Input((9, 9, 2)),
        layers.Conv2D(4, 3),
        layers.ReLU(),
        layers.ZeroPadding2D(1),
        layers.MaxPooling2D(3, 2),
        layers.GlobalAveragePooling2D(),
    ],
}


def main():
    for name, parts in MODELS.items():
        model = keras.Sequential(parts)
        signature = [tf.TensorSpec((1, *model.input_shape[1:]), tf.float32, name="x")]
        function = tf.function(lambda x, model=model: model(x))
        result, _ = tf2onnx.convert.from_function(function, signature, opset=17)
        bare = ir.from_proto(result)
        ir_passes.ClearMetadataAndDocStringPass()(bare)
        ir.save(bare, HERE / f"{name}.onnx")


if __name__ == "__main__":
    main()
