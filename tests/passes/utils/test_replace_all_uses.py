from harness import as_model
from straightline import ir
from straightline.passes.utils.replace_all_uses import replace_value


def values(text):
    model = ir.load(as_model(text))
    return model.graph, {v.name: v for n in model.graph.nodes() for v in n.outputs if v}


def test_readers_and_the_declaration_move():
    graph, named = values(
        "g (float[2] x) => (float[2] y) <float[2] a> { a = Neg (x) b = Neg (x) y = Relu (a) }"
    )
    replace_value(graph, named["a"], named["b"])
    assert not graph.is_used(named["a"])
    assert named["b"].shape == (2,)
    assert named["b"] in graph.value_infos


def test_a_declaration_of_its_own_stays():
    graph, named = values(
        "g (float[N] x) => (float[2] y) <float[2] a, float[N] b>"
        " { a = Neg (x) b = Neg (x) y = Relu (a) }"
    )
    replace_value(graph, named["a"], named["b"])
    assert named["b"].shape == ("N",)


def test_an_output_keeps_its_name():
    graph, named = values("g (float[2] x) => (float[2] y, float[2] b) { y = Relu (x) b = Neg (x) }")
    replace_value(graph, named["y"], named["b"])
    assert [info.name for info in graph.output_infos] == ["y", "b"]
    assert [v.producer.op_type for v in graph.outputs].count("Identity") == 1
