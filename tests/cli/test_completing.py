import os
import subprocess
import sys

from straightline.cli.completing import pass_names, words
from tables import table


@table(
    ("inline-", ["inline-ifs", "inline-functions"]),
    ("unroll-loops{max_trips=3},hoist-i", ["unroll-loops{max_trips=3},hoist-invariants"]),
    ("unroll-loops{max_trips=3,ma", []),
    ("sel", ["selects"]),
    ("no", []),
)
def test_names_of_passes(begun, offered):
    assert sorted(pass_names(begun)) == sorted(offered)


def test_words_of_which_one_is_to_be_written():
    complete = words("auto", "reference")
    assert complete("") == ["auto", "reference"]
    assert complete("ref") == ["reference"] and complete("x") == []


def completed(words):
    """What bash is given for a command line."""
    given = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    found = subprocess.run(
        [sys.executable, "-m", "straightline"],
        env={**os.environ, **given, "_STRAIGHTLINE_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stderr == ""
    return found.stdout.split()


def test_a_shell_is_answered():
    assert completed("straightline con") == ["convert"]
    assert completed("straightline rewrite a b --passes inline-i") == ["inline-ifs"]
    assert "--require-straight-line" in completed("straightline rewrite a b --req")
    assert completed("straightline rewrite a b --runtime ref") == ["reference"]
