"""Write torch/*.onnx: small PyTorch models by both of its exporters, with random weights.

    python -m tests.host.exporters.torch_models [NAME...]

needs torch, onnx and onnxscript. `NAME_dynamo.onnx` is written by torch.export, `NAME_script.onnx`
by TorchScript.
"""

import itertools
import sys
import warnings
from pathlib import Path

import onnx
import torch
import torch.nn.functional as F
from torch import nn

FOLDER = Path(__file__).with_name("torch")
MODELS = {}


def model(*shapes, dtype=torch.float32, seed=0):
    """Register a function that makes a module, with the shapes of the module's inputs."""

    def note(make):
        MODELS[make.__name__] = make, shapes, dtype, seed
        return make

    return note


class Of(nn.Module):
    """A module of named parts, and a function of it and its inputs."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


@model((2, 6))
def mlp():
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))


@model((1, 5))
def mlp_activations():
    kinds = (nn.GELU(), nn.SiLU(), nn.ELU(), nn.LeakyReLU(0.2), nn.Softplus(), nn.Mish())
    parts = [part for kind in kinds for part in (nn.Linear(5, 5), kind)]
    return nn.Sequential(*parts, nn.Hardtanh(-2, 2), nn.Softmax(-1))


@model((1, 7))
def mlp_norms():
    return nn.Sequential(nn.Linear(7, 8), nn.LayerNorm(8), nn.Linear(8, 8), nn.BatchNorm1d(8))


@model((1, 8))
def rms_norm():
    return nn.Sequential(nn.Linear(8, 8), nn.RMSNorm(8), nn.Linear(8, 2))


@model((1, 1, 12, 12))
def cnn():
    return nn.Sequential(
        *(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3), nn.ReLU()),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4)),
    )


@model((1, 3, 20))
def cnn_1d():
    return nn.Sequential(
        *(nn.Conv1d(3, 5, 5, padding=2), nn.BatchNorm1d(5), nn.ReLU(), nn.MaxPool1d(2)),
        *(nn.Conv1d(5, 4, 3, dilation=2), nn.AvgPool1d(2), nn.Flatten(), nn.Linear(12, 2)),
    )


@model((1, 2, 6, 6, 6))
def cnn_3d():
    return nn.Sequential(nn.Conv3d(2, 3, 3), nn.ReLU(), nn.MaxPool3d(2), nn.Flatten())


@model((1, 4, 8, 8))
def depthwise():
    return nn.Sequential(
        *(nn.Conv2d(4, 4, 3, padding=1, groups=4), nn.BatchNorm2d(4), nn.ReLU6()),
        *(nn.Conv2d(4, 6, 1), nn.BatchNorm2d(6), nn.Hardswish()),
    )


@model((1, 4, 8, 8))
def residual():
    return Of(
        lambda m, x: torch.relu(m.b(torch.relu(m.a(x))) + m.c(x)),
        a=nn.Conv2d(4, 4, 3, padding=1, bias=False),
        b=nn.Conv2d(4, 4, 3, padding=1),
        c=nn.Conv2d(4, 4, 1),
    )


@model((1, 4, 8, 8))
def squeeze_excite():
    gate = (nn.AdaptiveAvgPool2d(1), nn.Conv2d(4, 2, 1), nn.ReLU(), nn.Conv2d(2, 4, 1))
    return Of(lambda m, x: x * m.gate(x), gate=nn.Sequential(*gate, nn.Hardsigmoid()))


@model((1, 4, 6, 6))
def inception():
    return Of(
        lambda m, x: torch.cat([m.a(x), m.b(x), F.avg_pool2d(x, 3, 1, 1)], 1),
        a=nn.Conv2d(4, 3, 1),
        b=nn.Conv2d(4, 2, 5, padding=2),
    )


@model((1, 3, 10, 10))
def group_instance_norm():
    return nn.Sequential(nn.Conv2d(3, 6, 3), nn.GroupNorm(2, 6), nn.InstanceNorm2d(6, affine=True))


@model((1, 4, 5, 5))
def transposed():
    return nn.Sequential(
        nn.ConvTranspose2d(4, 3, 3, 2, 1, 1), nn.ReLU(), nn.ConvTranspose2d(3, 1, 2, 2)
    )


@model((1, 2, 9))
def transposed_1d():
    return nn.Sequential(nn.ConvTranspose1d(2, 4, 4, 2, 1), nn.LeakyReLU(), nn.Conv1d(4, 1, 3))


@model((1, 8, 4, 4))
def pixel_shuffle():
    return nn.Sequential(nn.PixelShuffle(2), nn.Conv2d(2, 2, 3, padding=1), nn.PixelUnshuffle(2))


@model((1, 2, 5, 5))
def upsample():
    return nn.Sequential(
        *(nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(2, 2, 3)),
        nn.Upsample(size=(12, 12), mode="bilinear", align_corners=False),
    )


@model((1, 2, 6, 6))
def upsample_aligned():
    return nn.Sequential(
        nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
        nn.Upsample(scale_factor=0.5, mode="bicubic"),
    )


@model((1, 2, 8, 8))
def pads():
    parts = (nn.ReflectionPad2d(2), nn.ReplicationPad2d(1), nn.ConstantPad2d(1, 0.5))
    return nn.Sequential(*parts, nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular"))


@model((1, 1, 8, 8))
def unet():
    def forward(m, x):
        a = torch.relu(m.a(x))
        b = torch.relu(m.b(F.max_pool2d(a, 2)))
        return m.d(torch.cat([a, m.c(b)], 1))

    return Of(
        forward,
        a=nn.Conv2d(1, 4, 3, padding=1),
        b=nn.Conv2d(4, 8, 3, padding=1),
        c=nn.ConvTranspose2d(8, 4, 2, 2),
        d=nn.Conv2d(8, 2, 1),
    )


@model((1, 1, 8, 8))
def autoencoder():
    return nn.Sequential(
        *(nn.Conv2d(1, 4, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(64, 8), nn.ReLU()),
        *(nn.Linear(8, 64), nn.Unflatten(1, (4, 4, 4)), nn.ConvTranspose2d(4, 1, 2, 2)),
        nn.Sigmoid(),
    )


def _recurrent(kind, select, **options):
    width = 6 * (1 + options.get("bidirectional", False))
    return Of(
        lambda m, x: m.head(select(m.cells(x)[0])),
        cells=kind(4, 6, batch_first=True, **options),
        head=nn.Linear(width, 3),
    )


@model((1, 7, 4))
def lstm():
    return _recurrent(nn.LSTM, lambda y: y[:, -1])


@model((1, 7, 4))
def gru():
    return _recurrent(nn.GRU, lambda y: y[:, -1])


@model((1, 7, 4))
def rnn():
    return _recurrent(nn.RNN, lambda y: y.mean(1), nonlinearity="relu")


@model((1, 6, 4))
def lstm_bidirectional():
    return _recurrent(nn.LSTM, lambda y: y, bidirectional=True, num_layers=2)


@model((1, 6, 4))
def gru_bidirectional():
    return _recurrent(nn.GRU, lambda y: y.amax(1), bidirectional=True)


@model((2, 4), (2, 6), (2, 6))
def lstm_cell():
    return Of(lambda m, x, h, c: m.cell(x, (h, c)), cell=nn.LSTMCell(4, 6))


def _unrolled(cell, step):
    def forward(m, x):
        x = torch.relu(m.conv(x))
        state = None
        for t in range(x.shape[-1]):
            state = m.cell(x[..., t], state)
        return m.head(step(state))

    return Of(forward, conv=nn.Conv1d(3, 4, 3), cell=cell, head=nn.Linear(5, 2))


@model((1, 3, 6))
def conv_gru_cell():
    return _unrolled(nn.GRUCell(4, 5), lambda state: state)


@model((1, 3, 6))
def conv_lstm_cell():
    return _unrolled(nn.LSTMCell(4, 5), lambda state: state[0])


def _picked(pick, conv, width):
    head = (nn.Linear(width, 5), nn.ReLU(), nn.Linear(5, 2))
    return Of(
        lambda m, x: m.head(pick(torch.relu(m.conv(x)))), conv=conv, head=nn.Sequential(*head)
    )


@model((1, 3, 8))
def last_position():
    return _picked(lambda y: y[..., -1], nn.Conv1d(3, 4, 3), 4)


@model((1, 3, 8))
def first_position():
    return _picked(lambda y: y[:, :, 0], nn.Conv1d(3, 4, 3), 4)


@model((1, 2, 6, 6))
def one_pixel():
    return _picked(lambda y: y[:, :, 1, 2], nn.Conv2d(2, 4, 3), 4)


@model((1, 2, 6, 6))
def one_column():
    return _picked(lambda y: y[..., -1].flatten(1), nn.Conv2d(2, 4, 3), 16)


@model((1, 3, 8))
def every_other():
    return _picked(lambda y: y[:, 1:, ::2].flatten(1), nn.Conv1d(3, 4, 3), 9)


@model((1, 5, 8))
def attention():
    return Of(
        lambda m, x: m.attention(x, x, x, need_weights=False)[0],
        attention=nn.MultiheadAttention(8, 2, batch_first=True),
    )


@model((1, 6, 8))
def transformer():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
    return Of(lambda m, x: m.head(m.layer(x).mean(1)), layer=layer, head=nn.Linear(8, 3))


@model((1, 4, 8), (1, 6, 8))
def decoder():
    return nn.TransformerDecoderLayer(8, 2, 12, batch_first=True, norm_first=True)


@model((1, 2, 5, 4), (1, 2, 5, 4), (1, 2, 5, 4))
def scaled_dot_product():
    return Of(lambda m, q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))


@model((1, 5), dtype=torch.int64)
def embedding():
    return Of(
        lambda m, i: m.head(m.table(i).sum(1)), table=nn.Embedding(10, 6), head=nn.Linear(6, 2)
    )


@model((2, 3, 4), (2, 4, 5))
def einsum():
    return Of(lambda m, a, b: torch.einsum("bij,bjk->bki", a, b))


@model((1, 4, 6))
def token_mixer():
    return Of(
        lambda m, x: m.b(F.gelu(m.a(x.transpose(1, 2)))).transpose(1, 2) + x,
        a=nn.Linear(4, 7),
        b=nn.Linear(7, 4),
    )


@model((1, 3, 8, 8))
def patches():
    return Of(
        lambda m, x: m.norm(m.embed(x).flatten(2).transpose(1, 2) + m.place),
        embed=nn.Conv2d(3, 6, 4, 4),
        norm=nn.LayerNorm(6),
        place=nn.Parameter(torch.ones(1, 4, 6) * 0.3),
    )


@model((3, 5))
def statistics():
    def forward(m, x):
        spread = x.std(1, keepdim=True)
        return (x - x.mean(1, keepdim=True)) / (spread + 1), x.norm(dim=1), x.logsumexp(1)

    return Of(forward)


@model((2, 6))
def choices():
    def forward(m, x):
        top, places = x.topk(2)
        return torch.where(x > 0, x, x.exp() - 1).clamp(-0.5, 1), top, places, x.argmax(1)

    return Of(forward)


@model((1, 12))
def moves():
    def forward(m, x):
        a, b, c = x.view(3, 4).chunk(3)
        y = torch.stack([a, b.flip(-1), c.roll(1, -1)]).permute(2, 0, 1).repeat(1, 2, 1)
        return y.reshape(4, -1), F.pad(y, (1, 2), value=-1.0), y[1:3, ::2]

    return Of(forward)


@model((1, 4, 9))
def glu():
    return nn.Sequential(nn.Conv1d(4, 8, 3), nn.GLU(1), nn.PReLU(4), nn.Conv1d(4, 2, 1))


@model((1, 2, 10))
def causal():
    return Of(lambda m, x: m.conv(F.pad(x, (4, 0))), conv=nn.Conv1d(2, 3, 3, dilation=2))


@model((2, 4), (2, 4))
def siamese():
    def forward(m, a, b):
        a, b = m.net(a), m.net(b)
        return F.cosine_similarity(a, b), torch.cdist(a, b), (a * b).sum(-1)

    return Of(forward, net=nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)))


def write(name, kind):
    make, shapes, dtype, seed = MODELS[name]
    torch.manual_seed(seed)
    module = make().eval()
    kinds = {torch.float32: torch.randn, torch.int64: lambda *s: torch.randint(0, 10, s)}
    inputs = tuple(kinds[dtype](*shape) for shape in shapes)
    path = FOLDER / f"{name}_{kind}.onnx"
    options = {"external_data": False} if kind == "dynamo" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, inputs, path, dynamo=kind == "dynamo", verbose=False, **options)
    strip(path)


def strip(path):
    """Remove the source locations that exporters note for people."""
    result = onnx.load(path)
    graphs = [result.graph, *result.functions]
    for part in [result, *graphs, *(v for g in graphs for v in (*g.node, *g.value_info))]:
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    onnx.save(result, path)


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, kind in itertools.product(sys.argv[1:] or MODELS, ("dynamo", "script")):
        try:
            write(name, kind)
        except Exception as e:
            print(f"{name} {kind}: {type(e).__name__}: {e}"[:200], file=sys.stderr)


if __name__ == "__main__":
    main()
