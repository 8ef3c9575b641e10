"""Check mpconnxr on a board: loops against plain Python, models against onnxruntime."""

MODELS = ("digits", "gesture", "anomaly", "forest", "keywords", "shapes")  # of examples/
