"""onnxruntime's interface over a model, for code that comes from there."""

from ..errors import InputError


class Session:
    """A model with `run(output_names, {input name: value})`.

    Attributes:
        model: the Model beneath.
    """

    def __init__(self, model):
        if not hasattr(model, "outputs"):
            raise InputError("model: what mpconnxr.load returns is needed")
        self.model = model

    def get_inputs(self):
        """Return the input tensors, in the graph's order."""
        return self.model.inputs

    def get_outputs(self):
        """Return the output tensors, in the graph's order."""
        return self.model.outputs

    def run(self, output_names, input_feed):
        """Return the named outputs as typed views, which are valid until the next run.

        Args:
            output_names: list of names; None for all outputs.
            input_feed: dict of values by input name.

        Raises:
            InputError: a name or a value does not fit.
        """
        names = [t.name for t in self.model.outputs]
        if output_names is not None and not _are_names(output_names):
            raise InputError("output names: a list of them is needed, or None")
        for name in output_names or ():
            if name not in names:
                raise InputError("no output {}; there are {}".format(name, ", ".join(names)))
        self.model.run(input_feed)
        by_name = {t.name: t for t in self.model.outputs}
        return [by_name[name].data for name in output_names or names]


def _are_names(x):
    return isinstance(x, (list, tuple)) and all([isinstance(name, str) for name in x])
