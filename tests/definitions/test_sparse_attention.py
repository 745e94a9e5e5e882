import numpy as np
import onnxruntime as ort
from kernels import assert_equal, feeds_of, lowered, one_node, run_kernel
from tables import table

DRAW = np.random.default_rng(0)


def floats(dtype, *shape):
    return DRAW.standard_normal(shape).astype(dtype)


def kernel(model, feeds):
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    buffers = {n: ort.OrtValue.ortvalue_from_numpy(array.copy()) for n, array in feeds.items()}
    for name, buffer in buffers.items():
        binding.bind_ortvalue_input(name, buffer)
    binding.bind_output("y0")
    binding.bind_ortvalue_output("y1", buffers["x3"])
    binding.bind_ortvalue_output("y2", buffers["x4"])
    session.run_with_iobinding(binding)
    return binding.copy_outputs_to_cpu()


def layouts(*masks):
    columns = [np.nonzero(mask)[1].tolist() for mask in masks]
    width = max(map(len, columns))
    rows = [np.cumsum([0, *mask.sum(1)]) for mask in masks]
    return np.array(rows, np.int32), np.array(
        [[*row, *[-1] * (width - len(row))] for row in columns], np.int32
    )


@table((40, 40, False, np.float32), (1, 50, True, np.float32), (3, 45, False, np.float16))
def test_layouts_alternate_over_heads(count, total, packed, dtype):
    full = np.tril(np.ones((4, 4), int))
    holes = full.copy()
    holes[[2, 3], [0, 1]] = 0
    if packed:
        operands = [floats(dtype, 2, count, 128), None, None]
    else:
        operands = [floats(dtype, 2, count, size) for size in (64, 32, 32)]
    past = [floats(dtype, 2, 2, 64, 16) for _ in range(2)]
    sizes = np.array([total], np.int32), np.array([total] * 2, np.int32)
    caches = [floats(dtype, 64, 8) for _ in range(2)]
    inputs = [*operands, *past, *layouts(full, holes), *sizes, *caches]
    settings = {"num_heads": 4, "kv_num_heads": 2, "sparse_block_size": 16, "do_rotary": 1}
    model = one_node("com.microsoft.SparseAttention", inputs, 3, **settings)
    expected, own = (
        run(m, feeds_of(inputs)) for run, m in ((kernel, model), (run_kernel, lowered(model)))
    )
    present = [array[:, :, :total] for array in (*expected[1:], *own[1:])]
    assert_equal([expected[0], *present[:2]], [own[0], *present[2:]])
