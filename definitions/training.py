"""Steps of training of ai.onnx.preview.training, for any number of tensors.

    R, T, X1, X2, G1, G2, H1, H2   ->   each Xk by its gradient Gk and its state Hk

ONNX has schemas for them but no functions.
"""

from collections.abc import Callable

from .case import Case
from .registry import ship

_MOST = 16
"""The most tensors that a definition names."""


def _ship(name: str, states: str, settings: str, step: Callable[[Case, str], str]) -> None:
    """Add the definition of a step.

    Args:
        states: a letter for each state that a tensor has.
        settings: its attributes.
        step: the nodes for one tensor, whose names end in a text.
    """
    kinds = f"XG{states}"
    places = [f"v{at}" for at in range(_MOST * len(kinds))]
    results = [f"r{at}" for at in range(_MOST * (1 + len(states)))]

    def after(case: Case) -> str:
        present = sum(map(case.has, places))
        count, rest = divmod(present, len(kinds))
        if rest or present == 0 or not all(map(case.has, places[:present])):
            case.unfit("its tensors, gradients and states are not equally many")
        nodes = []
        for at in range(count):
            for place, kind in enumerate(kinds):
                nodes.append(f"{kind}_{at} = Identity (v{place * count + at})")
            nodes.append(step(case, f"_{at}"))
            for place, kind in enumerate(f"X{states}"):
                nodes.append(f"r{place * count + at} = Identity ({kind}new_{at})")
        return " ".join(nodes)

    operands = ", ".join(f"{name}?" for name in places)
    types = ", ".join(f"floats{at} {name}" for at, name in enumerate(places))
    ship(
        f"(floats r, int64 t, {types}) => ({', '.join(results)}) {{ {', '.join(results)} ="
        f" ai.onnx.preview.training.{name} <{settings}> (r, t, {operands}) }}",
        after,
        since=12,
        source="docs/Operators.md",
        summary=(step.__doc__ or "").partition("\n")[0],
    )


def _regularized(at: str) -> str:
    """Nodes of the gradient with the part that pulls a tensor to zero."""
    return f"pull{at} = Mul (X{at}, @norm)  g{at} = Add (pull{at}, G{at})"


def _adagrad(case: Case, at: str) -> str:
    """A rate by the sum of all squares."""
    return f"""{_regularized(at)} tF{at} = Cast <to = {case.elem_type("r")}> (t)
        late{at} = Mul (tF{at}, @decay)  lateR{at} = Add (late{at}, 1.0)
        rate{at} = Div (r, lateR{at})  square{at} = Mul (g{at}, g{at})
        Hnew{at} = Add (H{at}, square{at})  root{at} = Sqrt (Hnew{at})
        size{at} = Add (root{at}, @epsilon)  way{at} = Mul (rate{at}, g{at})
        step{at} = Div (way{at}, size{at})  Xnew{at} = Sub (X{at}, step{at})"""


def _adam(case: Case, at: str) -> str:
    """A rate by means of gradients and of their squares."""
    alpha, beta, kind = case["alpha"], case["beta"], case.elem_type("r")
    case.attributes |= {"restA": 1 - alpha, "restB": 1 - beta, "rest": 1 - case["post"]}
    return f"""{_regularized(at)} oldV{at} = Mul (V{at}, @alpha)  newV{at} = Mul (g{at}, @restA)
        Vnew{at} = Add (oldV{at}, newV{at})  square{at} = Mul (g{at}, g{at})
        oldH{at} = Mul (H{at}, @beta)  newH{at} = Mul (square{at}, @restB)
        Hnew{at} = Add (oldH{at}, newH{at})  root{at} = Sqrt (Hnew{at})
        size{at} = Add (root{at}, @epsilon)  tF{at} = Cast <to = {kind}> (t)
        baseB{at} = Cast <to = {kind}> (@beta)  powB{at} = Pow (baseB{at}, tF{at})
        openB{at} = Sub (1.0, powB{at})  rootB{at} = Sqrt (openB{at})
        baseA{at} = Cast <to = {kind}> (@alpha)  powA{at} = Pow (baseA{at}, tF{at})
        openA{at} = Sub (1.0, powA{at})  up{at} = Mul (r, rootB{at})
        later{at} = Div (up{at}, openA{at})  isLater{at} = Greater (t, 0)
        rate{at} = Where (isLater{at}, later{at}, r)  way{at} = Mul (rate{at}, Vnew{at})
        step{at} = Div (way{at}, size{at})  moved{at} = Sub (X{at}, step{at})
        Xnew{at} = Mul (moved{at}, @rest)"""


def _momentum(case: Case, at: str) -> str:
    """A step along a mean of gradients."""
    if case["mode"] not in ("standard", "nesterov"):
        case.unfit(f"there is no mode '{case['mode']}'")
    way = f"way{at} = Identity (Vnew{at})"
    if case["mode"] == "nesterov":
        way = f"ahead{at} = Mul (Vnew{at}, @alpha)  way{at} = Add (g{at}, ahead{at})"
    return f"""{_regularized(at)} isLater{at} = Greater (t, 0)
        later{at} = Mul (g{at}, @beta)  part{at} = Where (isLater{at}, later{at}, g{at})
        old{at} = Mul (V{at}, @alpha)  Vnew{at} = Add (old{at}, part{at}) {way}
        step{at} = Mul (r, way{at})  Xnew{at} = Sub (X{at}, step{at})"""


_ship(
    "Adagrad",
    "H",
    "decay_factor = @decay ? 0.0, epsilon = @epsilon ? 1e-6, norm_coefficient = @norm ? 0.0",
    _adagrad,
)
_ship(
    "Adam",
    "VH",
    "alpha = @alpha ? 0.9, beta = @beta ? 0.999, epsilon = @epsilon ? 1e-6,"
    " norm_coefficient = @norm ? 0.0, norm_coefficient_post = @post ? 0.0",
    _adam,
)
_ship(
    "Momentum",
    "V",
    "alpha = @alpha float, beta = @beta float, mode = @mode text, norm_coefficient = @norm float",
    _momentum,
)
