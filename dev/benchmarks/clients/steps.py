"""The steps on the way to a client: as it is, rewritten, in the client's opset, sized, fitted."""

from __future__ import annotations

import functools
from collections.abc import Callable

import onnx
import straightline as sl

from .client import Client
from .corpus import Subject

AS_IT_IS, REWRITTEN, CONVERTED, SIZED = "as it is", "rewritten", "and its opset", "and fixed sizes"
FITTED = "for the target"

Step = Callable[[Subject, Client], onnx.ModelProto]


def _as_it_is(subject: Subject, _: Client) -> onnx.ModelProto:
    return subject.before


def _rewritten(subject: Subject, _: Client) -> onnx.ModelProto:
    return subject.after


def _converted(subject: Subject, client: Client) -> onnx.ModelProto:
    return _in_opset(subject, client.opset)


@functools.cache
def _in_opset(subject: Subject, opset: int) -> onnx.ModelProto:
    return sl.convert_version(subject.after, opset)


def _sized(subject: Subject, client: Client) -> onnx.ModelProto:
    return _sized_in_opset(subject, client.opset)


@functools.cache
def _sized_in_opset(subject: Subject, opset: int) -> onnx.ModelProto:
    known = {"shapes": subject.shapes, "values": subject.bound}
    return sl.transform(subject.before, subject.passes, opset=opset, **known).model


def _fitted(subject: Subject, client: Client) -> onnx.ModelProto:
    known = {"shapes": subject.shapes, "values": subject.bound}
    return sl.transform(subject.before, subject.passes, target=client.name, **known).model


STEPS: dict[str, Step] = {
    AS_IT_IS: _as_it_is,
    REWRITTEN: _rewritten,
    CONVERTED: _converted,
    SIZED: _sized,
    FITTED: _fitted,
}
"""By the name in the table; each makes a model of the subject, or raises `straightline.Error`."""
