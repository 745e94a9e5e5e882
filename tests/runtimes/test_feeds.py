import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from straightline.ir import Error
from straightline.runtimes.feeds import FeedError, check_feeds, files_of, read_feeds
from tables import table


def model(inputs, initializers=""):
    return onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21]> g ({inputs}) => (float[1] out)'
        f"{initializers} {{ out = Constant<value_floats=[0.0]>() }}"
    )


TWO = model("float[N,2] x, int64 n")


def test_plain_python_values_take_the_declared_type():
    (feeds,) = read_feeds({"x": [[1, 2]], "n": 3}, TWO, {})
    assert (feeds["x"].dtype, feeds["n"].dtype) == (np.float32, np.int64)
    assert feeds["n"].shape == ()


def test_several_samples_and_bound_values():
    x = np.zeros((1, 2), np.float32)
    samples = read_feeds([{"x": x}, {"x": x, "n": 7}], TWO, {"n": 5})
    assert [int(sample["n"]) for sample in samples] == [5, 7]


@table(
    ({"x": [[1, 2]]}, "no value for input 'n'"),
    ({"x": [[1, 2]], "n": 1, "z": 1}, "no input 'z'; it has 'x', 'n'"),
    ({"x": np.zeros((1, 2)), "n": 1}, "input 'x' is float32, the value is float64"),
    ({"x": [[1, 2, 3]], "n": 1}, "has [1, 3]"),
    ({"x": [1, 2], "n": 1}, "has [2]"),
    ({"x": [["a", "b"]], "n": 1}, "input 'x' cannot be read as float32"),
    ({"x": None, "n": 1}, "input 'x' is not an optional"),
    ([], "feeds are empty"),
    ("/nowhere/feeds.npz", "no such file"),
    (__file__, "cannot be read as .npz: it holds no arrays of numbers"),
)
def test_misfitting_feeds_are_named(feeds, words):
    with pytest.raises(FeedError) as caught:
        read_feeds(feeds, TWO, {})
    assert words in str(caught.value)
    assert isinstance(caught.value, Error)


def test_npz_holds_all_types_also_those_numpy_forgets(tmp_path):
    half = np.array([1.5, -2], ml_dtypes.bfloat16)
    np.savez(tmp_path / "in.npz", b=half, s=np.array(["a", "b"]))
    (feeds,) = read_feeds(tmp_path / "in.npz", model("bfloat16[2] b, string[2] s"), {})
    assert feeds["b"].dtype == ml_dtypes.bfloat16
    assert feeds["b"].tolist() == half.tolist()
    assert feeds["s"].tolist() == ["a", "b"]


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 torn"])
def test_a_broken_npz_is_an_error_of_ours(tmp_path, content):
    path = tmp_path / "in.npz"
    path.write_bytes(content)
    with pytest.raises(FeedError, match=r"cannot be read as \.npz"):
        read_feeds(path, TWO, {})


def test_a_test_data_folder_follows_the_order_of_the_inputs(tmp_path):
    folder = tmp_path / "test_data_set_0"
    folder.mkdir()
    values = [np.float32([1]), [np.int64([1, 2]), np.int64([3])], None]
    protos = [
        numpy_helper.from_array(values[0]),
        numpy_helper.from_list(values[1]),
        numpy_helper.from_optional(None, dtype=onnx.OptionalProto.TENSOR),
    ]
    for number, proto in enumerate(protos):
        (folder / f"input_{number}.pb").write_bytes(proto.SerializeToString())
    target = model("float[1] x, seq(int64[K]) s, optional(float[1]) o")
    for path in (folder, tmp_path):
        (feeds,) = read_feeds(str(path), target, {})
        assert feeds["x"].tolist() == [1.0]
        assert [element.tolist() for element in feeds["s"]] == [[1, 2], [3]]
        assert feeds["o"] is None


def test_a_test_data_folder_skips_inputs_with_an_initializer(tmp_path):
    target = model("float[1] w, float[1] x", "<float[1] w = {2}>")
    tensor = numpy_helper.from_array(np.float32([5]))
    (tmp_path / "input_0.pb").write_bytes(tensor.SerializeToString())
    (feeds,) = read_feeds(tmp_path, target, {})
    assert list(feeds) == ["x"]
    (tmp_path / "input_1.pb").write_bytes(tensor.SerializeToString())
    (feeds,) = read_feeds(tmp_path, target, {})
    assert list(feeds) == ["w", "x"]


def test_a_folder_without_inputs_and_a_torn_message_are_named(tmp_path):
    with pytest.raises(FeedError, match=r"no input_0\.pb"):
        read_feeds(tmp_path, TWO, {})
    (tmp_path / "input_0.pb").write_bytes(b"\xff\xff\xff")
    with pytest.raises(FeedError, match="1 inputs for a model with 2"):
        read_feeds(tmp_path, TWO, {})
    with pytest.raises(FeedError, match=r"input_0\.pb: cannot be read"):
        read_feeds(tmp_path, model("float[1] x"), {})


def test_sequences_and_optionals_are_checked_inside():
    target = model("seq(float[2]) s, optional(int64) o")
    (feeds,) = read_feeds({"s": [[1, 2]], "o": 4}, target, {})
    assert feeds["s"][0].dtype == np.float32
    assert feeds["o"].dtype == np.int64
    with pytest.raises(FeedError, match="input 's' is a sequence; pass a list"):
        read_feeds({"s": np.float32([1, 2]), "o": None}, target, {})
    with pytest.raises(FeedError, match=r"has \[3\]"):
        read_feeds({"s": [[1, 2, 3]], "o": None}, target, {})


def test_partial_feeds_may_leave_inputs_out():
    assert int(check_feeds({"n": 4}, TWO, partial=True)["n"]) == 4


@pytest.mark.parametrize("feeds", [5, [5], [{"n": 1}, "a"]])
def test_feeds_of_the_wrong_kind_are_refused(feeds):
    with pytest.raises(FeedError, match="feeds must be a mapping of input names to values"):
        read_feeds(feeds, TWO, {})


def test_one_sample_is_a_mapping():
    with pytest.raises(FeedError, match="a mapping of input names to values, not 5"):
        check_feeds(5, TWO)


def test_a_folder_of_archives_is_a_sample_for_each(tmp_path):
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => (float[N] y) { y = Neg (x) }'
    )
    for number in (2, 10, 1):
        np.savez(tmp_path / f"s{number}.npz", x=np.full(number, number, np.float32))
    assert [len(feeds["x"]) for feeds in read_feeds(tmp_path, model, {})] == [1, 2, 10]
    assert [path.name for path in files_of(tmp_path)] == ["s1.npz", "s2.npz", "s10.npz"]
