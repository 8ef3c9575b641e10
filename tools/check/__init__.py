"""Check mpconnxr on a board: loops against plain Python, models against onnxruntime."""
