"""The rules about the whole program: each with a trace that makes it true, one that does not, and the boundary."""

import pytest

from tracing.explained import call, copy, found, kernel, only


class TestDroppedSpans:
    def test_true(self):
        finding = only("dropped spans", [kernel(0, 10)], dropped=1200)
        assert finding.sentence.startswith("The trace dropped 1200 spans at its limit")
        assert "limit=" in finding.sentence

    def test_false(self):
        assert not found("dropped spans", [kernel(0, 10)])

    def test_boundary(self):
        assert "1 span at" in only("dropped spans", [], dropped=1).sentence


class TestMeasuredByEvents:
    def test_true(self):
        finding = only("measured by events", [kernel(0, 10, engine="")], source="events")
        assert "includes waits for an engine" in finding.sentence
        assert "CUSCOPE_TRACE_GPU=1" in finding.sentence

    @pytest.mark.parametrize("source", ["simulation", "cupti", "calls"])
    def test_false(self, source):
        assert not found("measured by events", [kernel(0, 10)], source=source)


class TestBoundingEngine:
    def test_true_for_copies_with_the_part_of_the_kernels_that_they_hide(self):
        rows = [copy(0, 9_700), kernel(9_400, 10_000, stream=8)]
        finding = only("bounding engine", rows)
        assert finding.sentence.startswith(
            "Copies to the device bound the program: they are busy 9.7 us of 10 us (97 %), and hide 50 % of the kernel time."
        )
        assert finding.line == "p.py:12"
        assert not found("no bound", rows)

    @pytest.mark.parametrize(
        ("row", "subject"),
        [
            (kernel(0, 100), "Kernels bound"),
            (copy(0, 100, "to host"), "Copies to the host bound"),
            (copy(0, 100, "on device"), "Copies on the device bound"),
            ({**copy(0, 100), "kind": "host function", "engine": "host functions"}, "Host functions bound"),
        ],
    )
    def test_true_for_each_engine(self, row, subject):
        assert only("bounding engine", [row]).sentence.startswith(subject)

    def test_false(self):
        assert not found("bounding engine", [kernel(0, 50), copy(50, 100)])

    def test_false_if_the_engine_is_unknown(self):
        assert not found("bounding engine", [kernel(0, 100, engine="")], source="events")

    def test_boundary(self):
        assert found("bounding engine", [kernel(0, 900)], duration=1000)
        assert not found("bounding engine", [kernel(0, 899)], duration=1000)

    def test_of_several_devices_the_device_is_named(self):
        rows = [kernel(0, 100), kernel(0, 10, device="cuda:1")]
        finding = only("bounding engine", rows, devices={"cuda:0": {}, "cuda:1": {}})
        assert finding.sentence.startswith("Kernels of cuda:0 bound")


class TestNoBound:
    rows = (
        call("cudaLaunchKernel", 0, 400),
        kernel(400, 600, call=0, reason="issued"),
        copy(600, 1000, cause=1, reason="stream order"),
    )

    def test_true(self):
        finding = only("no bound", list(self.rows))
        assert finding.sentence == (
            "No engine bounds the program: the busiest engine, copy to device, works 40 % of 1 us, and no device works "
            "40 % of it. The critical path is 40 % call, 40 % copy, 20 % kernel."
        )

    def test_true_for_a_slow_host_and_its_boundary(self):
        def rows(host):
            return [call("cudaLaunchKernel", 0, host), kernel(host, 1000, call=0, reason="issued")]

        assert only("no bound", rows(500)).sentence.startswith("The host bounds the program")
        assert only("no bound", rows(499)).sentence.startswith("No engine bounds the program")

    def test_true_with_inferred_causes(self):
        rows = [kernel(0, 500), copy(500, 1000)]
        assert "The critical path (partly inferred) is" in only("no bound", rows, source="cupti").sentence

    def test_false(self):
        assert not found("no bound", [kernel(0, 100)])

    def test_false_if_an_engine_is_unknown(self):
        assert not found("no bound", [kernel(0, 50, engine=""), copy(50, 100)], source="events")

    def test_boundary(self):
        assert found("no bound", [kernel(0, 899)], duration=1000)
        assert not found("no bound", [kernel(0, 900)], duration=1000)
