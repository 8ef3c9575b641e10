"""The options of quantization on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import UsageError
from .settings import IO, METHODS, MODES, Settings

_MOST_FILES = 2  # of --test


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of quantization to a parser."""
    group = parser.add_argument_group("quantization after training")
    add = group.add_argument
    add("--quantize", choices=MODES, help="make integers of a float model")
    add("--calibration", type=Path, metavar="DATA", help="inputs: .npz, .npy or folder of .npy")
    add(
        "--labels",
        metavar="FILE[:KEY]",
        help="classes of the calibration data: .npy, or an array of a .npz",
    )
    add(
        "--test",
        nargs="+",
        metavar="DATA",
        help="print the accuracy on these data, too: FILE.npz:x,y with samples and true classes "
        "or values, or two files (samples as for --calibration, then what is true)",
    )
    add("--method", choices=METHODS, help="how ranges are chosen (minmax)")
    add("--per-tensor", action="store_true", help="one scale for all output channels of weights")
    add("--exclude", action="append", default=[], metavar="NODE", help="stays in float")
    add("--io", choices=IO, help="dtype of the model's inputs and outputs (float)")
    add(
        "--min-accuracy-drop",
        metavar="1%",
        help="try better settings until no more than this is lost against float",
    )


def settings_from(args: argparse.Namespace) -> Settings | None:
    """Return the settings of parsed arguments, None without --quantize; raise UsageError."""
    if args.quantize is None:
        _check_no_others(args)
        return None
    return Settings(
        mode=args.quantize,
        samples=args.calibration or (),
        labels=args.labels,
        method=args.method or Settings.method,
        per_channel=not args.per_tensor,
        exclude=args.exclude,
        io=args.io or Settings.io,
        max_drop=_share(args.min_accuracy_drop),
        test=_test_data(args.test),
    )


def _check_no_others(args):
    names = (
        *("calibration", "labels", "test", "method", "per_tensor", "exclude", "io"),
        "min_accuracy_drop",
    )
    options_used = [name for name in names if getattr(args, name)]
    if options_used:
        options = ", ".join("--" + name.replace("_", "-") for name in options_used)
        raise UsageError(f"{options}: only with --quantize")


def _test_data(texts):
    if not texts:
        return None
    if len(texts) > _MOST_FILES:
        raise UsageError(
            f"--test {' '.join(texts)}: one FILE.npz:x,y or two files are needed; options follow "
            "after the model"
        )
    from ..truth import read_data

    try:
        return read_data(*texts)
    except UsageError as e:
        raise UsageError(f"--test: {e}") from None


def _share(text):
    """Return 0.01 for '1%' or '0.01'; None for None."""
    if text is None:
        return None
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise UsageError(f"--min-accuracy-drop {text}: a share such as 1% or 0.01 is needed")
    return share
