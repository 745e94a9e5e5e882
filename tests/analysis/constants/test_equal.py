import numpy as np
import onnx
from straightline.analysis.constants import equal
from straightline.analysis.constants.equal import MOST_COMPARED, content_key
from straightline.ir import Tensor


def key(*content, dtype=np.float32):
    return content_key(Tensor(array=np.array(content, dtype)))


def test_elements_type_and_shape_tell_constants_apart():
    assert key(1, 2) == key(1, 2)
    assert len({key(1, 2), key(2, 1), key(1, 2, dtype=np.int64), key([1, 2]), key(1)}) == 5
    assert key(0.0) != key(-0.0)
    assert key(np.nan) == key(np.nan)


def test_messages_and_arrays_of_one_content_are_equal():
    array = np.array([1, 2], np.float32)
    message = onnx.numpy_helper.from_array(array, "named")
    assert content_key(Tensor(message)) == content_key(Tensor(array=array))


def test_texts_are_compared_by_their_elements():
    assert key("a", "b", dtype=object) == key("a", "b", dtype=object)
    assert key("a", "b", dtype=object) != key("ab", "", dtype=object)


def test_large_ones_and_those_in_files_are_not_read():
    assert content_key(Tensor(array=np.zeros(MOST_COMPARED + 1, np.float32))) is None
    external = onnx.TensorProto(data_type=1, dims=[1], data_location=onnx.TensorProto.EXTERNAL)
    external.external_data.add(key="location", value="missing")
    assert content_key(Tensor(external)) is None


def test_keys_of_small_constants_are_computed_once(monkeypatch):
    memory = equal.KeyMemory()
    tensor, other = Tensor(array=np.ones(3, np.float32)), Tensor(array=np.ones(3, np.float32))
    assert memory.of(tensor) == memory.of(other) == equal.content_key(tensor)
    assert memory.of(Tensor(array=np.ones(equal.MOST_COMPARED + 1, np.float32))) is None
    monkeypatch.setattr(equal, "content_key", None)
    assert equal.ContentKeys(memory).of(tensor) == memory.of(other)
