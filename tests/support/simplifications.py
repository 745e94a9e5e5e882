"""Rules of simplifiers as text: models of both sides, for several forms of the inputs."""

import re

import onnx
import pytest

_LITERAL = re.compile(r"\b(\w+(?:\[\d+\])?)\{([^}]*)\}")
_TYPES = ("float", "int64", "bool", "int32", "double", "uint8", "int8", "float16")


def _model_of_type(inputs, nodes, out):
    """Model from nodes in which constants are written as float[2]{1, 2}."""
    values = []
    text = _LITERAL.sub(lambda literal: values.append(literal) or f"k{len(values) - 1}", nodes)
    constants = ", ".join(f"{m[1]} k{n} = {{{m[2]}}}" for n, m in enumerate(values))
    head = f'<ir_version: 10, opset_import: ["" : 18]> g ({inputs}) => ({out}[] y) '
    return onnx.parser.parse_model(f"{head}{f'<{constants}>' if constants else ''} {{ {text} }}")


def model_of(inputs, nodes):
    """Model of nodes, with an output of the type that they compute."""
    for out in _TYPES:
        model = _model_of_type(inputs, nodes, out)
        try:
            onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
        except onnx.shape_inference.InferenceError:
            continue
        return model
    raise AssertionError(nodes)


def rules_in(text):
    """Rules, their sides separated by =>, under the forms of their inputs, separated by |."""
    number = 0
    for head, rules in re.findall(r"((?:^\S.*\n)+)((?:^ .*\n)+)", text, re.MULTILINE):
        variants = head.strip().removesuffix(":").replace("\n", " ").split(" | ")
        for rule in re.split(r"\n  (?=\S)", rules.strip()):
            before, after = rule.split("=>")
            for variant in variants:
                name = f"{number}: {before.strip()} {variant}"
                yield pytest.param(variant, before, after, id=name)
            number += 1
