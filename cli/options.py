"""The options that commands share, and how their text is read."""

from __future__ import annotations

import enum
import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer


class Runtime(str, enum.Enum):
    """What runs the models."""

    auto = "auto"
    onnxruntime = "onnxruntime"
    reference = "reference"
    both = "both"


class Accelerated(str, enum.Enum):
    """What a model can be made fast for."""

    onnxruntime = "onnxruntime"


VERIFICATION = "Verification"

Source = Annotated[Path, typer.Argument(metavar="IN", help="The model.")]
Target = Annotated[Path, typer.Argument(metavar="OUT", help="Where the result is written.")]
Passes = Annotated[
    str | None,
    typer.Option(
        help="Passes instead of the default pipeline, such as 'unroll-loops{max_trips=64},"
        "inline-ifs'; see the command 'passes'."
    ),
]
AcceleratedFor = Annotated[
    Accelerated | None,
    typer.Option(
        "--target",
        help="Make the model fast for a runtime, rather than straight: the same as"
        " '--passes accelerate'.",
    ),
]
Selected = Annotated[
    bool,
    typer.Option(
        "--selects",
        help="Also run both branches of what only run time decides, and select: the same as"
        " '--passes selects'.",
    ),
]
MaxTrips = Annotated[int | None, typer.Option(min=0, help="Leave loops with more trips.")]
MaxNodes = Annotated[int | None, typer.Option(min=0, help="How many nodes may be added in all.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Give an input a value; it leaves the signature. Repeatable. Values as in JSON:"
        " 16000, true, [1, 2].",
    ),
]
Shape = Annotated[
    list[str] | None,
    typer.Option(
        "--shape",
        metavar="NAME=D,D",
        help="Fix the shape of an input; '?' leaves a dimension open. Repeatable.",
    ),
]
AssumeMax = Annotated[
    list[str] | None,
    typer.Option(
        "--assume-max",
        metavar="LOOP=N",
        help="The most trips of a Loop, by its path, that you vouch for. Repeatable.",
    ),
]
Freeze = Annotated[
    bool,
    typer.Option("--freeze-initializers", help="Take inputs that have a default as constants."),
]
Rewrite = Annotated[
    bool,
    typer.Option(
        "--rewrite/--no-rewrite",
        help="Straighten control flow and sequences that the opset cannot hold.",
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Overwrite also a file that is no model, and data that belongs to another one.",
    ),
]
MaxInputSize = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Refuse a model file with more bytes; 500M and 2G are understood. 2G if not given,"
        " the most that ONNX allows.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify/--no-verify",
        help="Prove or compare the outputs before writing.",
        rich_help_panel=VERIFICATION,
    ),
]
Prove = Annotated[
    bool | None,
    typer.Option(
        "--prove/--no-prove",
        help="Take nothing but a proof for every input, or try none; by default the models are run"
        " where there is no proof.",
        rich_help_panel=VERIFICATION,
    ),
]
Certificate = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Take nothing but a proof, and keep it in FILE, which 'verify --certificate' checks.",
        rich_help_panel=VERIFICATION,
    ),
]
KeptCertificate = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="FILE",
        help="Check a proof that was kept: that it is one for A and B, and holds.",
        rich_help_panel=VERIFICATION,
    ),
]
Inputs = Annotated[
    Path | None,
    typer.Option(
        help="Inputs to compare on: an .npz file, a folder of them, or a test_data_set folder;"
        " drawn if not given.",
        rich_help_panel=VERIFICATION,
    ),
]
SampleShape = Annotated[
    list[str] | None,
    typer.Option(
        "--sample-shape",
        metavar="NAME=D,D",
        help="The shape of an input that is drawn; '?' leaves a dimension open. Repeatable.",
        rich_help_panel=VERIFICATION,
    ),
]
RuntimeOption = Annotated[
    Runtime,
    typer.Option(
        "--runtime",
        help="auto: onnxruntime where it is installed and runs the model, else the reference.",
        rich_help_panel=VERIFICATION,
    ),
]
Rtol = Annotated[
    float | None,
    typer.Option(help="Relative tolerance; tight, by element type.", rich_help_panel=VERIFICATION),
]
Atol = Annotated[
    float | None,
    typer.Option(help="Absolute tolerance; tight, by element type.", rich_help_panel=VERIFICATION),
]
Samples = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Run the models on so many inputs, even after a proof; 3 where there is none.",
        rich_help_panel=VERIFICATION,
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, help="The same draws the same.", rich_help_panel=VERIFICATION)
]

Timeout = Annotated[
    float | None,
    typer.Option(
        help="Seconds for loading a model or running it once; 60 if not given.",
        rich_help_panel=VERIFICATION,
    ),
]


def pipeline_text(
    passes: str | None, target: Accelerated | None, selects: bool = False
) -> str | None:
    """The pipeline that --passes, --target or --selects asks for; None for the default one.

    Raises:
        BadParameter: more than one is given.
    """
    if passes is not None and target is not None:
        raise typer.BadParameter("--target stands for '--passes accelerate'; give one of the two")
    if selects and (passes is not None or target is not None):
        raise typer.BadParameter("--selects stands for '--passes selects'; give it alone")
    if selects:
        return "selects"
    return passes if target is None else "accelerate"


def values_of(assignments: list[str] | None) -> dict[str, Any]:
    """What --set gives: JSON, or text where it is none.

    Raises:
        BadParameter: it is not written as name=value.
    """
    values = {}
    for name, text in _pairs(assignments, "--set", "name=value"):
        try:
            values[name] = json.loads(text)
        except json.JSONDecodeError:
            values[name] = text
        except (ValueError, RecursionError) as error:  # too many digits, too many brackets
            raise typer.BadParameter(f"--set {name}: the value cannot be read: {error}") from error
    return values


def shapes_of(dimensions: list[str] | None, option: str = "--shape") -> dict[str, list[int | None]]:
    """What --shape or --sample-shape gives; None for a dimension that stays open.

    Raises:
        BadParameter: it is not written as name=1,512.
    """
    shapes: dict[str, list[int | None]] = {}
    for name, text in _pairs(dimensions, option, "name=1,512"):
        try:
            dims = [part.strip() for part in text.split(",")] if text.strip() else []
            shapes[name] = [None if dim == "?" else int(dim) for dim in dims]
        except ValueError as error:
            raise typer.BadParameter(f"{option} {name}={text}: write numbers and '?'") from error
    return shapes


def maxima_of(assumed: list[str] | None) -> dict[str, int]:
    """What --assume-max gives.

    Raises:
        BadParameter: it is not written as loop=64.
    """
    maxima = {}
    for name, text in _pairs(assumed, "--assume-max", "loop=64"):
        if not re.fullmatch(r"\d{1,18}", text.strip(), re.ASCII):
            raise typer.BadParameter(f"--assume-max {name}={text}: write a number of trips")
        maxima[name] = int(text)
    return maxima


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def bytes_of(size: str | None) -> int | None:
    """What --max-input-size gives.

    Raises:
        BadParameter: it is not written as a number with K, M or G.
    """
    if size is None:
        return None
    written = re.fullmatch(r"(\d{1,18})([KMG]?)B?", size.strip().upper(), re.ASCII)
    if written is None:
        raise typer.BadParameter(f"--max-input-size {size}: write bytes, or 500M, or 2G")
    return int(written[1]) * _UNITS[written[2]]


def _pairs(texts: list[str] | None, option: str, form: str) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{option} {text}: write it as {option} {form}")
        if name in found:
            raise typer.BadParameter(f"{option}: '{name}' is given twice")
        found[name] = value
    return list(found.items())
