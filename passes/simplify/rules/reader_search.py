"""Search of what reads a value, directly or through other nodes, with each answer kept.

Each value is looked at once for all questions about one graph, so that a chain of n nodes on which
n rules apply takes n steps instead of n * n.
"""

from collections.abc import Callable

from ....ir import Graph, Node, Value

Reading = Callable[[Node, Value], "bool | None"]
"""Answer of one reader of a value: True if it is searched for, False if the search ends there, None
if it goes on with the reader's output."""


class ReaderSearch:
    """Search in one graph.

    Rules may change the graph between two questions: a replacement computes the same function of
    each value that stays, so what a change of such a value reaches stays, too.

    Args:
        reading: the answer of one reader, which has one output and no body.
    """

    def __init__(self, graph: Graph, reading: Reading) -> None:
        self._graph, self._reading = graph, reading
        self._answers: dict[Value, bool] = {}

    def finds(self, value: Value) -> bool:
        """Test for a reader that is searched for."""
        answers, waiting = self._answers, [value]
        while waiting:
            read = waiting[-1]
            outputs = [] if read in answers else self._outputs(read)
            waits = [output for output in outputs or () if output not in answers]
            if not waits:
                waiting.pop()
                if read not in answers:
                    answers[read] = outputs is None or any(answers[each] for each in outputs)
            waiting += waits
        return answers[value]

    def _outputs(self, value: Value) -> list[Value] | None:
        """Outputs of readers at which the search goes on; None if it ends with success."""
        outputs = []
        for user in self._graph.users(value):
            if not isinstance(user, Node) or user.domain or user.bodies or len(user.outputs) != 1:
                continue
            answer = self._reading(user, value)
            if answer:
                return None
            if answer is None:
                outputs.append(user.output())
        return outputs
