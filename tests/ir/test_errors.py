import copy
import importlib
import pickle
import pkgutil
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import onnx
import pytest
import straightline
from straightline import ir
from straightline.analysis.safety.speculation import Hazard
from straightline.passes import Remark
from straightline.runtimes.workers import RuntimeFailure
from straightline.verification.mismatch import MismatchError
from straightline.verification.proof.definedness import UndefinedError
from straightline.verification.proof.equality.equality import Mismatch
from straightline.verification.runs.verdict import Verdict
from straightline.version_converter import ConversionError
from straightline.version_converter.errors import Failure


@pytest.mark.parametrize("error", [ir.ModelError, ir.LoadError, ir.SaveError, ir.GraphError])
def test_every_error_is_one_of_straightline_s(error: type[Exception]) -> None:
    assert issubclass(error, straightline.Error)
    assert not issubclass(straightline.Error, ValueError | KeyError | AssertionError)


NODE = onnx.NodeProto(op_type="Div", output=["y"])
VERDICT = Verdict("different", "'y' differs")
REMARK = Remark("unroll-loops", "Loop", "y", "rewritten", "unrolled, 3 iterations")
OF_THEIR_OWN: dict[type[straightline.Error], tuple[Any, ...]] = {
    MismatchError: (VERDICT, "unroll-loops", (REMARK,)),
    RuntimeFailure: ("onnxruntime", "crashed", "SIGSEGV"),
    ConversionError: ("2 nodes cannot", [Failure("a/b", "Loop", 13, 14, "no reason")] * 2),
    Hazard: (None, "may fail"),
    UndefinedError: (SimpleNamespace(node=NODE), "the divisor may be 0"),
    Mismatch: ("Add is not known to be Sub", None, None),
}
"""What constructors take that take something else than a message."""


for _module in pkgutil.walk_packages(straightline.__path__, "straightline."):
    if not _module.name.endswith("__main__"):
        importlib.import_module(_module.name)


def kinds(of: type[straightline.Error] = straightline.Error) -> Iterator[type[straightline.Error]]:
    """Every class of errors that the package has, wherever it is."""
    yield of
    for kind in of.__subclasses__():
        yield from kinds(kind)


@pytest.mark.parametrize("kind", sorted(set(kinds()), key=str), ids=lambda kind: kind.__name__)
def test_every_error_survives_copying_and_pickling(kind: type[straightline.Error]) -> None:
    error = kind(*OF_THEIR_OWN.get(kind, ("what went wrong",)))
    error.note = "added later"  # type: ignore[attr-defined]
    for made in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(made) is kind
        assert (str(made), made.args) == (str(error), error.args)
        assert vars(made) == vars(error)
        assert made.lines() == error.lines()


ONLY_INSIDE = {ir.Signal, *kinds(ir.Signal)}


@pytest.mark.parametrize(
    "kind", sorted(set(kinds()) - ONLY_INSIDE, key=str), ids=lambda kind: kind.__name__
)
def test_every_error_that_callers_see_is_a_public_name(kind: type[straightline.Error]) -> None:
    is_of_commands = kind.__module__.startswith("straightline.cli.")
    if kind.__module__.startswith("straightline") and not is_of_commands:
        assert kind.__name__ in straightline.__all__
        assert getattr(straightline, kind.__name__) is kind


def test_warnings_are_public_names() -> None:
    assert issubclass(straightline.NotVerifiedWarning, UserWarning)


def test_a_list_is_told_line_by_line() -> None:
    error = ConversionError(*OF_THEIR_OWN[ConversionError])
    node = "Loop 'a/b', opset 13 to 14: no reason"
    assert error.lines() == ["2 nodes cannot", node, node]
    assert str(error) == f"2 nodes cannot\n  {node}\n  {node}"
    assert straightline.Error("one\ntwo").lines() == ["one\ntwo"]
