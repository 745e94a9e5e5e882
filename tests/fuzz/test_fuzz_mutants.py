"""A share of the mutation fuzzer: some hundred mutants give a right answer or one clear error each.

The longer run, with other mutants: `make fuzz`.
"""

import random
from collections import Counter
from pathlib import Path

import fuzz_mutants
import mutant_seeds
import onnx
import pytest
from mutations import mutate, mutate_bytes, names_in

MUTANTS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("mutants")
    mutant_seeds.write(found / "seeds", count=0)
    return found


def test_mutants(folder: Path) -> None:
    assert fuzz_mutants.fuzz(MUTANTS, 0, folder, folder / "seeds") == Counter()


def test_seeds_are_right() -> None:
    (fuzz_mutants.FOLDER / "w.bin").write_bytes(mutant_seeds.DATA)
    for name, model in mutant_seeds.written().items():
        given = fuzz_mutants.Mutant(name, model.SerializeToString(), 0)
        fuzz_mutants.load(given)
        fuzz_mutants.inspect(given)
        fuzz_mutants.keep(given)


def test_mutations_change_what_they_are_given() -> None:
    proto = onnx.parser.parse_model(mutant_seeds.LOOPS)
    content, names = proto.SerializeToString(), names_in(proto)
    other = onnx.parser.parse_model(mutant_seeds.SCANS)
    changed, kinds = 0, set()
    for number in range(200):
        mutant = onnx.ModelProto.FromString(content)
        mutate(mutant, random.Random(number), names, other)
        changed += mutant.SerializeToString() != content
        kinds.add(len(mutant.SerializeToString()))
        again = onnx.ModelProto.FromString(content)
        mutate(again, random.Random(number), names, other)
        assert again.SerializeToString(deterministic=True) == mutant.SerializeToString(
            deterministic=True
        )
        assert mutate_bytes(content, random.Random(number)) == mutate_bytes(
            content, random.Random(number)
        )
    assert changed > 150 and len(kinds) > 20


def test_a_fault_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(mutant: fuzz_mutants.Mutant) -> None:
        raise KeyError("nobody expects this")

    monkeypatch.setattr(fuzz_mutants, "STAGES", (fault,))
    origin = next(o for o in fuzz_mutants.read_models(folder / "seeds") if o.name == "scans")
    stage, error = fuzz_mutants.check(fuzz_mutants.Mutant(origin.name, origin.content, 0)) or (
        "",
        None,
    )
    assert stage == "fault" and isinstance(error, KeyError)
    other = fuzz_mutants.sl.rewrite(origin.proto)
    next(node for node in other.graph.node if node.op_type == "Tanh").op_type = "Sin"
    mutant = fuzz_mutants.Mutant(origin.name, origin.content, 0)
    with pytest.raises(fuzz_mutants.Wrong, match="outputs differ"):
        mutant.require_same(other)
    other.graph.node[-1].input[0] = "nowhere"
    with pytest.raises(fuzz_mutants.Wrong, match="not valid"):
        mutant.require_same(other)


def test_a_fault_is_reported_once_and_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = {"stage": "rewrite", "error": "KeyError: 'body'", "where": "ir/node.py:77"}
    monkeypatch.setattr(fuzz_mutants, "batch", lambda *_: iter([(3, told), (5, told)]))
    counts = fuzz_mutants.fuzz(10, 7, folder, folder / "seeds")
    assert list(counts.values()) == [2]
    kept = fuzz_mutants.mutant(7, 3, fuzz_mutants.read_models(folder / "seeds"))
    assert (folder / "7-3.onnx").read_bytes() == kept.content
    assert not (folder / "7-5.onnx").exists()
    assert capsys.readouterr().out.count("KeyError") == 1
