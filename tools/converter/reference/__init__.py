"""What onnxruntime computes: golden vectors, and what they are computed for."""
