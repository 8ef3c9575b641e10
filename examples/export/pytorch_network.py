"""PyTorch: a small CNN for handwritten digits, by torch.onnx.export.

pip install torch onnxscript; python -m examples.export.pytorch_network [FOLDER]
"""

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from examples.export import saving


def main(argv=None, dynamo=True):
    """Train and export the network.

    Args:
        argv: arguments; None: those of the process.
        dynamo: use the exporter since torch 2.5.
    """
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
    x, x_test, y, y_test = train_test_split(x, torch.tensor(y), random_state=0)
    layers = nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
    model = nn.Sequential(*layers, nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.eval()  # Dropout and BatchNorm in inference mode
    print(f"accuracy {(model(x_test).argmax(1) == y_test).float().mean():.1%}")
    folder = saving.folder_of(argv)
    path, names = folder / "pytorch_network.onnx", {"input_names": ["x"], "output_names": ["y"]}
    torch.onnx.export(model, (x[:1],), path, dynamo=dynamo, **names)
    outputs = [model(x_test[:1]).detach().numpy()]
    saving.save_samples(folder, "pytorch_network", x_test[:8].numpy(), outputs)


if __name__ == "__main__":
    main()
