"""The options that commands share."""

from __future__ import annotations

import enum
import functools
from pathlib import Path
from typing import Annotated

import typer

from . import parsing
from .completing import pass_names, target_names, words
from .parsing import Given


class Runtime(str, enum.Enum):
    """Runtimes of a comparison."""

    auto = "auto"
    onnxruntime = "onnxruntime"
    reference = "reference"
    both = "both"


class Sharing(str, enum.Enum):
    """Ways to share the data files of the original."""

    reference = "reference"
    hard = "hard"


VERIFICATION = "Verification"

_verifying = functools.partial(typer.Option, rich_help_panel=VERIFICATION)
"""An option of how outputs are compared."""

_repeatable = functools.partial(typer.Option, callback=parsing.once)
"""An option that may be given again, for each name once."""


Source = Annotated[
    Path,
    typer.Argument(
        metavar="IN", parser=parsing.model_path, help="The model; '-' is standard input."
    ),
]
Target = Annotated[
    Path,
    typer.Argument(
        metavar="OUT",
        parser=parsing.model_path,
        help="Where the result is written; '-' is standard output.",
    ),
]
Before = Annotated[
    Path,
    typer.Argument(
        metavar="A", parser=parsing.model_path, help="The original; '-' is standard input."
    ),
]
After = Annotated[
    Path,
    typer.Argument(
        metavar="B", parser=parsing.model_path, help="Its rewrite; '-' is standard input."
    ),
]
Passes = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        autocompletion=pass_names,
        help="Passes instead of the default pipeline, such as 'unroll-loops{max_trips=64},"
        "inline-ifs'; see the"
        " command 'passes'.",
    ),
]
Load = Annotated[
    list[Path] | None,
    typer.Option(
        "--load",
        metavar="FILE.py",
        help="Run a Python file that defines passes, which --passes may name then. Repeatable.",
    ),
]
FitsTarget = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="NAME",
        parser=parsing.target_name,
        autocompletion=target_names,
        help="Make the model fit a compiler or runtime, its opsets and operators; see the command"
        " 'targets'. For onnxruntime also the form that runs fastest.",
    ),
]
TargetFile = Annotated[
    Path | None,
    typer.Option(
        "--target-file", metavar="FILE.toml", help="The same for a client that a file describes."
    ),
]
RequireTarget = Annotated[
    bool,
    typer.Option(
        "--require-target",
        help="Write nothing and exit with 4 if the target does not take all of the model.",
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
KeepNan = Annotated[
    bool | None,
    typer.Option(
        "--keep-nan",
        help="Leave cells that GRU, LSTM or RNN would compute: onnxruntime may make a number of a"
        " NaN there.",
    ),
]
MaxTrips = Annotated[
    int | None,
    typer.Option(metavar="N", parser=parsing.whole(), help="Leave loops with more trips."),
]
MaxNodes = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=parsing.whole(),
        help="How many nodes may be added in all; 20000 if not given.",
    ),
]
MaxWork = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=parsing.whole(),
        help="Steps, of about a nanosecond, to compute constants beforehand; 10000000000 if not"
        " given.",
    ),
]
MaxMemory = Annotated[
    int | None,
    typer.Option(
        metavar="SIZE",
        parser=parsing.size,
        help="Bytes of computed constants that may be held at a time; 256M if not given. A model"
        " that is run to be compared may take four times as much.",
    ),
]
Set = Annotated[
    list[Given] | None,
    _repeatable(
        "--set",
        metavar="NAME=VALUE",
        parser=parsing.assignment,
        help="Give an input a value; it leaves the signature. Repeatable. Values as in JSON:"
        " 16000, true, [1, 2]; or @file.npy.",
    ),
]
Shape = Annotated[
    list[Given] | None,
    _repeatable(
        "--shape",
        metavar="NAME=D,D",
        parser=parsing.shape,
        help="Fix the shape of an input; '?' leaves a dimension open. Repeatable.",
    ),
]
Dim = Annotated[
    list[Given] | None,
    _repeatable(
        "--dim",
        metavar="NAME=D",
        parser=parsing.dimension,
        help="Fix a named dimension wherever it stands. Repeatable.",
    ),
]
AssumeMax = Annotated[
    list[Given] | None,
    _repeatable(
        "--assume-max",
        metavar="LOOP=N",
        parser=parsing.maximum,
        help="The most trips of a Loop, by its path, that you vouch for. Repeatable.",
    ),
]
ThenOpset = Annotated[
    int | None,
    typer.Option(
        "--opset",
        metavar="N",
        parser=parsing.whole(1),
        help="Convert the result to this opset; both steps are verified.",
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
        help="Straighten control flow and sequences that the opset cannot hold; on if not given.",
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Overwrite also a file that is no model, and data that belongs to another one.",
    ),
]
LinkData = Annotated[
    Sharing | None,
    typer.Option(
        metavar="HOW",
        help="Do not copy external data: 'reference' leaves it where it is, in or below OUT's"
        " folder; 'hard' makes hard links beside OUT, which onnx.load refuses.",
    ),
]
MaxInputSize = Annotated[
    int | None,
    typer.Option(
        metavar="SIZE",
        parser=parsing.size,
        help="Refuse a model file with more bytes; 500M and 2G are understood. 2G if not given,"
        " the most that ONNX allows.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document, also of what goes wrong.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors and warnings only, no report.")
]
Verify = Annotated[
    bool,
    _verifying(
        "--verify/--no-verify", help="Prove or compare the outputs before writing; on if not given."
    ),
]
Prove = Annotated[
    bool | None,
    _verifying(
        "--prove/--no-prove",
        help="Take nothing but a proof for every input, or try none; by default the models are run"
        " where there is no proof.",
    ),
]
Certificate = Annotated[
    Path | None,
    _verifying(
        metavar="FILE",
        help="Take nothing but a proof, and keep it in FILE, which 'verify --certificate' checks.",
    ),
]
KeptCertificate = Annotated[
    Path | None,
    _verifying(
        "--certificate",
        metavar="FILE",
        help="Check a proof that was kept: that it is one for A and B, and holds.",
    ),
]
Inputs = Annotated[
    Path | None,
    _verifying(
        metavar="PATH",
        help="Inputs to compare on: an .npz file, a folder of them, or a test_data_set folder;"
        " drawn if not given.",
    ),
]
SampleShape = Annotated[
    list[Given] | None,
    _verifying(
        "--sample-shape",
        metavar="NAME=D,D",
        parser=parsing.shape,
        callback=parsing.once,
        help="The shape of an input that is drawn; '?' leaves a dimension open. Repeatable.",
    ),
]
RuntimeOption = Annotated[
    Runtime,
    _verifying(
        "--runtime",
        metavar="NAME",
        parser=parsing.choice(Runtime),
        autocompletion=words(Runtime),
        help="auto, onnxruntime, reference or both. auto, the default, is onnxruntime where it is"
        " installed and runs the model, else the reference.",
    ),
]
Rtol = Annotated[
    float | None,
    _verifying(
        metavar="X",
        parser=parsing.number(),
        help="Relative tolerance; tight, by element type, if not given.",
    ),
]
Atol = Annotated[
    float | None,
    _verifying(
        metavar="X",
        parser=parsing.number(),
        help="Absolute tolerance; tight, by element type, if not given.",
    ),
]
Samples = Annotated[
    int | None,
    _verifying(
        metavar="N",
        parser=parsing.whole(1),
        help="Run the models on so many inputs, even after a proof; 3 where there is none.",
    ),
]
Seed = Annotated[
    int,
    _verifying(
        metavar="N", parser=parsing.whole(), help="The same draws the same; 0 if not given."
    ),
]

Patience = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="Seconds for constants whose steps nobody can count; 5 if not given.",
    ),
]

Timeout = Annotated[
    float | None,
    _verifying(
        metavar="SECONDS",
        parser=parsing.number(above=True),
        help="Seconds for loading a model or running it once, 60 if not given; also for constants"
        " that nobody can count, 5 if not given.",
    ),
]
