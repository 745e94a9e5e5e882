"""Loops as people write them in torch (`exports/scripted_loops.py`), and what is left of them.

Loops that are left, nodes, the speed of a run as a ratio of the original's time at 16 and at 300
rows, and outputs that differ from the reference of the original at other lengths.

    python dev/benchmarks/scripted_loops.py FOLDER [--passes PIPELINE]
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import straightline as sl
from straightline.dev.benchmarks.loops.measuring import count_nodes, loops_left, ratio, run_times

LENGTHS, MEASURED, SECONDS = (1, 2, 3, 8, 37), (16, 300), 0.1


def feeds(model: onnx.ModelProto, rows: int) -> dict[str, np.ndarray]:
    """Inputs with a number of rows: floats around 0, small integers, truth values, a count."""
    draw, drawn = np.random.default_rng(rows), {}
    for info in model.graph.input:
        tensor = info.type.tensor_type
        shape = [dim.dim_value or rows for dim in tensor.shape.dim]
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        numbers = (
            draw.normal(size=shape)
            if kind.kind == "f"
            else draw.integers(0, 3, shape)
            if shape
            else rows
        )
        drawn[info.name] = np.asarray(numbers).astype(kind)
    return drawn


def session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def is_equal(model: onnx.ModelProto, run: onnxruntime.InferenceSession, rows: int) -> bool:
    """Test for the outputs of the reference, or an original that fails on these rows."""
    fed = feeds(model, rows)
    try:
        wanted = sl.reference.run(model, fed)
    except sl.EvaluationError:
        return True
    pairs = zip(run.run(None, fed), wanted, strict=True)
    return all(
        one.shape == other.shape and np.allclose(one, other, 2e-3, 1e-4, equal_nan=True)
        for one, other in pairs
    )


def line(path: Path, passes: str) -> str:
    model = onnx.load(path)
    after = sl.rewrite(model, passes, verify=False)
    one, other = session(model), session(after)
    ratios = [ratio(run_times(one, other, feeds(model, n), SECONDS)) for n in MEASURED]
    wrong = [str(n) for n in LENGTHS if not is_equal(model, other, n)]
    nodes = count_nodes(model), count_nodes(after)
    speeds = " ".join(f"{each:8.2f}" for each in ratios)
    differs = f"  differs at {', '.join(wrong)} rows" if wrong else ""
    return f"{path.stem:26} {loops_left(after):3} {nodes[0]:5} {nodes[1]:5} {speeds}{differs}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passes", default="accelerate")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("loops left, nodes before and after, speed at 16 and at 300 rows")
    for path in sorted(options.folder.glob("*.onnx")):
        print(line(path, options.passes), flush=True)


if __name__ == "__main__":
    main()
