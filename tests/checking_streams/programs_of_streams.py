"""Programs whose mistake is in the order of two streams, or of a stream and the host."""

from checking_streams.planted import Program

RACE, EARLY, LATE = "race between streams", "read too early", "written too early"

PROGRAMS = [
    # ---- two streams
    Program("copy then kernel", RACE, """
        x = cs.empty(n, stream=s)
        y = cs.empty(n, stream=t)
        x.copy_from(ones, stream=s)  #1
        + t.wait(s)
        k.copy[1, n, t](x, y)  #2
    """, says="t.wait(s)"),
    Program("memset then kernel", RACE, """
        x = cs.zeros(n, stream=s)  #1
        + event = s.record()
        + t.wait(event)
        k.twice[1, n, t](x)  #2
    """),
    Program("kernel then memset", RACE, """
        x = cs.zeros(n, stream=s)
        t.wait(s)
        k.read_only[1, n, s](x)  #1
        + t.wait(s)
        x.fill(3, stream=t)  #2
    """),
    Program("two kernels write", RACE, """
        x = cs.empty(n, stream=s)
        k.set[1, n, s](x, 1.0)  #1
        + t.wait(s)
        k.set[1, n, t](x, 2.0)  #2
    """),
    Program("write after read", RACE, """
        x = cs.zeros(n, stream=s)
        t.wait(s)
        k.read_only[1, n, s](x)  #1
        + t.wait(s)
        k.twice[1, n, t](x)  #2
    """),
    Program("copy on the device then kernel", RACE, """
        x, y = cs.zeros(n, stream=s), cs.empty(n, stream=s)
        y.copy_from(x, stream=s)  #1
        + t.wait(s)
        k.twice[1, n, t](y)  #2
    """),
    Program("copy to the host of another stream's result", RACE, """
        x = cs.empty(n, stream=s)
        k.set[1, n, s](x, 1.0)  #1
        + t.wait(s)
        x.to_host(stream=t)  #2
    """),
    Program("reuse of a buffer while it is copied out", RACE, """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        t.wait(s)
        x.copy_to(h, stream=t)  #1
        + s.wait(t)
        k.twice[1, n, s](x)  #2
    """),
    Program("page-locked memory is filled while it is sent", RACE, """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        y = cs.zeros(n, stream=t)
        x.copy_to(h, stream=s)  #1
        + t.wait(s)
        y.copy_from(h, stream=t)  #2
    """),
    Program("event recorded before the work", RACE, """
        x = cs.empty(n, stream=s)
        - event = s.record()
        k.set[1, n, s](x, 1.0)  #1
        + event = s.record()
        t.wait(event)
        k.twice[1, n, t](x)  #2
    """),
    Program("event recorded again in another stream", RACE, """
        x, y = cs.empty(n, stream=s), cs.empty(n, stream=t)
        event = cs.Event()
        k.set[1, n, s](x, 1.0)  #1
        s.record(event)
        - t.record(event)
        u = cs.Stream(non_blocking=True)
        u.wait(event)
        k.twice[1, n, u](x)  #2
    """),
    Program("wait in the wrong stream", RACE, """
        x = cs.empty(n, stream=s)
        k.set[1, n, s](x, 1.0)  #1
        event = s.record()
        - s.wait(event)
        + t.wait(event)
        k.twice[1, n, t](x)  #2
    """),
    Program("only one of two readers is waited for", RACE, """
        x = cs.zeros(n, stream=s)
        u = cs.Stream(non_blocking=True)
        t.wait(s); u.wait(s)
        k.read_only[1, n, t](x)
        k.read_only[1, n, u](x)  #1
        s.wait(t)
        + s.wait(u)
        k.twice[1, n, s](x)  #2
    """),
    Program("chain with a missing link", RACE, """
        x = cs.zeros(n, stream=s)  #1
        u = cs.Stream(non_blocking=True)
        + t.wait(s)
        u.wait(t)
        k.twice[1, n, u](x)  #2
    """),
    Program("halves that overlap", RACE, """
        x = cs.zeros(n, stream=s)
        t.wait(s)
        - k.set[1, n // 2 + 1, s](x, 1.0)  #1
        + k.set[1, n // 2, s](x, 1.0)
        k.set[1, n // 2, t](x[n // 2:], 2.0)  #2
    """, host_only=True),
    Program("one element of two kernels", RACE, """
        x = cs.zeros(n, stream=s)
        t.wait(s)
        k.set_one[1, 1, s](x, 5)  #1
        - k.set_one[1, 1, t](x, 5)  #2
        + k.set_one[1, 1, t](x, 6)  #2
    """, says="bytes 20 to 23", host_only=True),
    Program("sum of another stream's array", RACE, """
        x, total = cs.empty(n, stream=s), cs.empty((), stream=t)
        k.set[1, n, s](x, 1.0)  #1
        + t.wait(s)
        cs.sum(x, out=total, stream=t)  #2
    """),
    Program("result of a sum in another stream", RACE, """
        x, total = cs.zeros(n, stream=s), cs.empty(1, stream=s)
        cs.sum(x, out=total.reshape(()), stream=s)  #1
        + t.wait(s)
        k.read_only[1, 1, t](total)  #2
    """),
    Program("product of another stream's matrices", RACE, """
        a, c = cs.zeros((16, 16), stream=s), cs.empty((16, 16), stream=t)  #1
        + t.wait(s)
        cs.matmul(a, a, out=c, stream=t)  #2
    """),
    Program("default stream and a stream that does not wait for it", RACE, """
        x = cs.empty(n)
        k.set[1, n](x, 1.0)  #1
        - u = cs.Stream(non_blocking=True)
        + u = cs.Stream()
        k.twice[1, n, u](x)  #2
    """, says="device.default_stream"),
    Program("copy of rows", RACE, """
        x = cs.zeros((8, 32), stream=s)
        t.wait(s)
        x[:, :16].copy_from(np.ones((8, 16), np.float32), stream=s)  #1
        - x[:, 8:].copy_from(np.ones((8, 24), np.float32), stream=t)  #2
        + x[:, 16:].copy_from(np.ones((8, 16), np.float32), stream=t)  #2
    """),
    Program("batch of copies", RACE, """
        x, y = cs.zeros(n, stream=s), cs.zeros(n, stream=s)
        + t.wait(s)
        cs.copy_batch([(y, x)], stream=t)  #2
    """),
    Program("managed memory of two streams", RACE, """
        x = cs.empty_managed(n)
        k.set[1, n, s](x, 1.0)  #1
        + t.wait(s)
        k.twice[1, n, t](x)  #2
    """),
    # ---- the host
    Program("read of page-locked memory", EARLY, """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        x.copy_to(h, stream=s)  #1
        + s.synchronize()
        total = h.sum()  #2
    """, says="s.synchronize()"),
    Program("read of an element", EARLY, """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        x.copy_to(h, stream=s)  #1
        + s.record().synchronize()
        first = h[0]  #2
    """),
    Program("numpy function", EARLY, """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        x.copy_to(h, stream=s)  #1
        + device.synchronize()
        same = np.array_equal(h, ones)  #2
    """),
    Program("numpy operator", EARLY, """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        x.copy_to(h, stream=s)  #1
        + s.synchronize()
        more = h[10:20] + 1  #2
    """, says="bytes 40 to 79"),
    Program("list of elements", EARLY, """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        x.copy_to(h, stream=s)  #1
        + s.synchronize()
        elements = h.tolist()  #2
    """),
    Program("event before the copy is waited for", EARLY, """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        - event = s.record()
        x.copy_to(h, stream=s)  #1
        + event = s.record()
        event.synchronize()
        first = h[0]  #2
    """),
    Program("another stream is waited for", EARLY, """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        x.copy_to(h, stream=s)  #1
        - t.synchronize()
        + s.synchronize()
        first = h[0]  #2
    """),
    Program("page-locked memory is changed while it is sent", LATE, """
        x, h = cs.empty(n, stream=s), cs.pinned_empty(n)
        h[:] = 1
        x.copy_from(h, stream=s)  #1
        + s.synchronize()
        h[:] = 2  #2
    """),
    Program("page-locked memory is filled while it is received", LATE, """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        x.copy_to(h, stream=s)  #1
        + s.synchronize()
        h.fill(0)  #2
    """),
    Program("add in place while it is sent", LATE, """
        x, h = cs.empty(n, stream=s), cs.pinned_empty(n)
        h[:] = 1
        x.copy_from(h, stream=s)  #1
        + s.synchronize()
        h += 1  #2
    """),
    Program("kernel in mapped memory", EARLY, """
        h = cs.pinned_empty(n, mapped=True)
        k.set[1, n, s](h, 1.0)  #1
        + s.synchronize()
        first = h[0]  #2
    """),
    Program("managed memory is read by the host", EARLY, """
        x = cs.empty_managed(n)
        view = x.host_view()
        k.set[1, n, s](x, 1.0)  #1
        + s.synchronize()
        first = view[0]  #2
    """),
    Program("second of two buffers", EARLY, """
        x, h = cs.zeros(n, stream=s), [cs.pinned_empty(n), cs.pinned_empty(n)]
        x.copy_to(h[0], stream=s)
        event = s.record()
        x.copy_to(h[1], stream=s)  #1
        event.synchronize()
        - first = h[1][0]  #2
        + first = h[0][0]  #2
    """),
    # ---- host functions
    Program("host function reads too early", RACE, """
        x, h, found = cs.zeros(n, stream=s), cs.pinned_empty(n), []
        x.copy_to(h, stream=s)  #1
        def look():
            found.append(float(h[0]))
        + t.wait(s)
        t.host_function(look)  #2
    """),
    Program("host function writes while a copy reads", RACE, """
        x, h = cs.empty(n, stream=t), cs.pinned_empty(n)
        def produce():
            h[:] = 1
        h.fill(0)
        s.host_function(produce)  #1
        + t.wait(s)
        x.copy_from(h, stream=t)  #2
    """),
    # ---- events
    Program("event that is recorded nowhere", "event never recorded", """
        event = cs.Event()
        + s.record(event)
        t.wait(event)  #2
    """),
    Program("event that is recorded too late", "event never recorded", """
        event = cs.Event()
        + s.record(event)
        t.wait(event)  #2
        - s.record(event)  #1
    """),
    Program("host waits for an event without a record", "event never recorded", """
        event = cs.Event()
        + s.record(event)
        event.synchronize()  #2
    """),
]  # fmt: skip
