import numpy as np
from straightline.ir import Tensor
from straightline.ir.opaque import OpaqueTensor, Reads, Recipe, notes_of, recompute, transparent
from tables import table

ROW = Tensor(array=np.array([1, 2], np.float32))


@table(
    lambda tensor: tensor.numpy().tobytes(),
    lambda tensor: tensor.message(),
    lambda tensor: tensor.raw_data(),
    lambda tensor: b"".join(tensor.content()),
)
def test_all_that_reads_elements_is_noted(read):
    inner, outer = Reads(), Reads()
    tensor = OpaqueTensor(OpaqueTensor(ROW, (outer,)), (inner,))
    assert (tensor.dims, tensor.elem_type, tensor.size) == ((2,), 1, 2)
    assert not inner.any and not outer.any
    assert read(tensor) == read(ROW)
    assert inner.any and outer.any


def test_a_constant_without_notes_is_read_unnoticed():
    note = Reads()
    tensor = OpaqueTensor(ROW, (note,))
    assert transparent(tensor) is ROW and transparent(ROW) is ROW
    assert notes_of((tensor, None, ROW)) == {note} and not notes_of((ROW, None))
    assert not note.any


def test_a_new_constant_is_computed_again():
    def add(tensors):
        total = sum(transparent(tensor).numpy() for tensor in tensors)
        return [Tensor(array=total)] if (total < 100).all() else None

    note, other = Reads(), Reads()
    source = OpaqueTensor(ROW, (note,))
    once = OpaqueTensor(ROW, (note,), Recipe(add, (source, ROW), 0))
    twice = OpaqueTensor(ROW, (note,), Recipe(add, (once, once), 0))
    new = Tensor(array=np.array([5, 6], np.float32))
    assert recompute(twice, note, {source: new}).numpy().tolist() == [12, 16]
    assert recompute(twice, note, {source: Tensor(array=np.float32([99, 0]))}) is None
    assert recompute(twice, other, {}) is twice and recompute(ROW, note, {}) is ROW
    assert not note.any
