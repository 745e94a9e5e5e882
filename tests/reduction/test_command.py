import shlex
import sys

import onnx
import pytest
from straightline.reduction import CommandError, FailingCommand
from tables import table

TEXT = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = %s (x) }'
NEG, EXP = (onnx.parser.parse_model(TEXT % name) for name in ("Neg", "Exp"))
PYTHON = shlex.quote(sys.executable)


READ = "import pathlib, sys; data = pathlib.Path(sys.argv[1]).read_bytes(); "


def python(code):
    return f"{PYTHON} -c {shlex.quote(READ + code)}"


def test_the_path_replaces_the_braces_or_follows():
    for command in ("grep -q Exp {} && exit 3 || true", "! grep -q Exp"):
        test = FailingCommand(command)
        assert test.expect(EXP).code in (1, 3)
        assert test(EXP) and not test(NEG)


def test_another_exit_code_is_another_failure():
    test = FailingCommand(python("sys.exit(4 if b'Exp' in data else 5)"))
    assert str(test.expect(EXP)) == "exit code 4"
    assert not test(NEG)


def test_a_signal_is_a_failure():
    test = FailingCommand(python("import os; b'Exp' in data and os.kill(os.getpid(), 9)"))
    assert str(test.expect(EXP)) in ("SIGKILL", "exit code 137")  # of the command, or of its shell
    assert test(EXP) and not test(NEG)


def test_a_run_that_does_not_end_is_a_failure():
    test = FailingCommand(python("import time; time.sleep(60 * (b'Exp' in data))"), timeout=1)
    assert str(test.expect(EXP)) == "the time limit"
    assert not test(NEG)


def test_the_output_matches():
    code = "sys.exit('no Exp here' if b'Exp' in data else 'no Neg here')"
    test = FailingCommand(python(code), pattern="no E.p")
    test.expect(EXP)
    assert test(EXP) and not test(NEG)
    with pytest.raises(CommandError, match=r"does not match --match.*ends with: no Exp here"):
        FailingCommand(python(code), pattern="never").expect(EXP)


def test_a_command_that_succeeds_is_refused():
    with pytest.raises(CommandError, match="succeeds on the model"):
        FailingCommand("true {}").expect(EXP)


def test_a_pattern_that_is_none_is_refused():
    with pytest.raises(CommandError, match="not a regular expression"):
        FailingCommand("false {}", pattern="(")


@table(
    ("no-such-command {}", "the command does not exist"),
    ("/etc/passwd {}", "it cannot be executed"),
    ("if then {", "the shell cannot read the command: "),
    ("echo {} 'open", "the shell cannot read the command: "),
)
def test_a_command_that_cannot_run_is_no_failure(command, reason):
    with pytest.raises(CommandError, match=f"{reason}.*correct --while"):
        FailingCommand(command).expect(EXP)


def test_a_real_time_signal_has_a_number():
    failure = FailingCommand("kill -35 $$ #{}").expect(EXP)
    assert str(failure) == "signal 35"


def test_a_long_output_keeps_its_ends():
    command = "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo last; exit 1 #{}"
    failure = FailingCommand(command, pattern="^first(?s:.*)last$").expect(EXP)
    assert len(failure.output) < 2_100_000
    assert failure.output.startswith("first\n") and failure.output.endswith("last\n")
    with pytest.raises(CommandError) as caught:
        FailingCommand(command.replace("; echo last", ""), pattern="no").expect(EXP)
    assert len(str(caught.value)) < 700


def test_a_search_without_an_end_is_an_error(monkeypatch):
    monkeypatch.setattr("straightline.reduction.command._MATCH_SECONDS", 0.3)
    command = f"echo {'a' * 40}b; exit 1 #{{}}"
    with pytest.raises(CommandError, match="write a simpler --match"):
        FailingCommand(command, pattern="(a+)+$").expect(EXP)


def test_a_process_that_outlives_the_command_holds_nothing_up():
    test = FailingCommand("setsid sleep 30 & echo started; exit 3 #{}", pattern="started")
    assert str(test.expect(EXP)) == "exit code 3"
