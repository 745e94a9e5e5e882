import dataclasses
from pathlib import Path

import numpy as np
import pytest
from straightline.batch.job_config import JobConfig
from straightline.driver.options import RewriteOptions
from straightline.ir.option_names import by
from straightline.passes import PassOptionError
from straightline.verification.runs.options import VerifyOptions
from tables import table

from targets import lacking


def test_the_key_is_the_same_for_the_same():
    one = JobConfig(RewriteOptions(opset=18, values={"a": np.arange(3), "b": [1]}))
    other = JobConfig(RewriteOptions(values={"b": [1], "a": np.arange(3)}, opset=18))
    assert one.key() == other.key()


@table(
    JobConfig(RewriteOptions("unroll-loops")),
    JobConfig(RewriteOptions(())),
    JobConfig(RewriteOptions(opset=18)),
    JobConfig(RewriteOptions(opset="18")),
    JobConfig(RewriteOptions(values={"x": np.zeros(3)})),
    JobConfig(RewriteOptions(values={"x": np.zeros(3, np.float32)})),
    JobConfig(RewriteOptions(dims={"N": 1})),
    JobConfig(verify=None),
    JobConfig(verify=VerifyOptions(seed=1)),
    JobConfig(straight_line=True),
    JobConfig(whole_target=True),
    JobConfig(RewriteOptions(target=lacking("Loop"))),
    JobConfig(RewriteOptions(target=lacking("Scan"))),
    JobConfig(RewriteOptions(max_work=5)),
)
def test_the_key_is_another_where_something_else_may_come_out(other):
    assert other.key() != JobConfig().key()


def test_the_key_is_the_same_where_only_places_differ():
    same = [JobConfig(force=True), JobConfig(max_bytes=5), JobConfig(in_a_shell=True)]
    assert {treatment.key() for treatment in same} == {JobConfig().key()}


def test_files_count_by_their_content():
    keys = []
    for content in (np.zeros(3), np.ones(3)):
        np.savez("x.npz", x=content)
        Path("own.py").write_text(f"VALUE = {content[0]}")
        keys += [
            JobConfig(verify=VerifyOptions(feeds=Path("x.npz"))).key(),
            JobConfig(load=(Path("own.py"),)).key(),
        ]
    assert len({*keys}) == 4


WRONG = RewriteOptions("nothing-such"), RewriteOptions.of(max_trip=2)


@pytest.mark.parametrize("how", [JobConfig(options) for options in WRONG])
def test_unfit_options_are_refused_before_the_work(how):
    with pytest.raises(PassOptionError):
        how.check()
    JobConfig(RewriteOptions.of(opset=18, max_trips=2, values={})).check()
    JobConfig(RewriteOptions((), opset=18)).check()
    dataclasses.replace(how, load=(Path("own.py"),)).check()  # it may be one of those


def test_messages_speak_to_who_asks():
    with JobConfig(in_a_shell=True).prepared():
        assert by("--force") == "--force"
    with JobConfig().prepared():
        assert by("--force") == "--force (force=True in Python)"
