"""onnxruntime's interface over a model, for code that is moved from there."""

from .errors import InputError


class Session:
    """`run(output_names, {input name: value})` with onnxruntime's meaning.

    model: the Model beneath.
    """

    def __init__(self, model):
        self.model = model

    def get_inputs(self):
        """The input tensors, in the graph's order."""
        return self.model.inputs

    def get_outputs(self):
        """The output tensors, in the graph's order."""
        return self.model.outputs

    def run(self, output_names, input_feed):
        """Values of the named outputs (of all if None), as typed views valid until the next run.

        Raises InputError.
        """
        by_name = {t.name: t for t in self.model.outputs}
        for name in output_names or ():
            if name not in by_name:
                raise InputError("no output {}; there are {}".format(name, ", ".join(by_name)))
        self.model.run(input_feed)
        return [
            by_name[name].data for name in output_names or [t.name for t in self.model.outputs]
        ]
