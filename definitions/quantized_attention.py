"""Attention and embeddings of com.microsoft with quantized operands."""

from .attention import masked, self_attention
from .case import Case
from .normalizations import embeddings
from .registry import defines

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}


def _number(case: Case, value: str, scale: str, zero: str, result: str) -> str:
    """Nodes that compute the number of a quantized value, whose scale may broadcast."""
    nodes = f"{value}F = Cast <to = 1> ({value})"
    if case.has(zero):
        nodes += f" {zero}F = Cast <to = 1> ({zero})  {value}D = Sub ({value}F, {zero}F)"
    else:
        nodes += f" {value}D = Identity ({value}F)"
    return f"{nodes} {result} = Mul ({value}D, {scale})"


@defines(
    """(byteX input, byteW weight, float b, float xScale, float wScale, int32 mask_index,
    byteX xZero, byteW wZero, float past) => (y, present) {
    y, present = com.microsoft.QAttention <num_heads = @heads int, scale = @scale float ?,
    mask_filter_value = @filter ? -10000.0, unidirectional = @causal ? 0, do_rotary = @rotary ? 0,
    past_present_share_buffer = @shares ? 0>
    (input, weight, b, xScale, wScale, mask_index?, xZero?, wZero?, past?) }""",
    **_FACTS,
)
def quantized_attention(case: Case) -> str:
    """Attention of the numbers."""
    if case["rotary"] or case["shares"]:
        case.unfit("it rotates, or shares the buffer of past and present")
    size = case.known_size("weight", 1) // 3
    masks = masked(case, "mask_index", case["causal"], True)
    return f"""{_number(case, "input", "xScale", "xZero", "x")}
        {_number(case, "weight", "wScale", "wZero", "w")}
        {self_attention(case, [size] * 3, "", masks)}"""


_TABLES = "words", "places", "kinds", "gamma", "beta"


@defines(
    """(int32 ids, int32 segments, byte words, byte places, byte kinds, byte gamma, byte beta,
    int32 mask, float wordsS, float placesS, float kindsS, float gammaS, float betaS,
    byte wordsZ, byte placesZ, byte kindsZ, byte gammaZ, byte betaZ) => (y, mask_index) {
    y, mask_index = com.microsoft.QEmbedLayerNormalization <epsilon = @epsilon ? 1e-12>
    (ids, segments?, words, places, kinds?, gamma, beta, mask?, wordsS, placesS, kindsS?, gammaS,
    betaS, wordsZ, placesZ, kindsZ?, gammaZ, betaZ) }""",
    **_FACTS,
)
def quantized_embeddings(case: Case) -> str:
    """LayerNormalization of the sum of embeddings from quantized tables."""
    tables = [name for name in _TABLES if case.has(name)]
    nodes = [_number(case, name, f"{name}S", f"{name}Z", f"{name}W") for name in tables]
    return f"{' '.join(nodes)} {embeddings(case)} y = Identity (yW)"
