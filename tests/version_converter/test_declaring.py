from conversions import model
from straightline import ir
from straightline.version_converter.declaring import declare_results
from straightline.version_converter.types import Types
from tables import table


@table(
    ("r", "float[2, 3]"),
    ("float r", "float[2, 3]"),  # of no rank: see below
    ("float[N, M] r", "float[N, M]"),
)
def test_known_types_are_declared(given: str, declared: str) -> None:
    proto = model(
        "last, y = Scan <num_scan_inputs = 1, body = b (s, e)"
        f" => (float t, {given}) {{ t = ReduceSum <keepdims = 0> (e) r = Identity (e) }}> (z, x)",
        13,
        "float z, float[4, 2, 3] x",
    )
    (body,) = [
        attribute.g for attribute in proto.graph.node[0].attribute if attribute.HasField("g")
    ]
    if given == "float r":
        body.output[1].type.tensor_type.ClearField("shape")
    loaded = ir.load(proto)
    declare_results(loaded.graph.nodes(), Types(loaded))
    (scan,) = loaded.graph.nodes()
    (_, info) = scan.body("body").output_infos
    dims = [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim]
    assert f"float{str(dims).replace(chr(39), '')}" == declared
    ir.verify(loaded)


def test_unknown_types_stay_undeclared() -> None:
    loaded = ir.load(
        model(
            "last, y = Scan <num_scan_inputs = 1, body = b (s, e)"
            " => (t, r) { t = own.Odd (e) r = own.Odd (t) }> (z, x)",
            13,
            "float z, float[4, 2, 3] x",
        )
    )
    (scan,) = loaded.graph.nodes()
    before = scan.body("body").output_infos
    declare_results([scan], Types(loaded))
    assert all(
        one is other for one, other in zip(before, scan.body("body").output_infos, strict=True)
    )
