"""Read files of plain tensors, made by `mpconnxr tensor input_0.pb input.bin`.

    from mpconnxr import tensorfile
    model.run(tensorfile.read("input.bin")[0].data)

So a board can be fed ONNX's test vectors.
"""

from ..build.reader import KIND_TENSORS, STORAGE_DATA, Reader
from ..errors import ModelError
from ..tensor import Tensor, is_object


def read(source, verify=True):
    """Return the tensors of a file with their names; data are used in place. See mpconnxr.load."""
    reader = Reader(source, verify, KIND_TENSORS)
    names = reader.io_names()
    tensors = []
    for i in reader.outputs:
        info = reader.tensors[i]
        if info.storage != STORAGE_DATA:
            raise ModelError("not a valid tensor file: a tensor without data")
        name = names[len(tensors)]
        if is_object(info.dtype):
            from .objects import Slots

            tensors.append(Slots().make(reader, info, i))
            tensors[-1].name = name
            continue
        buffer, offset = reader.buffer(info, None)
        tensors.append(Tensor(buffer, offset, info.nbytes, info.dtype, info.shape, name))
    return tensors
