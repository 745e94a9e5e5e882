"""The steps on the way to a client: as it is, rewritten, in the client's opset, sized, fitted."""

import functools
from collections.abc import Callable

import onnx
import straightline as sl

from .client import Client
from .corpus import Subject

AS_IT_IS, REWRITTEN, CONVERTED, SIZED = "as it is", "rewritten", "and its opset", "and fixed sizes"
FITTED = "for the target"
SIZED_TARGET = "and its sizes"

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
    return sl.transform(subject.before, subject.passes, target=client.target, **known).model


def _fitted_as_it_is(subject: Subject, client: Client) -> onnx.ModelProto:
    return sl.transform(subject.before, target=client.target).model


STEPS: dict[str, Step] = {
    AS_IT_IS: _as_it_is,
    REWRITTEN: _rewritten,
    CONVERTED: _converted,
    SIZED: _sized,
    FITTED: _fitted,
}
"""By the name in the table; each makes a model of the subject, or raises `straightline.Error`."""

STEPS_OF_EXPORTS: dict[str, Step] = {
    AS_IT_IS: _as_it_is,
    REWRITTEN: _rewritten,
    FITTED: _fitted_as_it_is,
    SIZED_TARGET: _fitted,
}
"""The steps for models of a folder: sizes come last, since an export may keep them open."""
