"""Calls of functions, which stand in each other as deep as a model likes.

A file of a few MB holds a chain of 100,000 functions, each of which calls the next, and Python's
stack has an end. So bodies are made one after another, and run by turns instead of one inside the
other.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple

from ..records import record
from .errors import EvaluationError

_MOST_PLACES = 8
"""An error names so many of the calls around its place, outermost first."""

_TOO_DEEP = "bodies and calls are nested deeper than they can run; inline them first"

Turn = Generator["Entered", list[Any], list[Any]]
"""What runs a graph: gives the calls that it comes to, is sent what they give, and returns the
outputs."""


class Entered(NamedTuple):
    """A call that was come to.

    Attributes:
        place: the node that calls.
        turn: what runs the function.
    """

    place: str
    turn: Turn


@record(frozen=True, eq=False)
class Call:
    """The kernel of a node that calls a function.

    Attributes:
        place: how messages name the node.
        names: the inputs of the function.
        outputs: how many outputs the node has.
        body: gives the evaluator of the function's body, made when it is first asked for.
    """

    place: str
    names: Sequence[str]
    outputs: int
    body: Callable[[], Any]

    def entered(self, inputs: Sequence[Any]) -> Entered:
        """The call with these inputs."""
        # An input that the call leaves out is absent in the body.
        feeds = dict.fromkeys(self.names) | dict(zip(self.names, inputs, strict=False))
        return Entered(self.place, self.body().turn(None, feeds))

    def __call__(self, inputs: Sequence[Any], scope: Mapping[str, Any]) -> Sequence[Any]:
        """Run it at once."""
        # A node may take fewer outputs than the function has.
        return in_turn(self.entered(inputs))[: self.outputs]


def in_turn(first: Entered) -> list[Any]:
    """Outputs of a call, with all calls inside it run on one level.

    Raises:
        EvaluationError: something fails; it names the calls around that.
    """
    running = [first]
    results: Any = None
    while running:
        try:
            inner = running[-1].turn.send(results)
        except StopIteration as stop:
            running.pop()
            results = stop.value
        except EvaluationError as error:
            raise EvaluationError(": ".join([*_places(running), str(error)])) from error
        except RecursionError as error:
            raise EvaluationError(_TOO_DEEP) from error
        else:
            running.append(inner)
            results = None
    outputs: list[Any] = results
    return outputs


def _places(running: Sequence[Entered]) -> list[str]:
    places = [entered.place for entered in running if entered.place]
    left_out = len(places) - _MOST_PLACES
    if left_out <= 0:
        return places
    return [*places[: _MOST_PLACES - 1], f"{left_out} calls further in", places[-1]]
