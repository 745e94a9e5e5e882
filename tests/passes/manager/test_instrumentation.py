"""Watching passes at work."""

import straightline as sl
from straightline.passes import Pipeline, UnrollLoops, watching
from straightline.passes.base import current_watcher
from texts import HEADER, LOOP


class Recorder:
    """Notes what it is told, with the number of nodes."""

    def __init__(self):
        self.told = []

    def before(self, pass_, model):
        self.told.append(("before", pass_.name, len(model.graph)))

    def after(self, pass_, model, changed):
        self.told.append(("after", pass_.name, len(model.graph), changed))


def test_each_pass_is_told_before_and_after():
    recorder = Recorder()
    with watching(recorder):
        Pipeline([UnrollLoops()]).run(sl.ir.parse(HEADER + LOOP))
    (before, after) = recorder.told
    assert before == ("before", "unroll-loops", 2)
    assert after[:2] == ("after", "unroll-loops") and after[3] is True


def test_nobody_is_told_afterwards():
    recorder, before = Recorder(), current_watcher()
    with watching(recorder):
        assert current_watcher() is recorder
    assert current_watcher() is before
    Pipeline([UnrollLoops()]).run(sl.ir.parse(HEADER + LOOP))
    assert recorder.told == []


def test_trials_on_a_copy_are_not_recorded():
    recorder = Recorder()
    with watching(recorder):
        Pipeline([UnrollLoops()]).apply(sl.ir.parse(HEADER + LOOP), trial=True)
    assert recorder.told == []


def test_passes_inside_a_pipeline_are_told_too():
    recorder = Recorder()
    with watching(recorder):
        sl.rewrite(sl.ir.parse(HEADER + LOOP), "selects")
    names = {name for _, name, *_ in recorder.told}
    assert {"selects", "straighten", "unroll-loops", "ifs-to-selects"} <= names
