import numpy as np
import onnx
from cells import HEAD, difference, raised
from harness import as_model, op_types, run_in_onnxruntime, run_passes
from straightline.passes import RaiseRecurrences
from tables import table

RNG = np.random.default_rng(4)


def numbers(*shape):
    return (RNG.normal(size=shape) * 0.4).astype(np.float32)


def scan(state, element, product="MatMul (h, u)", iterations="T"):
    model = as_model(
        HEAD
        + f"""g ({state} h0, float[{iterations}, {element[6:]} x) => ({state} h1, z) {{
            h1, z = Scan <num_scan_inputs = 1, body = f ({state} h, {element} e)
                => ({state} h2, {state} r) {{
                q = {product} s = Add (q, e) h2 = Tanh (s) r = Identity (h2) }}> (h0, x) }}"""
    )
    rank = state.count(",") + 2
    model.graph.output[1].type.CopyFrom(onnx.helper.make_tensor_type_proto(1, [None] * rank))
    model.graph.initializer.append(onnx.numpy_helper.from_array(numbers(4, 4), "u"))
    return model


@table(
    ("float[4]", "float[4]"),
    ("float[B, 4]", "float[B, 4]"),
    ("float[B, 4]", "float[1, 4]"),
    ("float[B, 4]", "float[4]"),
    ("float[1, B, 4]", "float[1, B, 4]"),
    ("float[1, B, 4]", "float[B, 4]"),
    ("float[B, 1, 4]", "float[B, 1, 4]"),
    ("float[1, 4]", "float[1, 4]"),
    ("float[1, 1, 4]", "float[1]"),
)
def test_places_of_the_batch(state, element):
    model = scan(state, element)
    after = raised(model)
    for iterations, batch in [(5, 2), (0, 2), (3, 0), (0, 0), (1, 1)]:
        sizes = {"B": batch}

        def shape(text, sizes=sizes):
            inner = text[6:-1].split(", ")
            return [sizes[dim] if dim in sizes else int(dim) for dim in inner]

        feed = {"h0": numbers(*shape(state)), "x": numbers(iterations, *shape(element))}
        assert difference(model, after, feed) <= 8


def test_known_sizes_need_no_guard():
    guards = {"Pad", "Where", "Slice", "Shape"}
    assert guards <= set(op_types(raised(scan("float[B, 4]", "float[B, 4]"))))
    assert not guards & set(op_types(raised(scan("float[2, 4]", "float[2, 4]", iterations="7"))))
    iterations_only = op_types(raised(scan("float[4]", "float[4]")))
    assert "Pad" not in iterations_only and iterations_only.count("Slice") == 2


def test_an_operator_shows_the_sizes_of_its_input():
    after = onnx.shape_inference.infer_shapes(raised(scan("float[2, 4]", "float[2, 4]")))
    (operator,) = (node for node in after.graph.node if node.op_type == "RNN")
    (fed,) = (value for value in after.graph.value_info if value.name == operator.input[0])
    assert [dim.dim_value for dim in fed.type.tensor_type.shape.dim[1:]] == [2, 4]


def test_rows_of_different_batches():
    result = run_passes(scan("float[A, B, 4]", "float[A, B, 4]"), RaiseRecurrences())
    assert "more than one batch axis" in result.kept[0].reason


def test_columns_without_a_batch():
    model = scan("float[4, 1]", "float[4, 1]", "MatMul (u, h)")
    assert difference(model, raised(model), {"h0": numbers(4, 1), "x": numbers(3, 4, 1)}) <= 8


def test_a_sequence_that_is_read_from_its_end_is_not_turned():
    model = scan("float[4]", "float[4]", iterations="5")
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("scan_input_directions", [1]))
    after = raised(model)
    assert op_types(after).count("Slice") == 1  # of the states, which stand in the other order
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("scan_output_directions", [1]))
    assert "Slice" not in op_types(raised(model))
    feed = {"h0": numbers(4), "x": numbers(5, 4)}
    assert difference(model, raised(model), feed) <= 8


def test_only_the_last_state_is_computed_where_nothing_else_is_read():
    model = scan("float[4]", "float[4]")
    del model.graph.output[1]
    (node,) = [n for n in raised(model).graph.node if n.op_type == "RNN"]
    assert list(node.output[:1]) == [""] and len(node.output) == 2


def test_numbers_of_half_precision():
    model = scan("float[B, 4]", "float[B, 4]")
    del model.graph.initializer[:]
    model = as_model(onnx.printer.to_text(model).replace("float[", "float16["))
    u = numbers(4, 4).astype(np.float16)
    model.graph.initializer.append(onnx.numpy_helper.from_array(u, "u"))
    after = raised(model)
    feed = {"h0": numbers(2, 4).astype(np.float16), "x": numbers(9, 2, 4).astype(np.float16)}
    one, other = run_in_onnxruntime(after, feed)[1], run_in_onnxruntime(model, feed)[1]
    assert one.dtype == np.float16
    np.testing.assert_allclose(one, other, atol=4e-3)
