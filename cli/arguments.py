"""Groups of arguments, each with the options of the library that it stands for."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import options as given
from .pages import Page
from .parsing import contents
from .printing import PrintAfter, PrintBefore, Verbose

if TYPE_CHECKING:
    from ..driver.options import RewriteOptions
    from ..verification.runs.options import VerifyOptions


@dataclasses.dataclass(frozen=True)
class PipelineArguments:
    """Arguments about the passes."""

    passes: given.Passes = None
    selects: given.Selected = False
    keep_nan: given.KeepNan = None
    max_trips: given.MaxTrips = None
    max_nodes: given.MaxNodes = None
    assumed: given.AssumeMax = None

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
    fits: given.FitsTarget = None
    fits_file: given.TargetFile = None
    max_work: given.MaxWork = None
    max_memory: given.MaxMemory = None
    assignments: given.Set = None
    dimensions: given.Shape = None
    sizes: given.Dim = None
    freeze_initializers: given.Freeze = False
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

    inputs: given.Inputs = None
    sample_shape: given.SampleShape = None
    runtime: given.RuntimeOption = given.Runtime.auto
    rtol: given.Rtol = None
    atol: given.Atol = None
    samples: given.Samples = None
    seed: given.Seed = 0
    timeout: given.Timeout = None

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

    verify: given.Verify = True
    prove: given.Prove = None
    certificate: given.Certificate = None

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
    link_data: given.LinkData = None
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
