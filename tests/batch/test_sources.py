import os
from pathlib import Path

import pytest
from straightline.batch import BatchError
from straightline.batch.sources import jobs_of
from tables import table

OUT = Path("out")


def names(*sources, out=OUT):
    return [job.name for job in jobs_of(sources, out)]


def touch(*paths):
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_a_folder_stands_for_all_models_below_it_in_order():
    touch("models/deep/notes.txt", "models/.hidden/x.onnx", "models/._a.onnx")
    wanted = ["a.onnx", "b.onnx", "deep/c.onnx", "deep/w.onnx", "deep/er/d.onnx"]
    assert names("models") == names(Path("models/")) == wanted
    (job, *_) = jobs_of("models", OUT)
    assert (job.source, job.target_name) == (
        os.path.join("models", "a.onnx"),
        os.path.join("out", "a.onnx"),
    )
    assert job.path == Path("models/a.onnx").absolute() and job.target.is_absolute()


@table(
    ("models/*.onnx", ["a.onnx", "b.onnx"]),
    ("models/**/*.onnx", ["a.onnx", "b.onnx", "deep/c.onnx", "deep/er/d.onnx", "deep/w.onnx"]),
    ("models/deep/[cw].onnx", ["c.onnx", "w.onnx"]),
    ("models/*", ["a.onnx", "b.onnx"]),
)
def test_a_pattern_keeps_places_below_its_fixed_part(pattern, found):
    assert names(pattern) == found


def test_a_file_goes_by_its_name_whatever_that_is():
    touch("models/odd[1].bin")
    assert names("models/deep/er/d.onnx", "models/odd[1].bin") == ["d.onnx", "odd[1].bin"]


def test_a_source_named_twice_is_processed_once():
    assert names("models/a.onnx", "models/../models/a.onnx", "models/*.onnx") == [
        "a.onnx",
        "b.onnx",
    ]


def test_results_below_the_sources_are_no_sources():
    touch("models/out/a.onnx", "models/out/deep/c.onnx")
    for given in ("models", "models/**/*.onnx"):
        assert "out/a.onnx" not in names(given, out=Path("models/out"))
    assert "out/a.onnx" in names("models")


@table(
    (["nowhere"], "out", "there is no model 'nowhere'"),
    (["none/*.onnx"], "out", "no file matches"),
    (["empty"], "out", "no model .* in the folder 'empty'"),
    (["models"], "models", "would overwrite the model"),
    (["models/deep/c.onnx"], "models/deep", "would overwrite the model"),
    (["models/a.onnx", "other/a.onnx"], "out", "would both be .*common folder"),
    (["models/a.onnx", "other/a.onnx.data"], "out", "would be its external data"),
    (["models/a.onnx", "third"], "out", "would be a folder"),
    (["models/a.onnx"], "links", "would overwrite the model 'models.a.onnx'"),
    (["models/a.onnx"], "hard", "would overwrite the model"),
)
def test_impossible_requests_are_refused_before_the_work(sources, out, message):
    touch("other/a.onnx", "other/a.onnx.data", "third/a.onnx/b.onnx")
    for name in ("empty", "hard"):
        Path(name).mkdir()
    os.symlink("models", "links")
    os.link("models/a.onnx", "hard/a.onnx")
    with pytest.raises(BatchError, match=message):
        jobs_of(sources, Path(out))
    assert not Path("out").exists()
