"""The rules about copies: each with a trace that makes it true, one that does not, and the boundary."""

import numpy as np

import cuscope as cs
from tracing.explained import call, copy, found, kernel, only

LINK = {"pcie_bandwidth": 50.0}


class TestPageableCopies:
    def rows(self, pageable=True, end=1000, bytes_=10_000):
        return [
            call("cudaMemcpyAsync", 0, 1000, line="p.py:12"),
            copy(0, end, bytes=bytes_, pageable=pageable, call=0),
            kernel(500, 1000, stream=8),
        ]

    def test_true(self):
        finding = only("pageable copies", self.rows(), device=LINK)
        assert finding.sentence == (
            "p.py:12 copies 9.77 KiB of pageable memory in 1 us (10 GB/s). The host stays in the calls for 1 us. During "
            "50 % of that time no kernel runs. Put the data into page-locked memory: cs.pinned_empty copies at 50 GB/s, "
            "while the host goes on and kernels run."
        )
        assert finding.line == "p.py:12"
        assert finding.weight == 1000 - 200

    def test_true_without_the_bandwidth_has_no_saving(self):
        finding = only("pageable copies", self.rows())
        assert finding.weight is None
        assert "cs.pinned_empty copies, while" in finding.sentence

    def test_false(self):
        assert not found("pageable copies", self.rows(pageable=False), device=LINK)

    def test_boundary(self):
        assert found("pageable copies", self.rows(end=10), duration=1000)
        assert not found("pageable copies", self.rows(end=9), duration=1000)

    def test_copies_of_few_bytes_would_not_be_faster(self):
        assert found("pageable copies", self.rows(bytes_=4096), device=LINK)
        assert not found("pageable copies", self.rows(bytes_=4095), device=LINK)
        assert not found("pageable copies", self.rows(bytes_=4), device=LINK)


class TestSmallCopies:
    def rows(self, count=8, bytes_=1000, takes=40, **more):
        return [copy(100 * i, 100 * i + takes, bytes=bytes_, **more) for i in range(count)]

    def test_true(self):
        finding = only("small copies", self.rows(count=10, takes=100), device=LINK)
        assert finding.sentence == (
            "p.py:12 makes 10 copies to the device of 1000 bytes on average at 10 GB/s, where the device can copy 50 GB/s: "
            "each one takes 100 ns, most of it fixed. Put the data into one array and copy it once."
        )
        assert finding.weight == 1000 - 200

    def test_false_for_large_copies(self):
        assert not found("small copies", self.rows(bytes_=2000), device=LINK)

    def test_false_for_pageable_copies(self):
        assert not found("small copies", self.rows(takes=100, pageable=True), device=LINK)

    def test_false_without_the_bandwidth(self):
        assert not found("small copies", self.rows(takes=100))

    def test_false_if_the_line_makes_few(self):
        assert not found("small copies", self.rows(count=7, takes=100), device=LINK)

    def test_boundary(self):
        assert not found("small copies", self.rows(takes=40), device=LINK)  # 25 GB/s: half of the bandwidth
        assert found("small copies", self.rows(takes=41), device=LINK)


class TestOneCopyEngine:
    def rows(self, late=100):
        return [
            copy(0, 500),
            copy(
                500,
                1000,
                "to host",
                stream=8,
                cause=0,
                reason="engine",
                issued=500 - late,
                ready=0,
                line="p.py:13",
            ),
        ]

    def test_true(self):
        finding = only("one copy engine", self.rows(), device={"copy_engines": 1})
        assert "cuda:0 has one copy engine for both directions: copies wait 100 ns" in finding.sentence
        assert finding.line == "p.py:13"

    def test_false_with_two_engines(self):
        assert not found("one copy engine", self.rows(), device={"copy_engines": 2})

    def test_false_in_one_direction(self):
        rows = self.rows()
        rows[1]["engine"] = "copy to device"
        assert not found("one copy engine", rows, device={"copy_engines": 1})

    def test_false_if_the_reason_is_unknown(self):
        rows = self.rows()
        rows[1]["reason"] = ""
        assert not found("one copy engine", rows, device={"copy_engines": 1}, source="cupti")

    def test_boundary(self):
        assert found("one copy engine", self.rows(late=10), device={"copy_engines": 1})
        assert not found("one copy engine", self.rows(late=9), device={"copy_engines": 1})


class TestSharedStream:
    def rows(self, **more):
        return [copy(0, 400), kernel(400, 600, line="p.py:20"), copy(600, 1000, "to host", **more)]

    def test_true_with_the_time_of_a_pipeline(self):
        finding = only("shared stream", self.rows())
        # (400 + 200 + 400 + 7 * 400) / 8
        assert "with 8 chunks they take about 475 ns in place of 1 us." in finding.sentence
        assert finding.weight == 1000 - 475
        assert finding.line == "p.py:20"
        assert "pinned" not in finding.sentence

    def test_one_copy_engine_makes_a_longer_pipeline(self):
        # (800 + 200 + 7 * 800) / 8
        finding = only("shared stream", self.rows(), device={"copy_engines": 1})
        assert "with 8 chunks they take about 825 ns" in finding.sentence

    def test_a_program_in_chunks_keeps_their_number(self):
        rows = [
            row
            for i in range(4)
            for row in (copy(100 * i, 100 * i + 50), kernel(100 * i + 50, 100 * i + 100))
        ]
        # (200 + 200 + 3 * 200) / 4
        assert (
            "with 4 chunks they take about 250 ns in place of 400 ns" in only("shared stream", rows).sentence
        )

    def test_pageable_memory_is_mentioned(self):
        assert "cs.pinned_empty" in only("shared stream", self.rows(pageable=True)).sentence

    def test_false_with_two_streams(self):
        assert not found("shared stream", self.rows(stream=8))

    def test_false_if_the_stream_is_unknown(self):
        assert not found("shared stream", [copy(0, 500, stream=-1), kernel(500, 1000, stream=-1)])

    def test_false_without_copies(self):
        assert not found("shared stream", [kernel(0, 100), kernel(100, 200)])

    def test_boundary(self):
        assert found("shared stream", [copy(0, 100), kernel(100, 1000)])
        assert not found("shared stream", [copy(0, 99), kernel(99, 1000)])


class TestTheLinkOfARecordedTrace:
    def rules(self, source, times):
        with cs.Device("host:0"):
            x, stream = cs.zeros(source.size, source.dtype), cs.Stream()
            cs.synchronize()
            with cs.trace() as t:
                for _ in range(times):
                    x.copy_from(source, stream=stream)
        return {finding.rule: finding for finding in t.explain()}

    def test_small_copies_are_compared_with_the_models_bandwidth(self):
        with cs.Device("host:0"):  # with a GPU, the memory would be page-locked for that one
            source = cs.pinned_empty(10, np.float32)
        finding = self.rules(source, 200)["small copies"]
        rate = cs.model("h200").host_to_device_rate
        assert f"where the device can copy {rate:g} GB/s" in finding.sentence
        assert finding.weight > 0

    def test_pageable_copies_have_a_saving(self):
        assert self.rules(np.zeros(1 << 20, np.float32), 3)["pageable copies"].weight > 0

    def test_a_device_without_a_known_model_has_the_rate_of_its_large_copies(self):
        large = [copy(0, 1 << 20, bytes=40 << 20)]
        small = [copy((2 << 20) + 1000 * i, (2 << 20) + 1000 * i + 900, bytes=40) for i in range(2000)]
        finding = only("small copies", large + small, device={"pcie_bandwidth": None})
        assert "where the device can copy 40 GB/s" in finding.sentence
