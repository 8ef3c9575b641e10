"""--quantize: a float model gets QuantizeLinear and DequantizeLinear; `post_training` does it."""
