"""Normalizations by the formulas of the specification, which square the deviations.

The functions of onnx subtract the squared mean from the mean square, which cancels. Numbers are
computed in the type that the specification names; where kernels compute doubles as doubles
although it names floats, no definition holds.
"""

from .functions import DOUBLE, FLOAT, FLOATS, NARROW_FLOATS, OVER_REALS_ONLY, Application, defined

_DEVIATIONS = """
    Mean = ReduceMean <axes = {axes}> (XU)
    D = Sub (XU, Mean)
    DD = Mul (D, D)
    Var = ReduceMean <axes = {axes}> (DD)
"""
_DEVIATION = """
    EpsilonF = Constant <value_float : float = @epsilon> ()
    Epsilon = Cast <to = {inner}> (EpsilonF)
    VarEps = Add (Var, Epsilon)
    StdDev = Sqrt (VarEps)
"""


def _inner(application: Application, stash: int | None = None) -> int | None:
    """Type in which numbers are computed; None if kernels do not agree on it."""
    own = application.elem_type()
    if application.over_reals:
        return own
    if own == DOUBLE:
        return DOUBLE if stash in (None, DOUBLE) else None
    if own == FLOAT:
        return FLOAT if stash in (None, FLOAT) else None
    return FLOAT if own in NARROW_FLOATS and stash == FLOAT else None


def _axes(application: Application) -> list[int] | None:
    """Axes from `axis` on."""
    rank, axis = application.rank(), application.attribute("axis", -1)
    if not rank or not -rank <= axis < rank:
        return None
    return list(range(axis % rank, rank))


@defined("LayerNormalization", types=FLOATS, attributes=("axis", "epsilon", "stash_type"))
def layer_normalization(application: Application) -> str | None:
    """Stages one and two of the specification; outputs 1 and 2 are in the type of stage one."""
    axes = _axes(application)
    inner = _inner(application, application.attribute("stash_type", FLOAT))
    narrow = application.elem_type() != FLOAT and not application.over_reals
    if axes is None or inner is None or (application.output and narrow):
        return None  # kernels differ on the mean of infinities in other types
    bias = "Add (Scaled, B)" if application.has(2) else "Identity (Scaled)"
    nodes = _DEVIATIONS + _DEVIATION
    return f"""(X, Scale, B) => (Y, Mean, InvStdDev) {{
        XU = Cast <to = {inner}> (X)
        {nodes.format(axes=axes, inner=inner)}
        InvStdDev = Reciprocal (StdDev)
        Normalized = Mul (D, InvStdDev)
        NormalizedT = CastLike (Normalized, X)
        Scaled = Mul (NormalizedT, Scale)
        Y = {bias}
    }}"""


@defined("RMSNormalization", types=FLOATS, attributes=("axis", "epsilon", "stash_type"))
def rms_normalization(application: Application) -> str | None:
    """Stages one and two of the specification."""
    axes = _axes(application)
    inner = _inner(application, application.attribute("stash_type", FLOAT))
    if axes is None or inner is None:
        return None
    return f"""(X, Scale) => (Y) {{
        XU = Cast <to = {inner}> (X)
        XSquared = Mul (XU, XU)
        Var = ReduceMean <axes = {axes}> (XSquared)
        {_DEVIATION.format(inner=inner)}
        Normalized = Div (XU, StdDev)
        NormalizedT = CastLike (Normalized, X)
        Y = Mul (NormalizedT, Scale)
    }}"""


@defined(
    "GroupNormalization",
    types=FLOATS,
    attributes=("num_groups", "epsilon", "stash_type"),
    fails_alike=True,
)
def group_normalization(application: Application) -> str | None:
    """Each group as one row; scale and bias by channel, before opset 21 by group.

    The Reshape to rows fails for an empty batch, as that of onnx's function does.
    """
    rank, groups = application.rank(), application.attribute("num_groups", 0)
    by_group = application.head.opset < 21
    stash = None if by_group else application.attribute("stash_type", FLOAT)
    inner = _inner(application, stash)
    if rank is None or rank < 3 or groups < 1 or inner is None:
        return None
    nodes = _DEVIATIONS + _DEVIATION
    channels = "Identity (Normal)"
    if not by_group:
        channels = "Reshape (Whole, PerChannel)"
    return f"""(X, Scale, B) => (Y) {{
        Sizes = Shape (X)
        PerGroup = Constant <value_ints = [0, {groups}, -1]> ()
        PerChannel = Constant <value_ints = [0, 0, -1]> ()
        Column = Constant <value_ints = [1, -1, 1]> ()
        Rows = Reshape (X, PerGroup)
        XU = Cast <to = {inner}> (Rows)
        {nodes.format(axes=[2], inner=inner)}
        Normalized = Div (D, StdDev)
        Normal = CastLike (Normalized, X)
        Whole = Reshape (Normal, Sizes)
        Channels = {channels}
        ScaleColumn = Reshape (Scale, Column)
        BiasColumn = Reshape (B, Column)
        Scaled = Mul (Channels, ScaleColumn)
        Biased = Add (Scaled, BiasColumn)
        Y = Reshape (Biased, Sizes)
    }}"""


@defined("MeanVarianceNormalization", types=OVER_REALS_ONLY, attributes=("axes",))
def mean_variance_normalization(application: Application) -> str | None:
    """(x - mean) / sqrt(mean((x - mean)^2)), with the least divisor of onnx's function.

    Kernels differ where the variance is 0: some have no least divisor.
    """
    rank, inner = application.rank(), _inner(application)
    axes = application.attribute("axes", [0, 2, 3])
    if not rank or not axes or inner is None or not all(-rank <= axis < rank for axis in axes):
        return None
    axes = sorted({axis % rank for axis in axes})
    return f"""(XU) => (Y) {{
        {_DEVIATIONS.format(axes=axes)}
        Least = Constant <value_float = 1e-9> ()
        LeastU = CastLike (Least, XU)
        StdDev = Sqrt (Var)
        Divisor = Add (StdDev, LeastU)
        Y = Div (D, Divisor)
    }}"""


_COLUMN = "Places = Constant <value_ints = {column}> ()"
_BY_CHANNEL = """
    ScaleColumn = Reshape (Scale, Places)
    BiasColumn = Reshape (B, Places)
    Normal = Div (D, StdDev)
    Scaled = Mul (Normal, ScaleColumn)
    Y = Add (Scaled, BiasColumn)
"""


@defined("InstanceNormalization", types=OVER_REALS_ONLY, attributes=("epsilon",))
def instance_normalization(application: Application) -> str | None:
    """Each channel of each batch by itself; scale and bias by channel."""
    rank, inner = application.rank(), _inner(application)
    if rank is None or rank < 3 or inner is None:
        return None
    axes, nodes = list(range(2, rank)), _COLUMN + _DEVIATIONS + _DEVIATION + _BY_CHANNEL
    nodes = nodes.format(axes=axes, inner=inner, column=[-1, *[1] * len(axes)])
    return f"(XU, Scale, B) => (Y) {{ {nodes} }}"


@defined(
    "BatchNormalization", types=OVER_REALS_ONLY, attributes=("epsilon", "momentum", "training_mode")
)
def batch_normalization(application: Application) -> str | None:
    """Deviations by channel, in inference, which has opset 14 or later: below, a node trains."""
    rank, inner = application.rank(), _inner(application)
    training = application.attribute("training_mode", 0) or application.head.opset < 14
    if rank is None or rank < 2 or training or application.output or inner is None:
        return None
    return f"""(X, Scale, B, Mean, Variance) => (Y) {{
        {_COLUMN.format(column=[-1, *[1] * (rank - 2)])}
        MeanColumn = Reshape (Mean, Places)
        Var = Reshape (Variance, Places)
        D = Sub (X, MeanColumn)
        {_DEVIATION.format(inner=inner)}
        {_BY_CHANNEL}
    }}"""
