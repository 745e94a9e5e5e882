"""Jobs: one model on its way through the steps, and the request for it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import onnx

from ..display import OnProgress, silent
from ..facts.named_dimensions import minima_of, with_dimensions
from ..ir import Array, BaseDir, Model, ModelFile, ModelSource, base_dir_of, load, read, to_proto
from ..ir.io.deserialize import PlainNodes, deserialize
from ..ir.io.protobuf.message_headers import update_imports
from ..ir.lazy import lazy_property
from ..passes import FreezeInitializers, PassContext, Pipeline, Remark
from ..passes.base import Instrumentation, current_watcher
from ..passes.cleanup.freeze_initializers import frozen_defaults
from ..passes.manager.pipeline import Timing
from ..passes.remarks import notion_of
from ..passes.utils.fixpoint import are_idle
from ..passes.vetoes import NONE, Reproduction, Vetoes
from ..records import field, record
from .options import RewriteOptions
from .reproduction import reproduction_of
from .specialize import bind_inputs

if TYPE_CHECKING:
    from ..version_converter.conversion import Converted

Observe: TypeAlias = Callable[[str], PassContext]
"""Returns the context of a run of passes; the text names the step that made their model."""


def count_all_nodes(model: Model) -> int:
    """Return the number of nodes in all graphs of a model."""
    return sum(len(graph) for graph in model.graphs())


@record(frozen=True)
class Request:
    """Request of one transformation: a model, which is never changed, and the options."""

    source: ModelSource
    options: RewriteOptions

    @property
    def pipeline(self) -> Pipeline:
        """The passes."""
        return self.options.pipeline

    @property
    def base_dir(self) -> BaseDir:
        """The folder of the external data of the source; None where the source names it."""
        return base_dir_of(self.original, self.options.base_dir)

    @lazy_property
    def original(self) -> ModelSource:
        """The model to rewrite; a file is read once."""
        return self._read[0]

    @property
    def dropped(self) -> tuple[Remark, ...]:
        """Remarks on maps that the original no longer has, since the target lacks them."""
        return self._read[1]

    @lazy_property
    def _read(self) -> tuple[ModelSource, tuple[Remark, ...]]:
        source, target = read(self.source), self.options.target
        if target is None:
            return source, ()
        from ..targets import target_of
        from ..targets.drop_maps import drop_maps

        return drop_maps(source, target_of(target))

    @property
    def has_passes(self) -> bool:
        """Test whether passes do more than freeze initializers."""
        return not all(isinstance(pass_, FreezeInitializers) for pass_ in self.pipeline.passes)

    @property
    def target_opset(self) -> int | None:
        """The opset of a conversion after the passes; a target's opset is for its last pass."""
        return None if self.options.target is not None else self.options.opset

    @property
    def fixes_inputs(self) -> bool:
        """Test whether the caller fixes values or sizes of inputs."""
        return bool(self.options.values or self.options.shapes or self.options.dims)

    def reproduce(self) -> Reproduction:
        """Return the same as a command."""
        return reproduction_of(self.original, self.options)

    def prepare(self) -> tuple[Model, dict[str, Array]]:
        """Return a copy of the model for the passes, and the values of bound inputs."""
        model, bound = self.bound()
        self.assume(model)
        return model, bound

    def assume(self, model: Model) -> None:
        """Change a model in place to one in which the caller's assumptions hold."""
        if self.options.assume_max or self.options.assume:
            self.options.assumptions.assume(model)

    def plain_nodes(self) -> PlainNodes | None:
        """Read the plain nodes of a message that runs through passes alone, as it is; None for
        other requests.

        Raises:
            ModelError: the message is not well formed.
        """
        source, options = self.source, self.options
        if not isinstance(source, onnx.ModelProto) or source.functions:
            return None
        others = options.target, options.opset, options.base_dir
        fixed = self.fixes_inputs or options.assume_max or options.assume
        return None if fixed or any(one is not None for one in others) else PlainNodes(source)

    def unchanged(self, plain: PlainNodes | None) -> onnx.ModelProto | None:
        """Return a copy of a message in which no pass has work; None where one may have some."""
        if plain is None or not are_idle(self.pipeline.passes, plain):
            return None
        return deepcopy(plain.proto)

    def bound(self, plain: PlainNodes | None = None) -> tuple[Model, dict[str, Array]]:
        """Return a copy with its inputs bound, and their values; `plain`: its plain nodes, if they
        have been read."""
        if plain is None:
            model = load(self.original, self.options.base_dir)
        else:
            model = deserialize(plain.proto, plain=plain)
        return model, self.bind(model)

    def bind(self, model: Model) -> dict[str, Array]:
        """Bind the inputs of a model; return the values of the inputs that leave."""
        options, bound = self.options, dict[str, Array]()
        model.minima = minima_of(options.dims) if options.dims else {}
        if self.fixes_inputs:
            shapes = with_dimensions(model.graph.inputs, options.shapes, options.dims)
            bound = bind_inputs(model, options.values, shapes)
        # Freezing removes inputs as well; a comparison feeds the original their defaults.
        if any(isinstance(pass_, FreezeInitializers) for pass_ in self.pipeline.passes):
            bound |= frozen_defaults(model)
        return bound

    def fixed_shapes(self, model: Model) -> dict[str, tuple[int | None, ...]]:
        """Return the sizes of the inputs of a bound model; none where the caller fixed nothing."""
        if not self.fixes_inputs:
            return {}
        return {
            value.name: tuple([dim if isinstance(dim, int) else None for dim in value.shape])
            for value in model.graph.inputs
            if value.shape is not None
        }


@record
class Job:
    """One model on its way through the steps.

    Attributes:
        observe: returns the contexts of passes, for a search; None for new ones.
        vetoes: constructs that passes leave alone.
        plain: the plain nodes of the original, until they are loaded.
        model: the model as the last step left it.
        bound: the values of the inputs that it no longer has.
        shapes: the sizes of its inputs, where the caller fixed any.
        nodes_before: the number of nodes of the original, in all its graphs.
        changed: true after a change.
        is_rewritten: true after a change of more than the imports and the IR version.
        timings: the time of each pass, and of the conversion.
        converted: the conversion, if there was one.
        seconds: the time that all steps took.
    """

    request: Request
    on_progress: OnProgress = silent
    observe: Observe | None = None
    vetoes: Vetoes = NONE
    plain: PlainNodes | None = None
    model: Model = field(init=False)
    bound: dict[str, Array] = field(default_factory=dict)
    shapes: dict[str, tuple[int | None, ...]] = field(default_factory=dict)
    nodes_before: int = 0
    opset_before: int = 0
    changed: bool = False
    is_rewritten: bool = False
    remarks: tuple[Remark, ...] = ()
    timings: tuple[Timing, ...] = ()
    converted: Converted | None = None
    seconds: float = 0.0

    def context(self, maker: str) -> PassContext:
        """Return the context of a run of passes; `maker` names the step before it."""
        if self.observe is not None:
            return self.observe(maker)
        shows = self.on_progress is not silent
        progress = partial(self.on_progress, "rewriting") if shows else None
        return PassContext(instrumentation=Instrumentation(progress, current_watcher()))

    @property
    def is_original(self) -> bool:
        """Test whether its graphs are written as the original's were read: no step changed them,
        and their nodes were in order."""
        request = self.request
        is_bound = self.bound or request.fixes_inputs or request.options.assumptions
        return not (self.is_rewritten or is_bound or self.model.was_unsorted)

    def message(self) -> onnx.ModelProto:
        """Return the message of its model; with the graphs of the original a copy, in a tenth of
        the time."""
        original = self.request.original
        if not self.is_original or not isinstance(original, onnx.ModelProto | ModelFile):
            return to_proto(self.model)
        # The original is the caller's and must not change with the result.
        copy = onnx.ModelProto()
        copy.CopyFrom(to_proto(original))
        if self.changed:
            copy.ir_version = self.model.ir_version
            update_imports(copy.opset_import, self.model.opset_imports)
        return copy

    def fixed(self, **more: Any) -> dict[str, Any]:
        """Return the arguments of each comparison with the original."""
        request = self.request
        return {
            "bound": self.bound,
            "shapes": self.shapes,
            "base_dir": request.base_dir,
            "exactness": notion_of(self.remarks, request.pipeline.exactness),
            "trusted": bool(request.options.assumptions),
            **more,
        }
