"""Parse arguments of `python -m tools.converter`, and run the command: convert by default."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tools import arguments, foreign, limits, project

from .commands import seal_arguments
from .errors import ConvertError, UsageError, text_of
from .options import FLOAT_MODES, WEIGHT_BITS, Options
from .quantize.arguments import add_arguments, settings_from
from .quantize.settings import MODES


def limited(argv: list[str] | None = None) -> int:
    """Run `main` in a process with limits of memory and time, for models from elsewhere."""
    _preload(sys.argv[1:] if argv is None else argv)
    return limits.run(lambda: main(argv), "converter")


def _preload(argv: list[str]) -> None:
    """Import the converter before `limits.run` forks: then it does not count for --memory.

    --help and wrong usage end here, before that takes its time.
    """
    first = argv[0] if argv else ""
    others = {"inspect": inspect_parser, "sign": sign_parser, "tensor": tensor_parser}
    parsers = others | {"quantize": quantize_parser, "report": report_parser}
    parsers.get(first, convert_parser)().parse_args(argv[first in parsers :])
    if first not in others:
        from . import check, convert  # noqa: F401


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the arguments, by default those of the process.

    Returns:
        The exit status: 0 done, 1 refused (with one report on stderr), 2 wrong usage.
    """
    argv = sys.argv[1:] if argv is None else argv
    commands = {
        "quantize": quantize_main,
        "inspect": inspect_main,
        "report": report_main,
        "sign": sign_main,
        "tensor": tensor_main,
    }
    try:
        if argv and argv[0] in commands:
            return commands[argv[0]](argv[1:])
        return convert_main(argv)
    except UsageError as e:
        print(f"converter: {e}", file=sys.stderr)
        return 2
    except (ConvertError, OSError) as e:
        print(f"converter: {text_of(e)}", file=sys.stderr)
        return 1


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a conversion to a parser (shared with tools.run)."""
    add = parser.add_argument
    add("--shape", action="append", default=[], metavar="NAME=1,3,32,32", help="an input's shape")
    add("--dim", action="append", default=[], metavar="batch=1", help="a symbolic dimension")
    add(
        "--bind",
        action="append",
        default=[],
        metavar="NAME=FILE.npy",
        help="make an input a constant",
    )
    add("--bound", action="append", default=[], metavar="NAME=N", help="most elements of a value")
    add(
        "--state",
        action="append",
        default=[],
        metavar="OUTPUT=INPUT",
        help="pass an output to an input of the next run",
    )
    add("--keep-inputs", action="store_true", help="runs do not overwrite the inputs")
    add("--ops", type=Path, metavar="FOLDER", help="operators of your own")
    add(
        "--allow-domain",
        action="append",
        default=[],
        metavar="com.acme",
        help="a domain whose operators --ops may serve",
    )
    add("--float", choices=FLOAT_MODES, default="exact", help="products of floats")
    add(
        "--float64",
        choices=("float32", "keep"),
        default="float32",
        help="convert float64, which most boards cannot compute, or keep it",
    )
    add("--optimize", type=int, choices=(0, 1, 2), default=2, help="level of the rewrites")
    add(
        "--image",
        action="append",
        default=[],
        metavar="NAME=rgb,chw,...",
        help="an input that takes pictures",
    )
    add(
        "--arena",
        type=limits.nbytes,
        metavar="BYTES",
        help="most memory for the tensors, such as 6K",
    )
    add(
        "--weights",
        choices=tuple(WEIGHT_BITS),
        default="f32",
        help="format of the weights of products",
    )
    add(
        "--window",
        type=limits.nbytes,
        metavar="BYTES",
        help="most memory for streamed weights",
    )
    add("--check", action="store_true", help="verify the model after every pass")
    add("--no-check", action="store_true", help="run neither model nor file to check them")
    add("--strip", action="store_true", help="omit names, source data and the test vector")
    add_arguments(parser)


def options_from(args: argparse.Namespace) -> Options:
    """Return the options of a conversion from parsed arguments.

    Raises:
        UsageError: if an argument has no such form.
    """
    from .file.interface import image_from
    from .load.arrayfile import read_array

    return Options(
        shapes={n: _ints(n, v) for n, v in _pairs("--shape", args.shape) if "/" not in v},
        sequences={n: _shapes(n, v) for n, v in _pairs("--shape", args.shape) if "/" in v},
        dims={n: _size("--dim", n, v) for n, v in _pairs("--dim", args.dim)},
        bind={n: read_array(v) for n, v in _pairs("--bind", args.bind)},
        bounds={n: _size("--bound", n, v) for n, v in _pairs("--bound", args.bound)},
        state=_states(args.state),
        window=args.window,
        arena=args.arena,
        weights=args.weights,
        keep_inputs=args.keep_inputs,
        strip=args.strip,
        optimize=args.optimize,
        check=not args.no_check,
        verify=args.check,
        float=args.float,
        float64=args.float64,
        ops=args.ops,
        allow_domains=args.allow_domain,
        images={n: image_from(spec) for n, spec in _images(args.image)},
        quantize=settings_from(args),
    )


def _pairs(option, texts):
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            raise UsageError(f"{option} {text}: NAME=VALUE is needed")
        yield name, value


def _images(texts):
    """Yield (input, specification): the name ends at the first equals sign."""
    for text in texts:
        name, _, spec = text.partition("=")
        yield name, spec


def _ints(name, text):
    try:
        return [int(part) for part in text.split(",") if part]
    except ValueError:
        raise UsageError(f"{name}={text}: numbers with commas are needed") from None


def _size(option, name, text):
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{option} {name}={text}: one number is needed") from None


def _shapes(name, text):
    """Return the shapes of a sequence's elements; a slash follows each, but for the last one."""
    parts = text.split("/")
    return [_ints(name, part) for part in (parts if parts[-1] else parts[:-1]) if text != "/"]


def _states(texts):
    """Return outputs by input."""
    states = {}
    for output, name in _pairs("--state", texts):
        if name in states:
            raise UsageError(f"--state: {name} is given twice")
        states[name] = output
    return states


def convert_parser(command: str = "converter") -> argparse.ArgumentParser:
    """Return the parser of `convert`."""
    parser = arguments.parser_for(
        command,
        description="Convert a model for the device.",
        example="mpconnxr convert model.onnx --quantize int8 --calibration samples.npz",
        page="convert",
    )
    parser.add_argument("model", type=Path, help=".onnx")
    _add_output(parser, ".bin to write")
    add_options(parser)
    parser.add_argument(
        "--labels-file", type=Path, metavar="NAMES.txt", help="names of the classes, one a line"
    )
    parser.add_argument(
        "--golden",
        nargs="+",
        metavar="X.npy",
        help="inputs of the test vector, by which a board verifies itself",
    )
    parser.add_argument(
        "--expect", nargs="+", metavar="Y.npy", help="what the trained model computed of these"
    )
    parser.add_argument(
        "--save-optimized", type=Path, metavar="X.onnx", help="write the rewritten model"
    )
    parser.add_argument("--passes", action=_PrintPasses, help="list the passes, and exit")
    parser.add_argument(
        "--save-after",
        nargs=2,
        metavar=("PASS", "X.onnx"),
        help="write the model as it is after a pass of --passes, and stop; rewrites that run in "
        "rounds stop in the first one",
    )
    seal_arguments.add(parser)
    parser.add_argument(
        "--sbom", type=Path, metavar="X.json", help="write a bill of materials (CycloneDX)"
    )
    parser.add_argument(
        "--board",
        metavar="NAME",
        help="also print whether the model fits this board of `mpconnxr boards` (default: board "
        "of [tool.mpconnxr] in ./pyproject.toml)",
    )
    _add_json(parser)
    parser.add_argument("--summary", action="store_true", help="tables of the steps and boards")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the steps")
    limits.add_limit_options(parser)
    return parser


class _PrintPasses(argparse.Action):
    """Print the passes of a conversion, and exit: no model is needed."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, nargs=0, **kwargs)

    def __call__(self, parser, namespace, values, option_string=None):
        from . import pipeline

        print(pipeline.listing())
        parser.exit()


def convert_main(argv: list[str]) -> int:
    """Convert a model. Exit status: 0 done."""
    return _convert(convert_parser().parse_args(argv))


def quantize_parser() -> argparse.ArgumentParser:
    """Return the parser of `quantize`."""
    parser = convert_parser("converter quantize")
    parser.description = "Convert a float model into one of integers."
    parser.example = "mpconnxr quantize model.onnx --calibration samples.npz"
    parser.page = "quantization"
    parser.set_defaults(quantize=MODES[0])
    return parser


def quantize_main(argv: list[str]) -> int:
    """Convert a model with --quantize int8. Exit status: 0 done."""
    return _convert(quantize_parser().parse_args(argv))


def _convert(args):
    import onnx

    from .check import check
    from .commands.next_step import NextStep
    from .convert import convert, saved
    from .file import sbom

    limits.apply(args)
    foreign.check_onnx(args.model)
    if args.save_after:
        return _save_after(args)
    args.output = _output(args, ".bin")
    _check_outputs(args, [args.output, args.save_optimized, args.sbom])
    options = _all_options_from(args)
    step = NextStep(args.model, args.output, options, project.board_of(args.board))
    if args.sbom:
        sbom.check()
    options.vector = options.check
    converted = convert(args.model, options)
    outcome = check(converted, options)
    if args.sbom:
        sources = _files_of_options(args)
        bill = sbom.bill(args.model, args.output.name, converted.data, options, sources)
        args.sbom.write_text(bill + "\n", encoding="utf-8")
    args.output.write_bytes(converted.data)
    if args.save_optimized:
        onnx.save(saved(converted.model), args.save_optimized)
    if args.json:
        from .report import python_floats

        about = converted.report() | python_floats.of(converted).report()
        expect = {"expect": converted.expected.report()} if converted.expected else {}
        print(json.dumps(about | expect | {"check": outcome.report()} | step.report(converted)))
    else:
        from .commands.summary import print_summary

        print_summary(converted, args.verbose)
        if args.summary:
            from .report.terminal import print_boards, print_steps

            print_steps(converted)
            print_boards(converted)
        if converted.expected:
            _print_expected(converted.expected)
        print(outcome)
        step.print(converted)
    return 0


def _all_options_from(args):
    """Return the options of `convert`, which reads more files than other commands."""
    from .load.arrayfile import read_array
    from .load.namesfile import names_in

    options = options_from(args)
    options.golden = [read_array(path) for path in args.golden] if args.golden else None
    options.expect = [read_array(path) for path in args.expect] if args.expect else None
    options.class_names = names_in(args.labels_file) if args.labels_file else ()
    options.seal = seal_arguments.request_from(args)
    return options


def _save_after(args):
    """Write the model as it is after one pass, and no .bin."""
    import onnx

    from .convert import model_after

    name, path = args.save_after[0], Path(args.save_after[1])
    others = {
        "a .bin": args.output or args.output_option,
        "--save-optimized": args.save_optimized,
        "--sbom": args.sbom,
    }
    if refused := [option for option, value in others.items() if value]:
        raise UsageError(f"--save-after writes nothing else: leave out {', '.join(refused)}")
    _check_outputs(args, [path])
    onnx.save(model_after(args.model, name, _all_options_from(args)), path)
    if args.json:
        _print_written(path)
    else:
        print(f"saved    {path}")
    return 0


def _print_expected(expected):
    if expected.warning:
        print(f"warning: {expected.warning}")
    print(f"expected: {expected.text}")


def _files_of_options(args):
    """Return the files and folders, besides the model, that a conversion's options name."""
    from .truth import files_of

    files = [Path(text.rpartition("=")[2]) for text in args.bind]
    for name in ("golden", "expect"):
        files += map(Path, getattr(args, name, None) or [])
    if args.labels:
        name, _, key = args.labels.partition(".npz:")
        files.append(Path(name + ".npz" if key else name))
    files += files_of(args.test or [])
    return files + [path for path in (args.calibration, args.ops) if path]


def _add_output(parser, about, default=""):
    """Add the file to write, as a second argument or as -o FILE."""
    about += f" (default: {default or 'named as the model, beside it'})"
    parser.add_argument("output", type=Path, nargs="?", help=about)
    parser.add_argument("-o", "--output", dest="output_option", type=Path, help="the same")


def _output(args, suffix):
    """Return the file to write, and refuse two of them."""
    if args.output and args.output_option:
        raise UsageError(f"two outputs are given: {args.output} and {args.output_option}")
    if args.model.is_dir():
        raise ConvertError(f"{args.model} is a directory: name a file")
    return args.output or args.output_option or args.model.with_suffix(suffix)


def report_parser() -> argparse.ArgumentParser:
    """Return the parser of `report`."""
    parser = arguments.parser_for(
        "converter report",
        description="Draw a model's arena, steps and boards as HTML.",
        example="mpconnxr report model.onnx",
        page="memory",
    )
    parser.add_argument("model", type=Path, help=".onnx")
    _add_output(parser, ".html to write")
    add_options(parser)
    _add_json(parser)
    limits.add_limit_options(parser)
    return parser


def _add_json(parser):
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def report_main(argv: list[str]) -> int:
    """Write the page. Exit status: 0 done."""
    args = report_parser().parse_args(argv)
    from .convert import convert
    from .report import page, python_floats

    limits.apply(args)
    foreign.check_onnx(args.model)
    output = _output(args, ".html")
    _check_outputs(args, [output])
    converted = convert(args.model, options_from(args))
    output.write_text(page(converted, "/".join(args.model.parts[-2:])), encoding="utf-8")
    if args.json:
        about = converted.report() | python_floats.of(converted).report()
        print(json.dumps(about | {"file": str(output)}))
    else:
        print(f"report   {output}")
    return 0


def inspect_parser() -> argparse.ArgumentParser:
    """Return the parser of `inspect`."""
    parser = arguments.parser_for(
        "converter inspect",
        description="Print what a file holds.",
        example="mpconnxr inspect model.bin --kernels",
        page="convert",
    )
    parser.add_argument("file", type=Path, help=".bin")
    parser.add_argument("--kernels", action="store_true", help="kernels, and forms of their loops")
    parser.add_argument("--ops", type=Path, metavar="FOLDER", help="operators of your own")
    parser.add_argument(
        "--verify", type=Path, metavar="PUB.pem", help="check that this key signed the file"
    )
    _add_json(parser)
    return parser


def inspect_main(argv: list[str]) -> int:
    """Print what a file holds. Exit status: 0 done."""
    args = (parser := inspect_parser()).parse_args(argv)
    if args.json and (args.kernels or args.verify):
        parser.error("--json goes without --kernels and --verify")
    from .commands.inspect import about_file, print_file
    from .commands.kernels import print_kernels

    limits.apply()
    foreign.check_bin(args.file)
    if args.kernels:
        print_kernels(args.file, args.ops)
    elif args.verify:
        seal_arguments.print_verified(args.file, args.verify)
    elif args.json:
        print(json.dumps(about_file(args.file)))
    else:
        print_file(args.file)
    return 0


def sign_parser() -> argparse.ArgumentParser:
    """Return the parser of `sign`."""
    parser = arguments.parser_for(
        "converter sign",
        description="Sign a file.",
        example="mpconnxr sign model.bin --sign key.pem --counter 2",
        page="security",
    )
    parser.add_argument("model", type=Path, metavar="file", help=".bin")
    _add_output(parser, ".bin to write", "the same file")
    seal_arguments.add(parser)
    _add_json(parser)
    return parser


def sign_main(argv: list[str]) -> int:
    """Sign a file. Exit status: 0 done."""
    args = sign_parser().parse_args(argv)
    limits.apply()
    args.file, args.output = args.model, _output(args, args.model.suffix)
    foreign.check_bin(args.file)
    data = seal_arguments.write_sealed(args)
    if args.json:
        _print_written(args.output)
    else:
        seal_arguments.print_sealed(data)
    return 0


def tensor_parser() -> argparse.ArgumentParser:
    """Return the parser of `tensor`."""
    parser = arguments.parser_for(
        "converter tensor",
        description="Convert a tensor's file for the device.",
        example="mpconnxr tensor input_0.npy input_0.bin",
        page="api",
    )
    parser.add_argument("model", type=Path, metavar="input", help=".pb (TensorProto) or .npy")
    _add_output(parser, ".bin to write")
    _add_json(parser)
    return parser


def tensor_main(argv: list[str]) -> int:
    """Convert a tensor's file. Exit status: 0 done."""
    args = tensor_parser().parse_args(argv)
    from .file.tensorfile import convert_tensor

    limits.apply()
    output = _output(args, ".bin")
    _check_folders([output])
    _refuse(limits.overwritten([output], [args.model]))
    convert_tensor(args.model, output)
    if args.json:
        _print_written(output)
    return 0


def _print_written(path):
    print(json.dumps({"file": str(path), "bytes": path.stat().st_size}))


def _check_outputs(args, outputs):
    """Refuse to write over a file that the conversion reads, and into folders that are missing."""
    _check_folders(outputs)
    _refuse(limits.overwritten(filter(None, outputs), files_read(args.model, args)))


def _check_folders(outputs):
    for path in filter(None, outputs):
        if not path.parent.is_dir():
            raise ConvertError(f"{path}: folder {path.parent} is missing: create it first")


def files_read(model: Path, args: argparse.Namespace) -> list[Path]:
    """Return the files and folders that a conversion of a model with these arguments reads."""
    from .load import external

    names = ("sign", "hmac", "labels_file")
    keys = [path for path in (getattr(args, name, None) for name in names) if path]
    return [model, *external.files_of(model), *_files_of_options(args), *keys]


def _refuse(reason):
    if reason:
        raise UsageError(reason)


if __name__ == "__main__":
    sys.exit(limited())
