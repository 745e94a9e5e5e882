"""Passes and their remarks."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from ..facts.notions import Equality
from ..facts.reason import Reason
from ..ir import Error, Model

if TYPE_CHECKING:
    from .context import PassContext

Action = Literal["rewritten", "kept", "noted"]


class PassOptionError(Error):
    """An unknown pass, an unknown option, or an invalid value of an option."""


@dataclasses.dataclass(frozen=True)
class Remark:
    """A record of a pass's change to a construct, or of the reason against one.

    Attributes:
        pass_name: the pass.
        op_type: the operator of the construct.
        path: the labels of the nodes around it and its own.
        action: "rewritten", "kept", or "noted" for information without a construct that stays.
        reason: the change, or the obstacle to one and its remedy.
    """

    pass_name: str
    op_type: str
    path: str
    action: Action
    reason: str

    def __str__(self) -> str:
        return f"{self.op_type} '{self.path}': {self.action}, {self.reason}"

    @property
    def sentence(self) -> Reason:
        """The reason with its fields."""
        return Reason.of(self.reason)

    @property
    def brief(self) -> Remark:
        """The same, with only what decides it as its reason."""
        return dataclasses.replace(self, reason=self.sentence.brief)

    @property
    def code(self) -> str:
        """The name of the sentence, which stays the same when its words change."""
        return self.sentence.code or f"{self.pass_name}-{self.action}"

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The fields of the sentence, in types that JSON has."""
        return self.sentence.arguments

    def to_dict(self) -> dict[str, Any]:
        """Return the remark in types that JSON has."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {**fields, "code": self.code, "arguments": dict(self.arguments)}


def kept_constructs(remarks: Iterable[Remark]) -> dict[tuple[str, str], Remark]:
    """The constructs that stay, by operator and path, with the reasons of all passes."""
    remarks_of: dict[tuple[str, str], list[Remark]] = {}
    for remark in remarks:
        if remark.action == "kept":
            remarks_of.setdefault((remark.op_type, remark.path), []).append(remark)
    return {
        key: dataclasses.replace(parts[0], reason=Reason.rank(r.reason for r in parts))
        for key, parts in remarks_of.items()
    }


MAY_BE_CONTROL_FLOW = ("Loop", "Scan", "If", "SequenceMap", "LSTM", "GRU", "RNN")
"""The operators that are control flow, or that a pass may convert to it."""


Part = Literal["inputs", "outputs", "opsets", "functions"]
PARTS: tuple[Part, ...] = get_args(Part)
"""The parts of a model that a pass keeps unless it declares a change."""


@dataclasses.dataclass(frozen=True)
class Pass(abc.ABC):
    """One rewrite. Its fields are its options; state lives in `PassContext`, never here.

    Attributes:
        name: its name in pipelines, in kebab-case.
        by_default: true for a pass of the default pipeline.
        default_options: its options there, where they differ from its defaults.
        cleans_up: true if it only removes superfluous parts, which gives no other pass new work.
        keeps_facts: true if it only replaces values by equal ones, and removes others.
        works_on: the operators that it needs in a model, if no other pass of a pipeline emits them.
        adds: the operators of control flow that it may add to a model without them.
        changes: the parts of a model that it may change; it keeps all others.
    """

    name: ClassVar[str]
    by_default: ClassVar[bool] = False
    default_options: ClassVar[Mapping[str, Any]] = {}
    cleans_up: ClassVar[bool] = False
    keeps_facts: ClassVar[bool] = False
    works_on: ClassVar[tuple[str, ...] | None] = None
    adds: ClassVar[tuple[str, ...]] = ()
    changes: ClassVar[tuple[Part, ...]] = ()

    @property
    def exactness(self) -> Equality:
        """Notion of equality that it keeps of outputs."""
        return "bits"

    @abc.abstractmethod
    def run(self, model: Model, context: PassContext) -> bool:
        """Rewrite the model in place, and return whether it changed."""

    def violation(self, model: Model) -> str | None:
        """Return what breaks the pass's postcondition in a model; None if it holds."""
        return None

    @property
    def summary(self) -> str:
        """The description of the pass: the first line of its docstring."""
        return (self.__doc__ or "").strip().partition("\n")[0]

    def options(self) -> Iterator[tuple[str, Any]]:
        """The options with their values, except those that only code can set."""
        for field in dataclasses.fields(self):
            if not field.metadata.get("code_only"):
                yield field.name, getattr(self, field.name)

    def __str__(self) -> str:
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        changes = [f"{name}={value}" for name, value in self.options() if value != defaults[name]]
        return f"{self.name}{{{','.join(changes)}}}" if changes else self.name
