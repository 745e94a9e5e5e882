"""Documents of --json against the schema that `straightline schema` prints."""

import functools
import json
from collections.abc import Sequence
from typing import Any

import jsonschema
from straightline.cli.schema import schema_of


def strict(schema: Any) -> Any:
    """A schema that refuses keys which it does not describe."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        inner.setdefault("additionalProperties", False)
    return inner


@functools.cache
def validator(command: str) -> jsonschema.Draft202012Validator:
    """The validator of a command's documents, which refuses other keys."""
    return jsonschema.Draft202012Validator(strict(schema_of(command)))


def documents(text: str) -> list[Any]:
    """The printed documents: one, or one a line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def assert_described(words: Sequence[str], text: str) -> None:
    """Assert that what a command printed is described in its schema, key by key."""
    for document in documents(text) if text.strip() else []:
        errors = [
            f"{error.json_path}: {error.message[:300]}"
            for error in _leaves(validator(words[0]).iter_errors(document))
        ]
        assert not errors, (words, errors)


def _leaves(errors: Any) -> Any:
    for error in errors:
        nearest = jsonschema.exceptions.best_match([error])
        yield nearest or error
