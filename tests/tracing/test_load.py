"""Traces that come back from files and dictionaries."""

import json

import numpy as np
import pytest

from cuscope.tracing import Trace, load
from traces import copy_and_kernel, random_trace


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
@pytest.mark.parametrize("seed", range(10))
def test_a_loaded_trace_equals_the_saved_one(tmp_path, name, seed):
    trace = random_trace(seed)
    trace.save(tmp_path / name)
    assert load(tmp_path / name) == trace


def test_times_come_back_exactly(tmp_path):
    trace = Trace.from_spans([{"start": -5, "end": 2**60 + 1}, {"start": 2**53 + 1, "end": 2**53 + 2}])
    trace.save(tmp_path / "t.json")
    assert load(tmp_path / "t.json") == trace


def test_the_name_of_the_file_does_not_tell_whether_it_is_compressed(tmp_path):
    copy_and_kernel().save(tmp_path / "t.json.gz")
    (tmp_path / "t.json.gz").rename(tmp_path / "t.json")
    assert load(str(tmp_path / "t.json")) == copy_and_kernel()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x1f\x8b",
        b"\x1f\x8bjunk",
        b"[]",
        b'{"traceEvents":[]}',
        b'{"otherData":{}}',
        b"\xff\xfe",
        b'{"otherData":{',
    ],
)
def test_the_file_of_another_program_is_refused(tmp_path, content):
    (tmp_path / "t.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"t.json' is not a trace of cuscope: load reads the .json"):
        load(tmp_path / "t.json")


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_an_incomplete_file_is_refused(tmp_path, name):
    random_trace(1).save(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(ValueError, match="is damaged"):
        load(tmp_path / name)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"call":2', '"call":99'),
        ('"call":2', '"call":"x"'),
        ('"tid":4,"ts"', '"tid":99,"ts"'),
        ('"span":3', '"span":4'),
        ('"spans":5', '"spans":6'),
        ('"grid":"4096 x 1 x 1"', '"grid":"4096"'),
        ('"grid":"4096 x 1 x 1"', '"grid":"-1 x 1 x 1"'),
        ('"ph":"X"', '"phase":"X"'),
        ('"tracks":{', '"trucks":{'),
        ('"threads":{', '"threads":[],"x":{'),
        ('"ts":1.500', '"ts":null'),
        ("]}\n", ""),
    ],
)
def test_a_changed_file_is_refused(tmp_path, old, new):
    copy_and_kernel().save(tmp_path / "t.json")
    text = (tmp_path / "t.json").read_text()
    assert old in text
    (tmp_path / "t.json").write_text(text.replace(old, new, 1) if old != "]}\n" else text[:-3])
    with pytest.raises(ValueError, match="is damaged"):
        load(tmp_path / "t.json")


def test_a_newer_format_is_refused(tmp_path):
    copy_and_kernel().save(tmp_path / "t.json")
    text = (tmp_path / "t.json").read_text()
    (tmp_path / "t.json").write_text(text.replace('"version":1}', '"version":2}', 1))
    with pytest.raises(ValueError, match="has version 2 of the format, this cuscope reads version 1"):
        load(tmp_path / "t.json")


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "t.json")


@pytest.mark.parametrize("seed", range(5))
def test_a_dictionary_goes_through_json_and_back(seed):
    trace = random_trace(seed)
    assert Trace.from_dict(json.loads(json.dumps(trace.to_dict()))) == trace


def test_columns_may_be_numpy_arrays():
    trace = Trace.from_spans([{"name": "a", "start": 0, "end": 10}])
    data = trace.to_dict()
    data["spans"] = {column: np.array(values) for column, values in data["spans"].items()}
    data["duration"] = np.int64(data["duration"])

    assert Trace.from_dict(data) == trace


def test_a_dictionary_is_independent_of_the_trace():
    trace = copy_and_kernel()
    data = trace.to_dict()
    data["devices"]["host:0"]["model"] = "another"
    data["spans"]["start"][0] = 77
    assert trace == copy_and_kernel()


def test_a_wrong_dictionary_is_refused():
    data = copy_and_kernel().to_dict()
    with pytest.raises(ValueError, match="has no 'duration'"):
        Trace.from_dict({key: value for key, value in data.items() if key != "duration"})
    with pytest.raises(ValueError, match="'start' has 1 spans, and 'kind' 5"):
        Trace.from_dict({**data, "spans": {**data["spans"], "start": [0]}})
    with pytest.raises(ValueError, match="the spans have the columns kind; they must be kind, name, start"):
        Trace.from_dict({**data, "spans": {"kind": []}})
    with pytest.raises(ValueError, match="'cause' has a row that is not in the table of 5 spans"):
        Trace.from_dict({**data, "spans": {**data["spans"], "cause": [0, 0, 0, 0, 5]}})


def test_traces_differ_by_spans_and_by_attributes():
    assert copy_and_kernel() == copy_and_kernel()
    assert random_trace(1) != random_trace(2)
    assert Trace.from_spans([], dropped=1) != Trace.from_spans([])
    assert Trace.from_spans([]) != "a trace"
