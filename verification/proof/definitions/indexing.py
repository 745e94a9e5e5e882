"""GatherElements as Gather of all elements in one row, and values of TopK by place."""

import itertools

from .functions import Application, defined


@defined("GatherElements", types=None, attributes=("axis",), is_exact=True, fails_alike=True)
def gather_elements(application: Application) -> str | None:
    """Elements by place in the row of all: along the axis at the index, along others at that of the
    result. Negative indices count from the end."""
    rank, axis = application.rank(), application.attribute("axis", 0)
    if not rank or application.rank(1) != rank or not -rank <= axis < rank:
        return None
    axis %= rank
    others = [place for place in range(rank) if place != axis]
    return f"""(X, Indices) => (Y) {{
        Zero = Constant <value_int = 0> ()
        One = Constant <value_int = 1> ()
        All = Constant <value_ints = [-1]> ()
        Wide = Cast <to = 7> (Indices)
        Spread = Shape (Wide)
        {_lengths(rank)}
        FromEnd = Add (Wide, Length{axis})
        IsNegative = Less (Wide, Zero)
        Place = Where (IsNegative, FromEnd, Wide)
        Along = Mul (Place, Step{axis})
        {" ".join(_places(place, rank) for place in others)}
        {_sum_of(others, application)}
        Flat = {"Add (Along, Start)" if others else "Identity (Along)"}
        Row = Reshape (X, All)
        Y = Gather <axis = 0> (Row, Flat)
    }}"""


def _lengths(rank: int) -> str:
    """Nodes of the length of each axis, and of the distance of its places."""
    nodes = f"Sizes = Shape (X) Step{rank - 1} = Identity (One)"
    for place in reversed(range(rank)):
        nodes += f"""
        At{place} = Constant <value_int = {place}> ()
        Length{place} = Gather <axis = 0> (Sizes, At{place})"""
        if place:
            nodes += f" Step{place - 1} = Mul (Length{place}, Step{place})"
    return nodes


def _places(axis: int, rank: int) -> str:
    """Nodes of the positions along an axis, times its step."""
    axes = [place for place in range(rank) if place != axis]
    return f"""
        Size{axis} = Gather <axis = 0> (Spread, At{axis})
        Range{axis} = Range (Zero, Size{axis}, One)
        Axes{axis} = Constant <value_ints : ints = {axes}> ()
        Rows{axis} = Unsqueeze (Range{axis}, Axes{axis})
        Part{axis} = Mul (Rows{axis}, Step{axis})"""


def _sum_of(axes: list[int], application: Application) -> str:
    """Nodes of the sum of positions, expanded if all sizes are constant."""
    nodes = [f"Sum{axes[0]} = Identity (Part{axes[0]})"] if axes else []
    for before, axis in itertools.pairwise(axes):
        nodes.append(f"Sum{axis} = Add (Sum{before}, Part{axis})")
    shapes = [arg.fact.shape for arg in application.args if arg is not None]
    is_fixed = all(
        shape is not None and all(dim.value is not None for dim in shape) for shape in shapes
    )
    if axes:
        last = f"Sum{axes[-1]}"
        nodes.append(
            f"Start = Expand ({last}, Spread)" if is_fixed else f"Start = Identity ({last})"
        )
    return " ".join(nodes)


@defined(
    "TopK", types=None, attributes=("axis", "largest", "sorted"), is_exact=True, fails_alike=True
)
def values_by_place(application: Application) -> str | None:
    """Values at the places that TopK finds."""
    if application.output:
        return None
    attributes = [f"{name} = {application.attribute(name, d)}" for name, d in _ORDER.items()]
    return f"""(X, Count) => (Values) {{
        Unread, Places = TopK <{", ".join(attributes)}> (X, Count)
        Values = GatherElements <axis = {application.attribute("axis", -1)}> (X, Places)
    }}"""


_ORDER = {"axis": -1, "largest": 1, "sorted": 1}
