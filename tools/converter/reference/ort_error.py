"""The error of the reference."""


class OrtError(Exception):
    """What onnxruntime says of a model; kind: the name of its own exception, or "Crash"."""

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind = kind
