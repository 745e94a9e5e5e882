import json

import numpy as np
import onnx
import pytest
import straightline as sl
from straightline.verification.certificate import place_of
from tables import table


@pytest.fixture
def before():
    header = '<ir_version: 8, opset_import: ["" : 17]>'
    loop = """g (float[N] x, int64 n) => (float[N] y) {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[N] a) => (bool d, float[N] e) {
            d = Identity (c)
            e = Add (a, a) }> }"""
    return onnx.parser.parse_model(header + loop)


@pytest.fixture
def after(before):
    return sl.rewrite(before, values={"n": 2})


@pytest.fixture
def certificate(before, after):
    bound = {"n": np.array(2)}
    return sl.Certificate.of(before, after, sl.prove(before, after, bound=bound), bound)


def test_a_certificate_is_read_as_it_was_written(certificate, before, after, tmp_path):
    path = tmp_path / "c.json"
    certificate.write(str(path))
    read = sl.Certificate.read(path)
    assert (read.before, read.after) == (certificate.before, certificate.after)
    assert read.proof.outputs == certificate.proof.outputs
    assert read.proof.rules == certificate.proof.rules
    assert read.bound["n"].item() == 2 and read.bound["n"].dtype == np.int64
    read.require_models(before, after)
    read.require_proof(sl.prove(before, after, bound=read.bound))
    found = json.loads(path.read_text())
    assert (found["verdict"], found["claim"]) == (
        "proved",
        "equal for every input, if input 'n' is 2",
    )
    assert found["assumptions"] == ["input 'n' is 2"]


def test_other_models_are_refused(certificate, before, after):
    with pytest.raises(sl.CertificateError, match="for another original: its digest is"):
        certificate.require_models(after, after)
    with pytest.raises(sl.CertificateError, match="for another rewrite"):
        certificate.require_models(before, before)


def test_a_proof_that_does_not_hold_any_more_is_refused(certificate):
    with pytest.raises(sl.CertificateError, match="cannot be made again: out of steps"):
        certificate.require_proof(sl.Proof("open", "out of steps"))
    with pytest.raises(sl.CertificateError, match="none was tried"):
        certificate.require_proof(None)
    more = sl.Proof("proved", "", assumptions=("the moon is round",))
    with pytest.raises(sl.CertificateError, match="certificate: the moon is round"):
        certificate.require_proof(more)


def test_only_a_proof_can_be_kept(before, after):
    with pytest.raises(sl.CertificateError, match="no proof to keep: why"):
        sl.Certificate.of(before, after, sl.Proof("open", "why"))


@table("", "{", "[]", "5", "{}", '{"format": "other"}', "[" * 100_000, "\xff")
def test_unreadable_certificates_are_refused(text, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(sl.CertificateError, match=r"'.*c\.json' is not a certificate"):
        sl.Certificate.read(path)


@table(
    ("version", 4),
    ("verdict", "open"),
    ("before", {}),
    ("bound", {"n": "?"}),
    ("bound", {"n": "AAAA"}),
    ("terms", {"y": "many"}),
    ("terms", []),
    ("rules", 5),
)
def test_a_damaged_certificate_is_refused(key, value, certificate, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**certificate.to_dict(), key: value}))
    with pytest.raises(sl.CertificateError, match="is not a certificate"):
        sl.Certificate.read(path)


def test_nothing_else_is_overwritten(certificate, tmp_path):
    path, other = tmp_path / "c.json", tmp_path / "other.txt"
    certificate.write(path)
    certificate.write(path)  # a certificate may be replaced
    other.write_text("mine")
    with pytest.raises(sl.Error, match="not a certificate"):
        certificate.write(other)
    assert other.read_text() == "mine"
    certificate.write(other, force=True)
    assert sl.Certificate.read(other).before == certificate.before
    link = tmp_path / "link"
    link.symlink_to(path)
    for name in (path, link):
        with pytest.raises(sl.Error, match="it is read, or the result itself"):
            place_of(name, [path], force=True)
    with pytest.raises(sl.Error, match=r"make the folder .* first"):
        place_of(tmp_path / "none" / "c.json", [])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.json", "link", "other.txt"]
