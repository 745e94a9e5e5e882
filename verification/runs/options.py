"""The options of a verification, their defaults and their checks."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ...facts.notions import NOTIONS, Equality
from ...ir.did_you_mean import instead
from ...ir.errors import Error
from ...ir.kinds import require_kinds
from ...records import record

if TYPE_CHECKING:
    from ...facts.named_dimensions import Dims, Minima
    from ...runtimes.feeds import Given
    from .sample_shapes import SampleShapes

RuntimeChoice = Literal["auto", "onnxruntime", "reference", "both"]
Unproved: TypeAlias = Literal["samples", "keep", "allow"]
"""Treatment of a rewrite that no proof shows: run samples, and keep what these refute; keep every
construct whose rewrite is not proved; or return it."""

Verify: TypeAlias = Literal["proof"] | bool | Mapping[str, Any]
"""Verification of a result: "proof" proves it, and `Unproved` says what follows an open proof; True
runs samples then in any case; False verifies nothing; a mapping holds options of
`straightline.verify`."""

_WHOLE = int, np.integer
_REAL = *_WHOLE, float, np.floating
_PLAIN_SAMPLES = 3


def has_onnxruntime() -> bool:
    """Return whether onnxruntime is installed."""
    return importlib.util.find_spec("onnxruntime") is not None


class VerifyError(Error):
    """An option of the verification is out of range."""


@record(frozen=True)
class VerifyOptions:
    """Options of one verification, as `straightline.verify` documents them.

    Attributes:
        unproved: the treatment of a rewrite that is not proved. With "samples", `prove="only"` runs
            both models where the proof stays open.
        minima: minimum sizes of named dimensions: the proof assumes them, and samples have them.

    Raises:
        VerifyError: one is out of range.
    """

    prove: bool | Literal["only"] | None = None
    feeds: Given | None = None
    runtime: RuntimeChoice = "auto"
    rtol: float | None = None
    atol: float | None = None
    samples: int | None = None
    seed: int = 0
    sample_shapes: SampleShapes | None = None
    dims: Dims | None = None
    timeout: float | None = None
    max_memory: int | None = None
    equality: Equality | None = None
    unproved: Unproved = "allow"
    minima: Minima = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check what is in range for every model."""
        require_kinds(vars(self), VerifyOptions.__annotations__)
        for name, choice, choices in (
            ("runtime", self.runtime, get_args(RuntimeChoice)),
            ("equality", self.equality, NOTIONS),
            ("unproved", self.unproved, get_args(Unproved)),
        ):
            if choice is not None and choice not in choices:
                raise VerifyError(f"there is no {name} '{choice}'; {instead(choice, choices)}")
        if self.unproved == "keep" and self.prove is False:
            raise VerifyError("only a proof shows what is unproved; leave out prove=False")
        if self.runtime in ("onnxruntime", "both") and not has_onnxruntime():
            raise VerifyError(
                "onnxruntime is not installed; the extra `ort` brings it:"
                " pip install 'straightline[ort]'"
            )
        for name in ("rtol", "atol"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, _REAL) and value >= 0):
                raise VerifyError(f"{name} is {value!r}; it must be a number, 0 or more")
        if self.timeout is not None and not (isinstance(self.timeout, _REAL) and self.timeout > 0):
            raise VerifyError(f"timeout is {self.timeout!r}; it must be more than 0 seconds")
        for name, value, least in (("samples", self.plain_samples, 1), ("seed", self.seed, 0)):
            if not (isinstance(value, _WHOLE) and value >= least):
                raise VerifyError(
                    f"{name} is {value!r}; it must be a whole number, {least} or more"
                )

    @classmethod
    def of(cls, verify: Verify, unproved: Unproved = "samples") -> VerifyOptions | None:
        """Return the options for the arguments of a call; None for no verification.

        Raises:
            VerifyError: the argument is of another kind, or an option is unknown or out of range.
        """
        if isinstance(verify, bool):
            return cls(unproved=unproved) if verify else None
        if isinstance(verify, str) and verify == "proof":
            return cls("only", unproved=unproved)
        if not isinstance(verify, Mapping):
            raise VerifyError(
                "verify must be 'proof', True, False or a mapping of options of"
                f" straightline.verify, not {verify!r}"
            )
        names = [field.name for field in dataclasses.fields(cls) if field.name != "minima"]
        for name in verify:
            if name not in names:
                raise VerifyError(
                    f"verify has no option '{name}'; {instead(name, names, are='its options:')}"
                )
        if verify.get("prove") == "only" and unproved == "samples":
            unproved = "allow"  # the caller wants no runs
        return cls(**{"unproved": unproved, **verify})

    @property
    def plain_samples(self) -> int:
        """The number of plain samples to draw."""
        return _PLAIN_SAMPLES if self.samples is None else self.samples

    @property
    def asks_for_runs(self) -> bool:
        """True if the models must run even after a proof."""
        has_request = self.feeds is not None or self.samples is not None or self.runtime != "auto"
        return has_request and self.prove != "only"

    def with_runs(self) -> VerifyOptions:
        """Return options by which the models run even after a proof."""
        prove = None if self.prove == "only" else self.prove
        return dataclasses.replace(self, prove=prove, samples=self.plain_samples)

    def probing(self, differs: bool, feeds: Mapping[str, Any] | None) -> VerifyOptions:
        """Return options for comparisons that search for a pass at fault.

        Args:
            differs: whether the outputs differ; else a proof is open.
            feeds: an input on which they differ, where one is known.
        """
        if not differs or (self.prove == "only" and feeds is None):
            return dataclasses.replace(self, prove="only", unproved="allow")
        inputs: Any = self.feeds if feeds is None else [dict(feeds)]
        return dataclasses.replace(self, prove=False, feeds=inputs, unproved="samples")

    def with_absolute_paths(self) -> VerifyOptions:
        """Return options for any working folder."""
        if not isinstance(self.feeds, str | os.PathLike):
            return self
        return dataclasses.replace(self, feeds=Path(self.feeds).absolute())
