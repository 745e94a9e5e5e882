"""One conversion, from the model given to the verified result."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .binding import Shapes, Values
from .ir import Array, BaseDir, Model, ModelSource, base_dir_of
from .ir.collector import paused_collector
from .passes import FreezeInitializers, Pipeline, Remark
from .rewriting import MismatchError, Rewriting, Rewritten
from .versions import ConversionError, convert
from .versions.differences import Differences
from .versions.straightening import PIPELINES, straighten_constructs

if TYPE_CHECKING:
    from .reference.verdict import Verdict


@dataclasses.dataclass(frozen=True)
class Conversion:
    """One conversion: a model, what is known of its inputs, and where it shall go.

    Attributes:
        source: the model; never changed.
        target_opset: the opset version to convert to.
        ir_version: the version of the file format; None for the one that goes with the opset.
        values: values of inputs, by name.
        shapes: shapes of inputs, by name.
        freeze_initializers: take inputs that have a default as constants.
        rewrite: straighten control flow and sequences that cannot be converted.
        base_dir: the folder of the external data of a source in memory.
    """

    source: ModelSource
    target_opset: int
    ir_version: int | None = None
    values: Values = dataclasses.field(default_factory=dict)
    shapes: Shapes = dataclasses.field(default_factory=dict)
    freeze_initializers: bool = False
    rewrite: bool = True
    base_dir: BaseDir = None

    @functools.cached_property
    def given(self) -> Rewriting:
        """The model with what is known of its inputs written into it."""
        passes = [FreezeInitializers()] if self.freeze_initializers else []
        return Rewriting(self.source, Pipeline(passes), self.values, self.shapes, self.base_dir)

    @paused_collector
    def run(self) -> Converted:
        """Convert a copy.

        Raises:
            Error: the model cannot be read, is not well formed, or what is set does not fit it.
            ConversionError: nodes cannot be carried over; it tells how far the model comes.
        """
        try:
            return self._carried(self.target_opset)
        except ConversionError as error:
            raise error.reaching(self._nearest(error)) from error

    def _carried(self, target: int) -> Converted:
        """The model in an opset, straightened where it must be."""
        given = self.given.run()
        before = given.model.opset()
        try:
            convert(given.model, target, self.ir_version)
        except ConversionError as error:
            if not self.rewrite:
                raise
            stuck = error
        else:
            return Converted(self, given.model, given.bound, before)
        return self._straightened(target, stuck)

    def _straightened(self, target: int, stuck: ConversionError) -> Converted:
        """The model in an opset after what a first conversion failed at was rewritten."""
        first: ConversionError | None = None
        for passes in PIPELINES:
            given = self.given.run()
            before = given.model.opset()
            remarks, kept = straighten_constructs(given.model, stuck.failures, passes)
            if not remarks:
                raise first or stuck.explained(kept)
            try:
                convert(given.model, target, self.ir_version)
            except ConversionError as error:
                first = first or error.explained(kept)
                if error.places() <= stuck.places():
                    break
            else:
                return Converted(self, given.model, given.bound, before, remarks)
        assert first is not None
        raise first

    def _nearest(self, error: ConversionError) -> int | None:
        """The opset nearest to the target that the model reaches, which is tried; None where it
        does not leave its own."""
        source, tried = self.given.run().model.opset(), set[int]()
        while error.failures:
            nearest = error.last_reached()
            if nearest == source or nearest in tried:
                return None
            tried.add(nearest)
            try:
                self._carried(nearest)
            except ConversionError as nearer:
                error = nearer
            else:
                return nearest
        return None


def carried_on(rewritten: Rewritten, target_opset: int) -> Rewritten:
    """The same rewrite with its result in another opset, to be verified as a whole.

    Raises:
        ConversionError: nodes cannot be carried over.
    """
    converted = Conversion(rewritten.model, target_opset).run()
    result = rewritten.result
    remarks = (*result.remarks, *converted.remarks)
    changed = result.changed or converted.opset_before != target_opset
    result = dataclasses.replace(result, model=converted.model, remarks=remarks, changed=changed)
    return dataclasses.replace(rewritten, result=result)


@dataclasses.dataclass(frozen=True)
class Converted:
    """What a conversion made.

    Attributes:
        conversion: what was asked for.
        model: the converted model.
        bound: the values of the inputs that the model no longer has.
        opset_before: the opset of the original.
        remarks: what had to be rewritten, and why.
    """

    conversion: Conversion
    model: Model
    bound: dict[str, Array]
    opset_before: int
    remarks: Sequence[Remark] = ()

    @functools.cached_property
    def differences(self) -> Differences:
        """Which operators of the original changed."""
        return Differences(self.conversion.given.run().model, self.model)

    def to_dict(self) -> dict[str, Any]:
        """The conversion as JSON takes it."""
        return {
            "opset": {"before": self.opset_before, "after": self.model.opset()},
            "operators": self.differences.to_dict(),
            "remarks": [remark.to_dict() for remark in self.remarks],
        }

    def verify(self, **options: Any) -> Verdict:
        """Compare with the original; `options` are those of `straightline.verify`.

        Raises:
            MismatchError: the outputs differ.
        """
        from .verification import verify

        given = self.conversion.given
        folder = base_dir_of(given.original, given.base_dir)
        options = {"bound": self.bound, "base_dir": folder, **options}
        verdict = verify(given.original, self.model, **options)
        if verdict.status == "different":
            raise MismatchError(verdict, f"that converts to opset {self.model.opset()}")
        return verdict
