import pytest
from straightline import TargetError, targets
from straightline.targets import target_file
from tables import table

WHOLE = """
about = "an NPU"
opsets = [11, 17]
preferred_opset = 13
operators = ["Add", "Resize 11-12 14-", "Pad 13", "npu.Fused"]
domains = ["npu.more"]
static_shapes = true
max_rank = 4
lacks_element_types = ["double"]
[source]
list = "operators.pdf"
version = "2.1"
date = 2026-01-31
[forms.Resize]
attributes = { mode = ["nearest"] }
constant = ["scales"]
why = "the scaler has fixed steps"
"""
LEAST = 'about = "a"\nopsets = [7, 13]\nlacks = []\n'
SOURCE = '[source]\nlist = "l"\nversion = "1"\ndate = 2026-01-01\n'


def read(tmp_path, text):
    file = tmp_path / "npu.toml"
    file.write_text(text, encoding="utf-8")
    return targets.load(file)


def test_fields_of_a_target_file(tmp_path):
    npu = read(tmp_path, WHOLE)
    assert (npu.name, str(npu.opsets), npu.preferred_opset) == ("npu", "11 to 17", 13)
    taken = [opset for opset in range(11, 18) if npu.lists("Resize", opset)]
    assert taken == [11, 12, 14, 15, 16, 17]
    assert npu.lists("Pad", 13) and not npu.lists("Pad", 14)
    assert npu.lists("npu.Fused", 1) and npu.lists("npu.more.Any", 1)
    assert not npu.lists("Sub", 13) and not npu.lists("npu.Other", 1)
    assert [form.attributes for form in npu.forms["Resize"]] == [{"mode": ("nearest",)}]
    assert (npu.anywhere.max_rank, npu.anywhere.static) == (4, ("*",))
    assert npu.to_dict()["source"]["date"] == "2026-01-31"


def test_an_operator_may_have_several_forms(tmp_path):
    both = read(tmp_path, LEAST + SOURCE + "[forms.'Add Mul']\nmax_rank = 4\n").forms
    assert both["Add"] == both["Mul"] and len(both) == 2
    several = '[[forms.Resize]]\nmax_rank = 4\n[[forms.Resize]]\nstatic = ["X"]\n'
    first, second = read(tmp_path, LEAST + SOURCE + several).forms["Resize"]
    assert (first.max_rank, second.static) == (4, ("X",))


def test_a_target_may_say_what_it_lacks_instead(tmp_path):
    npu = read(tmp_path, LEAST.replace("[]", '["Loop", "Resize 13-"]') + SOURCE)
    assert npu.lists("Add", 13) and npu.lists("Resize", 12)
    assert not npu.lists("Loop", 13) and not npu.lists("Resize", 13)
    assert npu.control_flow == ("If", "Scan", "SequenceMap")


@table(
    ("opsets = [", "this is not TOML"),
    (LEAST, "source: it is missing; write a table"),
    (LEAST + "opset = 3\n" + SOURCE, "opset: there is no such key; did you mean 'opsets'?"),
    (LEAST.replace("[7, 13]", "7") + SOURCE, "opsets: write two numbers, not 7"),
    (LEAST.replace("[7, 13]", "[13, 7]") + SOURCE, "opsets: write the first and the last"),
    (LEAST.replace("[7, 13]", "[98, 99]") + SOURCE, "opsets: the installed onnx knows"),
    (LEAST + "preferred_opset = 14\n" + SOURCE, "preferred_opset: 14 is not in opsets"),
    (LEAST + 'operators = ["Add"]\n' + SOURCE, "operators: write either operators"),
    (LEAST.replace("[]", '["Adds"]') + SOURCE, "lacks: ONNX has no operator 'Adds'; did you"),
    (LEAST.replace("[]", '["Add", "Add"]') + SOURCE, "lacks: 'Add' is listed twice"),
    (LEAST.replace("[]", '["Add to 9"]') + SOURCE, "lacks: 'Add to 9': write opsets as in"),
    (LEAST + 'element_types = ["half"]\n' + SOURCE, "element_types: there is no type 'half'"),
    (LEAST + 'inner = ["Conv"]\n' + SOURCE, "inner: write own_outputs = true with it"),
    (LEAST + "max_rank = -1\n" + SOURCE, "max_rank: a rank must be 0 or more"),
    (LEAST + SOURCE.replace("2026-01-01", '"today"'), "source.date: write a date"),
    (LEAST + SOURCE + "by = 1\n", "source.by: there is no such key"),
    (LEAST + SOURCE + "[forms]\nResize = 1\n", "forms.Resize: write a table"),
    (LEAST + SOURCE + "[forms.Add]\n[forms.'Mul Add']\n",
     "forms.Mul Add: 'Add' has a table already"),
    (LEAST + SOURCE + "[forms.Resizer]\n", "forms.Resizer: ONNX has no operator 'Resizer'"),
    (LEAST + SOURCE + '[forms.Resize]\nconstant = ["sizes", "size"]\n',
     "forms.Resize.constant: it has no input 'size'; did you mean 'sizes'?"),
    (LEAST + SOURCE + "[forms.CumSum]\nwritten = ['reversed']\n",
     "forms.CumSum.written: it has no attribute 'reversed'; did you mean 'reverse'?"),
    (LEAST + SOURCE + "[forms.Gather]\nranks = { indices = 1 }\n",
     "forms.Gather.ranks.indices: write a list of numbers"),
    (LEAST + SOURCE + "[forms.Sub]\nconstants_first = true\n",
     "forms.Sub.constants_first: it is of Add, And"),
    (LEAST + SOURCE + "[forms.Gather]\nmax_tuple = 1\n",
     "forms.Gather.max_tuple: it is of GatherND, ScatterND alone"),
    (LEAST + SOURCE + "[forms.Gemm]\neven_pads = true\n",
     "forms.Gemm.even_pads: it has no attribute 'pads'"),
    (LEAST + SOURCE + "[forms.Erf]\nnot_from = { output = ['Div'] }\n",
     "forms.Erf.not_from: it has no input 'output'; there are 'input'"),
    (LEAST + SOURCE + "[forms.Erf]\nnot_from = { input = ['Divs'] }\n",
     "forms.Erf.not_from.input: ONNX has no operator 'Divs'; did you mean 'Div'?"),
    (LEAST + SOURCE + "[forms.Erf]\ntypes = { output = ['half'] }\n",
     "forms.Erf.types.output: there is no type 'half'"),
    (LEAST + SOURCE + "[forms.Erf]\ntypes = { input = 'float' }\n",
     "forms.Erf.types.input: write a list of texts"),
    (LEAST + SOURCE + "[forms.Resize]\nattributes = { modes = [1] }\n",
     "forms.Resize.attributes.modes: it has no attribute 'modes'; did you mean 'mode'?"),
    (LEAST + SOURCE + '[forms.Resize]\nattributes = { mode = "linear" }\n',
     "forms.Resize.attributes.mode: write a list of values"))  # fmt: skip
def test_a_mistake_is_one_line_with_the_file_and_the_key(text, told, tmp_path):
    with pytest.raises(TargetError) as error:
        read(tmp_path, text)
    said = str(error.value)
    assert said.startswith(f"{tmp_path / 'npu.toml'}: ") and told in said and "\n" not in said


@pytest.mark.parametrize("value", ["[" * 100_000, "9" * 100_000, "{b=" * 20_000])
def test_values_beyond_what_toml_is_read_with(value):
    with pytest.raises(TargetError, match=r"nested too deep|a value cannot be read") as caught:
        target_file.parse(f"opsets = {value}", "mine", "mine.toml")
    assert len(str(caught.value)) < 300
