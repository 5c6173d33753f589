"""The rules about the host: each with a trace that makes it true, one that does not, and the boundary."""

import pytest

from tracing.explained import call, copy, found, kernel, only


class TestLaunchBound:
    def rows(self, count=11, long=100, takes=50, **more):
        """Calls without a break, each with short work after it."""
        calls = [call("cudaLaunchKernel", long * i, long * i + long, line="p.py:8") for i in range(count)]
        work = [
            kernel(long * (i + 1), long * (i + 1) + takes, call=i, **{"reason": "issued", **more})
            for i in range(count)
        ]
        return calls + work

    def test_true(self):
        finding = only("launch bound", self.rows())
        assert finding.sentence.startswith(
            "The host is slower than the device: in 10 gaps, 500 ns of 1.15 us, the device waits for the next call. A call "
            "takes 100 ns, its work 50 ns (medians). Capture the work around p.py:8 in a graph"
        )
        assert finding.line == "p.py:8"
        assert finding.weight == 500

    def test_true_on_a_gpu(self):
        assert found("launch bound", self.rows(reason=""), source="cupti")

    def test_false_if_the_work_is_longer_than_the_calls(self):
        assert not found("launch bound", self.rows(takes=100))

    def test_false_if_the_host_waits_in_between(self):
        rows = self.rows()
        rows += [
            call("cudaStreamSynchronize", row["start"], row["end"]) for row in rows if row["kind"] == "kernel"
        ]
        for row in rows:
            if row["kind"] == "call" and row["name"] == "cudaLaunchKernel":
                row["end"] = row["start"] + 1
        assert not found("launch bound", rows)

    def test_false_for_nodes_of_a_graph(self):
        assert not found("launch bound", self.rows(graph=0))

    def test_boundary_of_the_number_of_gaps(self):
        assert found("launch bound", self.rows(count=11))
        assert not found("launch bound", self.rows(count=10))

    def test_boundary_of_the_time(self):
        rows = self.rows(takes=80)  # 10 gaps of 20 ns
        assert found("launch bound", rows, duration=2000)
        assert not found("launch bound", rows, duration=2001)


class TestWaits:
    def rows(self, count=3, name="cudaStreamSynchronize", gap=20, thread=0):
        """Launch, wait, launch, wait: the device is idle from the end of the work to the next launch's work."""
        rows = []
        for i in range(count):
            start = i * (100 + gap)
            rows.append(
                call("cudaLaunchKernel", start - 5 if i else 0, start + 1, line="p.py:3", thread=thread)
            )
            rows.append(kernel(start, start + 100, call=3 * i))
            rows.append(call(name, start + 1, start + 105, line="p.py:4"))
        return rows

    @pytest.mark.parametrize("name", ["cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaMemcpy"])
    def test_true(self, name):
        finding = only("waits", self.rows(name=name))
        assert finding.sentence.startswith(
            f"p.py:4 waits for the device 2 times ({name}). Each time the device is then idle until the host issues the "
            "next work, 40 ns in all."
        )
        assert finding.line == "p.py:4"
        assert finding.weight == 40

    def test_false_if_the_call_does_not_wait(self):
        assert not found("waits", self.rows(name="cudaStreamQuery"))

    def test_false_if_another_thread_issues_the_next_work(self):
        assert not found("waits", self.rows(thread=1))

    def test_false_if_the_call_waits_for_pageable_memory(self):
        rows = self.rows(name="cudaMemcpyAsync")
        rows += [copy(row["start"], row["start"] + 1, pageable=True, call=i) for i, row in enumerate(rows)]
        for row in rows[2:9:3]:
            row["cause"] = 1
        assert not found("waits", rows)

    def test_boundary_of_the_number(self):
        assert found("waits", self.rows(count=3))
        assert not found("waits", self.rows(count=2))  # one gap

    def test_boundary_of_the_time(self):
        assert found("waits", self.rows(), duration=4000)
        assert not found("waits", self.rows(), duration=4001)


class TestAllocations:
    def rows(self, name="cudaMalloc", takes=10, count=2):
        work = [kernel(0, 100), kernel(900, 1000)]
        return work + [call(name, 95 + 100 * i, 95 + 100 * i + takes, line="p.py:6") for i in range(count)]

    def test_true(self):
        finding = only("allocations", self.rows())
        assert finding.sentence == (
            "p.py:6 calls cudaMalloc 2 times between work. The host spends 20 ns there; the device is idle 15 ns of it. "
            "Allocate once before the loop, or in stream order (cs.empty, stream.malloc_async)."
        )
        assert finding.weight == 15

    def test_page_locked_memory_has_no_stream_order(self):
        assert only("allocations", self.rows("cudaHostAlloc")).sentence.endswith(
            "Allocate once before the loop."
        )

    def test_false_in_stream_order(self):
        assert not found("allocations", self.rows("cudaMallocAsync"))

    def test_false_before_the_work(self):
        rows = [call("cudaMalloc", 100 * i, 100 * i + 50) for i in range(4)] + [kernel(400, 500)]
        assert not found("allocations", rows)

    def test_boundary_of_the_number(self):
        assert found("allocations", self.rows(count=2))
        assert not found("allocations", self.rows(count=1, takes=100))

    def test_boundary_of_the_time(self):
        assert found("allocations", self.rows(takes=5))
        assert not found("allocations", self.rows(takes=4))


class TestProgramCode:
    def rows(self, idle=500):
        return [
            {"kind": "range", "name": "prepare", "start": 0, "end": 1000, "thread": 0},
            call("cudaLaunchKernel", 0, 10, range=0),
            kernel(10, 900 - idle, call=1),
            call("cudaLaunchKernel", 900, 910, range=0, line="p.py:33"),
            kernel(900, 1000, call=3),
        ]

    def test_true(self):
        finding = only("program code", self.rows())
        assert finding.sentence.startswith(
            "The device is idle for 500 ns of 1 us (50 %) while the host runs the program's own code, 500 ns of it before "
            "p.py:33 in the range 'prepare'."
        )
        assert finding.line == "p.py:33"
        assert finding.weight == 490  # the work of the device: no more can be hidden

    def test_false_if_the_host_is_in_calls(self):
        assert not found("program code", [*self.rows(), call("cudaDeviceSynchronize", 10, 900)])

    def test_false_if_calls_are_unknown(self):
        assert not found("program code", [kernel(0, 100), kernel(900, 1000)], source="events")

    def test_boundary(self):
        assert found("program code", self.rows(idle=100))
        assert not found("program code", self.rows(idle=99))
