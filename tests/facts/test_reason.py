import copy
import importlib
import json
import pickle
import re
import string

import pytest
import straightline as sl
from harness import as_model
from source_files import ROOT, sources
from straightline.facts.reason import MESSAGES, Message, Reason
from undecided import MODELS

for file in sources():
    if "Message(" in (ROOT / file).read_text("utf-8"):
        importlib.import_module(f"straightline.{file.removesuffix('.py').replace('/', '.')}")


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    monkeypatch.setattr("straightline.facts.reason.MESSAGES", dict(MESSAGES))


@pytest.mark.parametrize("code", sorted(MESSAGES))
def test_every_code_has_a_template_that_its_arguments_fill(code):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    message = MESSAGES[code]
    names = {name for _, name, _, _ in string.Formatter().parse(message.template) if name}
    assert message("the cause", **dict.fromkeys(names - {"cause", "s"}, 3)).code == code


def test_a_sentence_holds_what_it_was_rendered_from():
    cause = Reason("input 'n'", arguments={"depends_on": ["input 'n'"]}, options=["--set n=..."])
    reason = Message("so-many", "its {what} depends on {cause}")(cause, what="length")
    offer = "decide it with --set n=... (values= in Python)"
    assert reason == f"its length depends on input 'n'; {offer}"
    assert reason.plain == "its length depends on input 'n'"
    assert (reason.code, reason.options) == ("so-many", ("--set n=...",))
    assert reason.arguments == {"depends_on": ["input 'n'"], "cause": "input 'n'", "what": "length"}
    for other in (pickle.loads(pickle.dumps(reason)), copy.deepcopy(reason)):
        assert other == reason and vars(other) == vars(reason)


def test_sentences_are_joined_each_once():
    one, other = (
        Reason("a", "first", {"x": 1}, ["--selects"]),
        Reason("b", "second", {"x": 2, "y": 3}),
    )
    joined = Reason.join([one, other, one, Reason.join([other, "c"])])
    assert joined == "a; decide it with --selects (selects=True in Python); b; c"
    assert joined.plain == "a; b; c" and joined.options == ("--selects",)
    assert [str(part) for part in joined.parts] == [str(one), "b", "c"]
    assert (joined.code, joined.arguments) == ("first", {"x": 1, "y": 3})
    assert Reason.join([one, one]) is one


def test_the_deciding_input_comes_first():
    option = Reason("on n", "n", {"depends_on": ["n"]}, ["--set n=..."])
    data, other = Reason("on x", "x", {"depends_on": ["x"]}), Reason("it is no accumulation")
    ranked = Reason.rank([other, data, option])
    assert [str(part) for part in ranked.parts] == [str(option), "on x", "it is no accumulation"]
    assert ranked.code == "n" and ranked.brief == Reason.join([option, data])
    assert other.brief == other and ranked + "" == ranked


def test_the_obstacle_of_the_most_capable_pass_is_the_one_sentence():
    """A recurrence stays for what it computes, whatever else would have to be known."""
    text = """<ir_version: 8, opset_import: ["" : 18]>
        g (int64 n, uint32 s0) => (uint32 s) <bool go = {1}, uint32 a = {5}> {
            s = Loop (n, go, s0) <body = f (int64 i, bool c, uint32 p) => (bool d, uint32 q) {
                d = Identity (c) h = BitShift <direction = "LEFT"> (p, a) q = BitwiseAnd (h, p) }>
        }"""
    (left,) = sl.transform(as_model(text), verify=False).left
    assert len(left.sentence.parts) == 3
    assert str(left.brief.reason) == (
        "it carries 'p', which no operator computes: BitwiseAnd 's/q' has no constant operand;"
        " decide it with --set n=... (values= in Python)"
    )
    final = Reason("is slower", "raised-form-slower")
    assert Reason.join([final, *left.sentence.parts]).obstacle == "is slower"


def test_text_is_appended_before_the_options():
    reason = Reason("on n", "n", {"depends_on": ["n"]}, ["--selects"]) + ", and more"
    assert reason == "on n, and more; decide it with --selects (selects=True in Python)"
    assert reason.code == "n"


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", MODELS)
def test_every_remark_gives_its_code_and_arguments_as_json(name):
    model = as_model(MODELS[name][0])
    told = json.loads(json.dumps(sl.transform(model, verify=False).to_dict()))
    for remark in (*told["remarks"], *told["left"]):
        assert remark["code"] and isinstance(remark["arguments"], dict)
    for construct in json.loads(json.dumps(sl.inspect(model).to_dict()))["constructs"]:
        assert {"code", "arguments"} <= construct.keys()
