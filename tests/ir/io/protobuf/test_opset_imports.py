"""Opset imports come back as they were written, whatever they leave out."""

from __future__ import annotations

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import OperatorSetIdProto, helper
from straightline.ir import ModelError
from straightline.ir.io.protobuf.node_bytes import to_bytes
from straightline.ir.io.protobuf.opset_imports import (
    are_plain,
    encode_imports,
    imports_of,
    update_imports,
    versions_of,
)

DOMAINS = st.sampled_from(["", "own", "é", "x" * 200])


def entry(domain: str | None, version: int | None) -> OperatorSetIdProto:
    made = OperatorSetIdProto()
    if domain is not None:
        made.domain = domain
    if version is not None:
        made.version = version
    return made


@given(st.lists(st.tuples(st.none() | DOMAINS, st.none() | st.integers(-1, 2**40)), max_size=3))
def test_what_is_plain_is_written_as_it_came(said: list[tuple[str | None, int | None]]) -> None:
    function = onnx.FunctionProto(opset_import=[entry(*pair) for pair in said])
    imports = imports_of(function.opset_import)
    assert [pair[:2] for pair in imports] == [(d or "", v or 0) for d, v in said]
    domains = [domain or "" for domain, _ in said]
    complete = all(domain is not None and version is not None for domain, version in said)
    assert are_plain(imports) == (complete and len(set(domains)) == len(domains))
    if are_plain(imports):
        written = to_bytes([encode_imports(versions_of(imports, "it"))])
        assert written == function.SerializeToString()


def test_what_a_newer_onnx_says_is_not_plain() -> None:
    newer = OperatorSetIdProto.FromString(entry("", 17).SerializeToString() + b"\x18\x07")
    assert not are_plain(imports_of([newer])) and are_plain(imports_of([entry("", 17)]))


def test_two_of_one_domain() -> None:
    same = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx", 17)]
    assert versions_of(imports_of(same), "it") == {"": 17, "ai.onnx": 17}
    same[1].version = 18
    with pytest.raises(ModelError, match=r"it imports two versions of domain 'ai.onnx'"):
        versions_of(imports_of(same), "it")


def test_entries_follow_the_versions() -> None:
    message = onnx.FunctionProto(opset_import=[entry(None, 17), entry("gone", 1), entry("own", 1)])
    update_imports(message.opset_import, {"": 18, "own": 1, "new": 2})
    assert list(message.opset_import) == [entry(None, 18), entry("own", 1), entry("new", 2)]
