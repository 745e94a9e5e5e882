"""Passes and their remarks."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from ..facts.reason import Reason
from ..ir import Error, Model

if TYPE_CHECKING:
    from .context import PassContext

Action = Literal["rewritten", "kept", "noted"]


class PassOptionError(Error):
    """There is no such pass, or a pass has no such option, or the option's value does not fit."""


@dataclasses.dataclass(frozen=True)
class Remark:
    """What a pass did to one construct, or why it left it alone.

    Attributes:
        pass_name: the pass that speaks.
        op_type: the operator of the construct.
        path: where it is: the labels of the nodes around it and its own.
        action: "rewritten", "kept", or "noted" where something came to light that the user should
            know, and no construct was left alone for it.
        reason: what was done, or why nothing was, and what the user can do.
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
    """What was kept, by operator and path, each with all that the passes said of it."""
    found: dict[tuple[str, str], list[Remark]] = {}
    for remark in remarks:
        if remark.action == "kept":
            found.setdefault((remark.op_type, remark.path), []).append(remark)
    return {
        key: dataclasses.replace(said[0], reason=Reason.join(r.reason for r in said))
        for key, said in found.items()
    }


MAY_BE_CONTROL_FLOW = ("Loop", "Scan", "If", "SequenceMap", "LSTM", "GRU", "RNN")
"""The operators that are control flow, or of which a pass may make it."""


Part = Literal["inputs", "outputs", "opsets", "functions"]
PARTS: tuple[Part, ...] = get_args(Part)
"""Parts of a model that a pass keeps unless it declares that it changes them."""


@dataclasses.dataclass(frozen=True)
class Pass(abc.ABC):
    """One rewrite. Its fields are its options; state lives in `PassContext`, never here.

    Attributes:
        name: how users call it, in kebab-case.
        by_default: whether the default pipeline holds it.
        default_options: the options that it has there, where they are others than its own.
        cleans_up: it only removes what is superfluous, which gives no other pass new work.
        works_on: the operators without which a model gives it nothing to do, if it is for some
            alone that no other pass of a pipeline makes.
        adds: the operators of control flow that it may add to a model without them.
        changes: the parts of a model that it may change; it keeps all others.
    """

    name: ClassVar[str]
    by_default: ClassVar[bool] = False
    default_options: ClassVar[Mapping[str, Any]] = {}
    cleans_up: ClassVar[bool] = False
    works_on: ClassVar[tuple[str, ...] | None] = None
    adds: ClassVar[tuple[str, ...]] = ()
    changes: ClassVar[tuple[Part, ...]] = ()

    @abc.abstractmethod
    def run(self, model: Model, context: PassContext) -> bool:
        """Rewrite the model in place; say whether anything changed."""

    def violation(self, model: Model) -> str | None:
        """Return what breaks the pass's postcondition in a model; None if it holds."""
        return None

    @property
    def summary(self) -> str:
        """What the pass does, in a sentence: the first line of its docstring."""
        return (self.__doc__ or "").strip().partition("\n")[0]

    def options(self) -> Iterator[tuple[str, Any]]:
        """The options with their values, save those that only code can give."""
        for field in dataclasses.fields(self):
            if not field.metadata.get("code_only"):
                yield field.name, getattr(self, field.name)

    def __str__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{self.name}{{{','.join(changed)}}}" if changed else self.name
