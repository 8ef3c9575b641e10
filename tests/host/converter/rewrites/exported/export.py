"""Write the models of this folder as PyTorch exports them: `python export.py`.

It needs torch 2.13, which the project does not. Names that end with _script come from the older
exporter, which traces with TorchScript; the others come from torch.export. Notes about the source
code are removed.
"""

import warnings
from pathlib import Path

import onnx_ir as ir
import torch
from onnx_ir.passes import common as ir_passes
from torch import nn
from torch.nn import functional as F

HERE = Path(__file__).parent
STEPS, FEATURES, HIDDEN, ROWS = 5, 3, 4, 2


class Cells(nn.Module):
    """A recurrent network as a loop over its cell."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell(FEATURES, HIDDEN)

    def forward(self, x):
        h = c = torch.zeros(ROWS, HIDDEN)
        results = []
        for step in range(STEPS):
            if isinstance(self.cell, nn.LSTMCell):
                h, c = self.cell(x[:, step], (h, c))
            else:
                h = self.cell(x[:, step], h)
            results.append(h)
        return torch.stack(results, 1)


class ChannelsLast(nn.Module):
    """Convolutions over time between layers that want channels last, as in a ConvNeXt."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv1d(4, 6, 3), nn.Conv1d(6, 4, 3)
        self.slopes = nn.Parameter(torch.rand(6))

    def forward(self, x):
        y = self.first(x.transpose(1, 2)).transpose(1, 2)
        y = torch.tanh(y * self.slopes)
        return self.second(y.transpose(1, 2)).transpose(1, 2)


class Normalized(nn.Module):
    """BatchNormalization in front of layers, where no exporter merges it."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 4, 3), nn.ReLU())
        self.head = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2))
        for norm in (self.dense[0], self.head[0]):
            nn.init.normal_(norm.running_mean)
            nn.init.uniform_(norm.running_var, 0.5, 2)

    def forward(self, x):
        return self.head(self.dense(x).mean((2, 3)))


class Padded(nn.Module):
    """Explicit pads in front of a layer that could pad itself."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3)

    def forward(self, x):
        y = torch.relu(self.conv(F.pad(x, (0, 1, 0, 1))))
        y = F.max_pool2d(F.pad(y, (0, 1, 0, 1), value=float("-inf")), 3, 2)
        return F.avg_pool2d(y, 2, padding=1, count_include_pad=True)


class Gates(nn.Module):
    """Activations and a normalization as networks wrote them before PyTorch had them."""

    def __init__(self):
        super().__init__()
        self.scale, self.bias = nn.Parameter(torch.rand(8)), nn.Parameter(torch.rand(8))

    def forward(self, x):
        x = x * F.relu6(x + 3) / 6
        d = x - x.mean(-1, keepdim=True)
        y = d * torch.rsqrt((d * d).mean(-1, keepdim=True) + 1e-5) * self.scale + self.bias
        return y * torch.sigmoid(1.702 * y)


torch.manual_seed(0)
MODELS = {
    "lstm_cell": (Cells(nn.LSTMCell), (ROWS, STEPS, FEATURES)),
    "gru_cell": (Cells(nn.GRUCell), (ROWS, STEPS, FEATURES)),
    "channels_last": (ChannelsLast(), (1, 12, 4)),
    "normalized": (Normalized(), (1, 3, 6, 6)),
    "padded": (Padded(), (1, 2, 9, 9)),
    "gates": (Gates(), (2, 8)),
}


def main():
    warnings.simplefilter("ignore")
    for name, (model, shape) in MODELS.items():
        model.eval()
        inputs = (torch.rand(shape),)
        exported, traced = HERE / f"{name}.onnx", HERE / f"{name}_script.onnx"
        torch.onnx.export(model, inputs, exported, external_data=False)
        torch.onnx.export(model, inputs, traced, opset_version=17, dynamo=False)
        for path in (exported, traced):
            bare = ir.load(path)
            ir_passes.ClearMetadataAndDocStringPass()(bare)
            ir.save(bare, path)


if __name__ == "__main__":
    main()
