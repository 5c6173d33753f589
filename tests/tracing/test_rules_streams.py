"""The rules about streams and kernels: each with a trace that makes it true, one that does not, and the boundary."""

from tracing.explained import copy, found, kernel, only

STREAMS = {1: {"label": "legacy default"}, 7: {"label": "stream 7"}, 8: {"label": "stream 8"}}


class TestDefaultStream:
    def rows(self, late=100, **more):
        return [
            kernel(0, 500, stream=1, line="p.py:9"),
            kernel(500, 1000, cause=0, reason="default stream", issued=500 - late, line="p.py:10", **more),
        ]

    def test_true_names_the_line_of_the_default_stream(self):
        finding = only("default stream", self.rows(), streams=STREAMS)
        assert finding.sentence == (
            "p.py:9 uses the legacy default stream, which waits for the other streams and lets them wait: it delays work "
            "1 time, by 100 ns in all. Use a stream of your own there, or make the other streams with "
            "cs.Stream(non_blocking=True)."
        )
        assert finding.line == "p.py:9"
        assert finding.weight == 100

    def test_true_for_work_in_the_default_stream_itself(self):
        rows = self.rows()
        rows[0]["stream"], rows[1]["stream"] = 7, 1
        assert only("default stream", rows, streams=STREAMS).line == "p.py:10"

    def test_false_if_the_reason_is_another(self):
        rows = self.rows()
        rows[1]["reason"] = "stream order"
        assert not found("default stream", rows, streams=STREAMS)

    def test_false_if_the_reason_is_unknown(self):
        rows = self.rows()
        rows[1]["reason"] = ""
        assert not found("default stream", rows, streams=STREAMS, source="cupti")

    def test_false_if_the_stream_was_busy_until_then(self):
        rows = [*self.rows(), kernel(0, 499)]
        assert not found("default stream", rows, streams=STREAMS)

    def test_boundary(self):
        assert found("default stream", self.rows(late=10), streams=STREAMS)
        assert not found("default stream", self.rows(late=9), streams=STREAMS)


class TestHardwareQueue:
    def rows(self, late=100, reason="queue", **more):
        return [
            kernel(0, 500),
            {
                **kernel(
                    500, 1000, stream=8, cause=0, reason=reason, issued=0, ready=500 - late, line="p.py:5"
                ),
                **more,
            },
        ]

    def test_true(self):
        finding = only("hardware queue", self.rows())
        assert finding.sentence.startswith(
            "Work of p.py:5 is ready but waits behind work of other streams in a hardware queue 1 time, 100 ns in all."
        )
        assert "breadth first" in finding.sentence
        assert finding.line == "p.py:5"
        assert finding.weight == 100

    def test_false(self):
        assert not found("hardware queue", self.rows(reason="stream order"))

    def test_false_if_it_is_unknown_when_the_work_was_ready(self):
        assert not found("hardware queue", self.rows(ready=-1))

    def test_boundary(self):
        assert found("hardware queue", self.rows(late=10))
        assert not found("hardware queue", self.rows(late=9))


class TestHostFunctions:
    def rows(self, takes=100, **more):
        function = {"kind": "host function", "engine": "host functions", "device": "cuda:0", "stream": 7}
        return [
            kernel(0, 500),
            {**function, "start": 500, "end": 500 + takes, "cause": 0, "line": "p.py:21"},
            kernel(500 + takes, 1000, **{"cause": 1, "reason": "stream order", **more}),
        ]

    def test_true(self):
        finding = only("host functions", self.rows())
        assert finding.sentence.startswith(
            "Work waits for the end of 1 host function (p.py:21), and the device is idle for 100 ns."
        )
        assert finding.line == "p.py:21"
        assert finding.weight == 100

    def test_false_if_no_work_waits_for_it(self):
        assert not found("host functions", self.rows(cause=-1))

    def test_false_if_other_work_runs_beside_it(self):
        assert not found("host functions", [*self.rows(), copy(400, 700, stream=8)])

    def test_boundary(self):
        assert found("host functions", self.rows(takes=50))
        assert not found("host functions", self.rows(takes=49))


class TestSmallKernels:
    device = {"multiprocessors": 100}  # noqa: RUF012

    def rows(self, blocks=25, end=400):
        return [kernel(0, end, grid=(blocks, 1, 1), line="p.py:30"), copy(0, 1000)]

    def test_true(self):
        finding = only("small kernels", self.rows(), device=self.device)
        assert finding.sentence == (
            "The kernel 'add' (p.py:30) has 25 blocks for 100 multiprocessors, and runs alone for 400 ns (40 %). Use more "
            "blocks, or run independent kernels beside it in other streams."
        )
        assert finding.line == "p.py:30"
        assert finding.weight == 300

    def test_kernels_of_different_sizes(self):
        rows = [*self.rows(blocks=1), kernel(500, 900, grid=(5, 2, 3), line="p.py:30")]
        assert "has 30 blocks at most for 100" in only("small kernels", rows, device=self.device).sentence

    def test_false_beside_another_kernel(self):
        rows = [*self.rows(), kernel(0, 400, stream=8, grid=(200, 1, 1))]
        assert not found("small kernels", rows, device=self.device)

    def test_false_if_the_grid_or_the_device_is_unknown(self):
        assert not found("small kernels", self.rows(blocks=0), device=self.device)
        assert not found("small kernels", self.rows(), device={})

    def test_boundary_of_the_blocks(self):
        assert found("small kernels", self.rows(blocks=99), device=self.device)
        assert not found("small kernels", self.rows(blocks=100), device=self.device)

    def test_boundary_of_the_time(self):
        assert found("small kernels", self.rows(end=100), device=self.device)
        assert not found("small kernels", self.rows(end=99), device=self.device)
