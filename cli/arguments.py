"""Groups of arguments, each with the options of the library that it stands for."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options as given
from . import parsing
from .completing import pass_names, target_names, words
from .pages import Page
from .parsing import Given, contents
from .printing import PrintAfter, PrintBefore, Verbose

if TYPE_CHECKING:
    from ..driver.options import RewriteOptions
    from ..verification.runs.options import VerifyOptions


@dataclasses.dataclass(frozen=True)
class PipelineArguments:
    """Arguments about the passes."""

    passes: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            autocompletion=pass_names,
            help="Passes instead of the default pipeline, such as 'unroll-loops{max_trips=64},"
            "inline-ifs'; see the"
            " command 'passes'.",
        ),
    ] = None
    selects: Annotated[
        bool,
        typer.Option(
            "--selects",
            help="Also run both branches of what only run time decides, and select: the same as"
            " '--passes selects'.",
        ),
    ] = False
    keep_nan: Annotated[
        bool | None,
        typer.Option(
            "--keep-nan",
            help="Leave cells that GRU, LSTM or RNN would compute: onnxruntime may make a number of"
            " a NaN there.",
        ),
    ] = None
    max_trips: Annotated[
        int | None,
        typer.Option(metavar="N", parser=parsing.whole(), help="Leave loops with more trips."),
    ] = None
    max_nodes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=parsing.whole(),
            help="How many nodes may be added in all; 20000 if not given.",
        ),
    ] = None
    assumed: Annotated[
        list[Given] | None,
        given.repeatable(
            "--assume-max",
            metavar="LOOP=N",
            parser=parsing.maximum,
            help="The most trips of a Loop, by its path, that you vouch for. Repeatable.",
        ),
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of a rewrite.

        Raises:
            BadParameter: both --selects and --passes are given.
        """
        if self.selects and self.passes is not None:
            raise typer.BadParameter("--selects stands for '--passes selects'; give it alone")
        names = ("keep_nan", "max_trips", "max_nodes")
        numbers = {name: value for name in names if (value := getattr(self, name)) is not None}
        passes = "selects" if self.selects else self.passes
        return {"passes": passes, "assume_max": contents(self.assumed), **numbers}


@dataclasses.dataclass(frozen=True)
class ModelArguments:
    """Arguments about the model, and what to make of it."""

    load: given.Load = None
    fits: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="NAME",
            parser=parsing.target_name,
            autocompletion=target_names,
            help="Make the model fit a compiler or runtime, its opsets and operators; see the"
            " command 'targets'. For onnxruntime also the form that runs fastest.",
        ),
    ] = None
    fits_file: Annotated[
        Path | None,
        typer.Option(
            "--target-file",
            metavar="FILE.toml",
            help="The same for a client that a file describes.",
        ),
    ] = None
    max_work: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=parsing.whole(),
            help="Steps, of about a nanosecond, to compute constants beforehand; 10000000000 if not"
            " given.",
        ),
    ] = None
    max_memory: given.MaxMemory = None
    assignments: given.Set = None
    dimensions: Annotated[
        list[Given] | None,
        given.repeatable(
            "--shape",
            metavar="NAME=D,D",
            parser=parsing.shape,
            help="Fix the shape of an input; '?' leaves a dimension open. Repeatable.",
        ),
    ] = None
    sizes: given.Dim = None
    freeze_initializers: Annotated[
        bool,
        typer.Option("--freeze-initializers", help="Take inputs that have a default as constants."),
    ] = False
    max_input_size: given.MaxInputSize = None

    def target(self) -> str | Path | None:
        """Return the target that --target or --target-file names.

        Raises:
            BadParameter: both are given.
        """
        if self.fits is not None and self.fits_file is not None:
            raise typer.BadParameter(
                "--target and --target-file name two targets; give one of them"
            )
        return self.fits if self.fits_file is None else self.fits_file

    def options(self, **keywords: Any) -> RewriteOptions:
        """Return the options of a rewrite; the files of inputs are read.

        Raises:
            FeedError: a file cannot be read.
        """
        from ..driver.options import RewriteOptions

        return RewriteOptions.of(
            target=self.target(),
            values=contents(self.assignments),
            shapes=contents(self.dimensions),
            dims=contents(self.sizes),
            freeze_initializers=self.freeze_initializers,
            max_work=self.max_work,
            max_memory=self.max_memory,
            **keywords,
        )


@dataclasses.dataclass(frozen=True)
class ComparisonArguments:
    """Arguments about how models are run and compared."""

    inputs: Annotated[
        Path | None,
        given.verifying(
            metavar="PATH",
            help="Inputs to compare on: an .npz file, a folder of them, or a test_data_set folder;"
            " drawn if not given.",
        ),
    ] = None
    sample_shape: Annotated[
        list[Given] | None,
        given.verifying(
            "--sample-shape",
            metavar="NAME=D,D",
            parser=parsing.shape,
            callback=parsing.once,
            help="The shape of an input that is drawn; '?' leaves a dimension open. Repeatable.",
        ),
    ] = None
    runtime: Annotated[
        given.Runtime,
        given.verifying(
            "--runtime",
            metavar="NAME",
            parser=parsing.choice(given.Runtime),
            autocompletion=words(given.Runtime),
            help="auto, onnxruntime, reference or both. auto, the default, is onnxruntime where it"
            " is installed and runs the model, else the reference.",
        ),
    ] = given.Runtime.auto
    rtol: Annotated[
        float | None,
        given.verifying(
            metavar="X",
            parser=parsing.number(),
            help="Relative tolerance; tight, by element type, if not given.",
        ),
    ] = None
    atol: Annotated[
        float | None,
        given.verifying(
            metavar="X",
            parser=parsing.number(),
            help="Absolute tolerance; tight, by element type, if not given.",
        ),
    ] = None
    samples: Annotated[
        int | None,
        given.verifying(
            metavar="N",
            parser=parsing.whole(1),
            help="Run the models on so many inputs, even after a proof; 3 where there is none.",
        ),
    ] = None
    seed: Annotated[
        int,
        given.verifying(
            metavar="N", parser=parsing.whole(), help="The same draws the same; 0 if not given."
        ),
    ] = 0
    timeout: Annotated[
        float | None,
        given.verifying(
            metavar="SECONDS",
            parser=parsing.number(above=True),
            help="Seconds for loading a model or running it once, 60 if not given; also for"
            " constants that nobody can count, 5 if not given.",
        ),
    ] = None

    def options(self, prove: bool | None, **more: Any) -> VerifyOptions:
        """Return the options of a verification.

        Raises:
            VerifyError: the runtime is not installed.
        """
        from ..verification.runs.options import VerifyOptions

        names = ("rtol", "atol", "samples", "seed", "timeout")
        more |= {name: getattr(self, name) for name in names}
        shapes = contents(self.sample_shape) or None
        return VerifyOptions(prove, self.inputs, self.runtime.value, sample_shapes=shapes, **more)


@dataclasses.dataclass(frozen=True)
class ProofArguments:
    """Arguments about whether a result is proved before it is written."""

    verify: Annotated[
        bool,
        given.verifying(
            "--verify/--no-verify",
            help="Prove or compare the outputs before writing; on if not given.",
        ),
    ] = True
    prove: given.Prove = None
    certificate: Annotated[
        Path | None,
        given.verifying(
            metavar="FILE",
            help="Take nothing but a proof, and keep it in FILE, which 'verify --certificate'"
            " checks.",
        ),
    ] = None

    def demanded(self) -> bool | None:
        """Return the option `prove` of the verification: a certificate demands a proof.

        Raises:
            BadParameter: a proof is asked for, and none is to be tried.
        """
        if not self.verify and (self.prove or self.certificate is not None):
            raise typer.BadParameter("a proof is asked for; leave out --no-verify")
        return demanded(self.prove, self.certificate)


def demanded(prove: bool | None, certificate: Path | None) -> bool | None:
    """Return whether a proof is demanded, as a certificate does.

    Raises:
        BadParameter: a certificate is asked for, and no proof is to be tried.
    """
    if certificate is not None and prove is False:
        raise typer.BadParameter("--certificate is about a proof; leave out --no-prove")
    return True if certificate is not None else prove


@dataclasses.dataclass(frozen=True)
class OutputArguments:
    """Arguments about what is written and shown."""

    force: given.Force = False
    link_data: Annotated[
        given.Sharing | None,
        typer.Option(
            metavar="HOW",
            help="Do not copy external data: 'reference' leaves it where it is, in or below OUT's"
            " folder; 'hard' makes hard links beside OUT, which onnx.load refuses.",
        ),
    ] = None
    as_json: given.Json = False
    quiet: given.Quiet = False
    page: Page = None
    print_after: PrintAfter = None
    print_before: PrintBefore = None
    verbose: Verbose = 0

    @property
    def silent(self) -> bool:
        """Test whether no progress is shown."""
        return self.as_json or self.quiet or self.verbose > 0


def _leaves(parameters: Mapping[str, inspect.Parameter]) -> Iterator[inspect.Parameter]:
    """Yield parameters, with the fields of groups in the place of the groups."""
    for parameter in parameters.values():
        if dataclasses.is_dataclass(parameter.annotation):
            hints = typing.get_type_hints(parameter.annotation, include_extras=True)
            for field in dataclasses.fields(parameter.annotation):
                default, kind = field.default, inspect.Parameter.KEYWORD_ONLY
                yield inspect.Parameter(
                    field.name, kind, annotation=hints[field.name], default=default
                )
        else:
            yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take groups of arguments, where typer gives it each by itself."""
    own = inspect.signature(command, eval_str=True).parameters
    kinds = {name: parameter.annotation for name, parameter in own.items()}
    groups: dict[str, Any] = {
        n: kind for n, kind in kinds.items() if dataclasses.is_dataclass(kind)
    }

    @functools.wraps(command)
    def flat(**values: Any) -> int:
        arguments = {name: values[name] for name in own if name not in groups}
        for name, group in groups.items():
            names = [field.name for field in dataclasses.fields(group)]
            arguments[name] = group(**{field: values[field] for field in names})
        return command(**arguments)

    parameters = list(_leaves(own))
    described: Any = flat
    del described.__wrapped__
    described.__signature__ = inspect.Signature(parameters)
    described.__annotations__ = {one.name: one.annotation for one in parameters}
    return flat
