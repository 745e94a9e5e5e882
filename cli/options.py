"""The options that commands share."""

from __future__ import annotations

import enum
import functools
from pathlib import Path
from typing import Annotated

import typer

from . import parsing
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

verifying = functools.partial(typer.Option, rich_help_panel=VERIFICATION)
"""An option of how outputs are compared."""

repeatable = functools.partial(typer.Option, callback=parsing.once)
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
Load = Annotated[
    list[Path] | None,
    typer.Option(
        "--load",
        metavar="FILE.py",
        help="Run a Python file that defines passes, which --passes may name then. Repeatable.",
    ),
]
RequireTarget = Annotated[
    bool,
    typer.Option(
        "--require-target",
        help="Write nothing and exit with 4 if the target does not take all of the model.",
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
    repeatable(
        "--set",
        metavar="NAME=VALUE",
        parser=parsing.assignment,
        help="Give an input a value; it leaves the signature. Repeatable. Values as in JSON:"
        " 16000, true, [1, 2]; or @file.npy.",
    ),
]
Dim = Annotated[
    list[Given] | None,
    repeatable(
        "--dim",
        metavar="NAME=D",
        parser=parsing.dimension,
        help="Fix a named dimension wherever it stands. Repeatable.",
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
Prove = Annotated[
    bool | None,
    verifying(
        "--prove/--no-prove",
        help="Take nothing but a proof for every input, or try none; by default the models are run"
        " where there is no proof.",
    ),
]
KeptCertificate = Annotated[
    Path | None,
    verifying(
        "--certificate",
        metavar="FILE",
        help="Check a proof that was kept: that it is one for A and B, and holds.",
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
