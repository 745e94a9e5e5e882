"""The options of a rewrite or conversion: defaults, checks, and the pipeline that they describe."""

import dataclasses
import sys
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..ir.errors import BindingError
from ..ir.kinds import require_kinds
from ..ir.lazy import lazy_property
from ..limits import Limits
from ..passes import FreezeInitializers, Pass, PassOptionError, Pipeline, parse_pipeline, straighten
from ..records import record
from .assumptions import Assumptions
from .option_fields import OptionFields, Passes


@record(frozen=True)
class RewriteOptions(OptionFields):
    """Options of one rewrite or conversion, as `straightline.transform` documents them.

    Attributes:
        pass_options: options of the passes, such as `max_trips`.

    Raises:
        KindError: an option is of another kind, such as values that are no mapping.
        BindingError: a shape is no sequence.
        PassOptionError: `selects` stands beside passes, an IR version without an opset, or a limit
            is out of range.
    """

    def __post_init__(self) -> None:
        """Check what needs no model."""
        require_kinds(vars(self), OptionFields.__annotations__)
        if self.selects and self.passes is not None:
            raise PassOptionError("selects=True is short for the pipeline 'selects'; use it alone")
        if self.ir_version is not None and self.opset is None and self.target is None:
            raise PassOptionError("ir_version applies to conversions; add opset=")
        for name, types in (("max_work", Integral), ("max_memory", Integral), ("timeout", Real)):
            limit = getattr(self, name)
            if limit is not None and not (_is_number(limit, types) and limit >= 0):
                what = "number" if types is Real else "whole number"
                raise PassOptionError(f"{name} is {limit!r}; it must be a {what}, 0 or more")
        shapes: Mapping[str, Any] = self.shapes
        for name, dims in shapes.items():
            if isinstance(dims, str) or not isinstance(dims, Sequence | np.ndarray):
                raise BindingError(
                    f"shapes: '{name}' needs its dimensions, such as (1, None, 512), not {dims!r}"
                )

    @classmethod
    def of(cls, **keywords: Any) -> "RewriteOptions":
        """Return the options of a call: None stands for a default, other names are of passes."""
        names = {field.name for field in dataclasses.fields(cls)} - {"pass_options"}
        own = {n: value for n, value in keywords.items() if n in names and value is not None}
        others = {name: value for name, value in keywords.items() if name not in names}
        return cls(**own, pass_options=others)

    @classmethod
    def of_call(cls, arguments: Mapping[str, Any], **fixed: Any) -> "RewriteOptions":
        """Return the options among the arguments of a public function.

        Args:
            arguments: its `locals()`, where `options` are those of passes.
            fixed: the options that callers do not choose.
        """
        require_kinds(arguments, {"on_progress": "OnProgress"})
        names = {field.name for field in dataclasses.fields(cls)}
        own = {name: value for name, value in arguments.items() if name in names}
        return cls.of(**{**own, **arguments.get("options", {}), **fixed})

    @property
    def assumptions(self) -> Assumptions:
        """Assumptions that the caller vouches for."""
        return Assumptions(self.assume_max, self.assume)

    @lazy_property
    def pipeline(self) -> Pipeline:
        """The pipeline that the options describe.

        Raises:
            PassOptionError: the text does not parse, or names no pass or option; `passes` are
                neither text nor passes; options are given beside pass objects.
            TargetError: there is no such target, or it does not read the opset.
        """
        passes = "selects" if self.selects else self.passes
        if self.target is not None:
            from ..targets import target_of
            from ..targets.fit_target import fitting

            is_text = passes is None or isinstance(passes, str)
            first: Any = passes if is_text else _pipeline(passes, self.pass_options)
            target, opset = target_of(self.target), self.opset
            way: dict[str, Any] = {"opset": opset, "ir_version": self.ir_version}
            pipeline = fitting(first, target, self.pass_options, **way, rewrites=self.rewrite)
        else:
            pipeline = _pipeline(passes, self.pass_options)
        # In front, so that the other passes find constants.
        if self.freeze_initializers:
            return Pipeline([FreezeInitializers(), *pipeline.passes], pipeline.repeat)
        return pipeline

    @lazy_property
    def selecting(self) -> "RewriteOptions | None":
        """The same with selects, where they may be offered: the pipeline is the default one."""
        is_default = self.passes is None and not self.selects
        return dataclasses.replace(self, selects=True) if is_default else None

    @property
    def limits(self) -> Limits:
        """The limits of what is computed before run time."""
        return Limits.of(self.max_work, self.max_memory, self.timeout)


def _is_number(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _pipeline(passes: Passes, options: Mapping[str, Any]) -> Pipeline:
    if passes is None:
        return straighten(**options)
    if isinstance(passes, str):
        return parse_pipeline(passes, **options)
    if options:
        raise PassOptionError(
            f"option '{min(options)}' does not apply to pass objects; set it on the pass itself"
        )
    if isinstance(passes, Pipeline):
        return passes
    # A sequence of onnx_ir's passes is iterable, and is a pass.
    several = isinstance(passes, Iterable) and not isinstance(passes, Pass | np.ndarray)
    items: Any = passes if several and not _is_foreign(passes) else [passes]
    return Pipeline([_pass_object(item) for item in items])


def _pass_object(item: Any) -> Pass:
    if isinstance(item, Pass):
        return item
    if _is_foreign(item):
        from ..passes.manager.adapt_passes import step

        return step(item)
    if isinstance(item, str):
        raise PassOptionError(
            f"passes: a list holds pass objects, not {item!r}; write names as one text, such as"
            " 'unroll-loops,inline-ifs'"
        )
    raise PassOptionError(
        "passes must be text such as 'unroll-loops,inline-ifs', a pass object or an iterable of"
        f" them, not {item!r}"
    )


def _is_foreign(item: Any) -> bool:
    """Return whether an object is a pass of onnx_ir or a rule of onnxscript."""
    if "onnx_ir" not in sys.modules:  # whoever holds one has imported it
        return False
    from ..passes.manager.adapt_passes import is_foreign

    return is_foreign(item)
