"""Programs whose mistake is about memory that is gone, about graphs, or about several devices."""

from checking_streams.planted import Program

RACE, FREED, GRAPH = "race between streams", "freed while in use", "race in a graph"

PROGRAMS = [
    # ---- memory that is freed
    Program("freed in the stream while another one writes by address", FREED, """
        x = cs.empty(n, stream=s)
        t.wait(s)
        k.by_address[1, n, t](x.pointer)  #1
        + s.wait(t)
        x.close()  #2
    """, host_only=True),
    Program("freed while another stream reads a view", FREED, """
        x = cs.zeros(n, stream=s)
        y = view_of(x)
        t.wait(s)
        k.read_only[1, n, t](y)  #1
        + s.wait(t)
        x.close()  #2
    """),
    Program("memory that is used again", FREED, """
        x = cs.zeros(n, stream=s)
        y, h = view_of(x), cs.pinned_empty(n)
        t.wait(s)
        y.copy_to(h, stream=t)  #1
        + s.wait(t)
        x.close()  #2
        z = cs.zeros(n, stream=s)
    """),
    Program("sum of memory that was freed", "freed memory", """
        x = cs.zeros(n, stream=s)
        y, total = view_of(x), cs.empty((), stream=s)
        - x.close()  #1
        cs.sum(y, out=total, stream=s)  #2
    """),
    # ---- graphs
    Program("two branches of a captured graph", GRAPH, """
        x = cs.zeros(n, stream=s)
        s.synchronize()
        with s.capture() as graph:
            t.wait(s)
            k.set[1, n, s](x, 1.0)  #1
        +     t.wait(s)
            k.set[1, n, t](x, 2.0)  #2
            s.wait(t)
        graph.instantiate().launch(s)
    """),
    Program("two nodes without an edge", GRAPH, """
        x = cs.zeros(n, stream=s)
        s.synchronize()
        graph = cs.Graph()
        first = graph.add_kernel(k.set[1, n], args=(x, 1.0))  #1
        - second = graph.add_kernel(k.twice[1, n], args=(x,))  #2
        + second = graph.add_kernel(k.twice[1, n], args=(x,), after=first)  #2
        graph.instantiate().launch(s)
    """),
    Program("memset and copy in a graph", GRAPH, """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        s.synchronize()
        graph = cs.Graph()
        first = graph.add_memset(x, 1.0)  #1
        - second = graph.add_copy(h, x)  #2
        + second = graph.add_copy(h, x, after=first)  #2
        graph.instantiate().launch(s)
    """),
    Program("child graph without an edge", GRAPH, """
        x = cs.zeros(n, stream=s)
        s.synchronize()
        inner = cs.Graph()
        inner.add_memset(x, 1.0)  #1
        graph = cs.Graph()
        child = graph.add_child(inner)
        - graph.add_kernel(k.twice[1, n], args=(x,))  #2
        + graph.add_kernel(k.twice[1, n], args=(x,), after=child)  #2
        graph.instantiate().launch(s)
    """),
    Program("graph and a stream", RACE, """
        x = cs.zeros(n, stream=s)
        s.synchronize()
        with s.capture() as graph:
            k.set[1, n, s](x, 1.0)  #1
        exe = graph.instantiate()
        exe.launch(s)
        + t.wait(s)
        k.twice[1, n, t](x)  #2
    """),
    Program("stream and a graph", RACE, """
        x = cs.zeros(n, stream=s)
        t.wait(s)
        s.synchronize()
        with s.capture() as graph:
            k.twice[1, n, s](x)  #2
        exe = graph.instantiate()
        k.set[1, n, t](x, 1.0)  #1
        + s.wait(t)
        exe.launch(s)
    """),
    Program("two graphs in two streams", RACE, """
        x = cs.zeros(n, stream=s)
        s.synchronize()
        with s.capture() as one:
            k.set[1, n, s](x, 1.0)  #1
        with s.capture() as two:
            k.twice[1, n, s](x)  #2
        one, two = one.instantiate(), two.instantiate()
        one.launch(s)
        + t.wait(s)
        two.launch(t)
    """),
    Program("changed node of an executable", RACE, """
        x, y = cs.zeros(n, stream=s), cs.zeros(n, stream=s)
        s.synchronize()
        graph = cs.Graph()
        node = graph.add_memset(x, 1.0)
        exe = graph.instantiate()
        - exe.set_memset(node, y, 1.0)  #1
        exe.launch(s)
        k.twice[1, n, t](y)  #2
    """),
    Program("page-locked memory of a graph is read", "read too early", """
        x, h = cs.zeros(n, stream=s), cs.pinned_empty(n)
        s.synchronize()
        with s.capture() as graph:
            x.copy_to(h, stream=s)  #1
        exe = graph.instantiate()
        exe.launch(s)
        + s.synchronize()
        first = h[0]  #2
    """),
    Program("node without its array", "stale pointer", """
        x = cs.empty(n, stream=s)
        s.synchronize()
        graph = cs.Graph()
        graph.add_kernel(k.by_address[1, n], args=(x.pointer,))  #1
        exe = graph.instantiate()
        - x.close()
        exe.launch(s)  #2
        s.synchronize()
    """, host_only=True),
    Program("event of a graph is recorded too early", RACE, """
        x, event = cs.zeros(n, stream=s), cs.Event()
        s.synchronize()
        graph = cs.Graph()
        node = graph.add_memset(x, 1.0)  #1
        - exe = graph.instantiate()
        + graph.add_event_record(event, after=node)
        + exe = graph.instantiate()
        s.record(event)
        exe.launch(s)
        t.wait(event)
        k.twice[1, n, t](x)  #2
    """),
    Program("updated executable", RACE, """
        x, y = cs.zeros(n, stream=s), cs.zeros(n, stream=s)
        s.synchronize()
        graph, other = cs.Graph(), cs.Graph()
        graph.add_memset(x, 1.0)
        other.add_memset(y, 2.0)  #1
        exe = graph.instantiate()
        - exe.update(other)
        exe.launch(s)
        k.twice[1, n, t](y)  #2
    """),
    Program("host function of a graph", RACE, """
        x, h, found = cs.empty(n, stream=t), cs.pinned_empty(n), []
        h.fill(0)
        def produce():
            h[:] = 1
        with s.capture() as graph:
            s.host_function(produce)
        exe = graph.instantiate()
        exe.launch(s)
        + t.wait(s)
        x.copy_from(h, stream=t)  #2
    """),
    # ---- several devices
    Program("copy to another device", RACE, """
        other = cs.add_host_device("h200") if device.simulated else cs.devices()[1]
        x = cs.empty(n, stream=s)
        with other:
            u = cs.Stream(non_blocking=True)
            y = cs.empty(n, stream=u)
        k.set[1, n, s](x, 1.0)  #1
        + u.wait(s)
        y.copy_from(x, stream=u)  #2
    """, host_only=True),
    Program("event of another device", RACE, """
        other = cs.add_host_device("h200")
        x = cs.empty(n, stream=s)
        with other:
            u = cs.Stream(non_blocking=True)
            y = cs.zeros(n, stream=u)
        x.fill(0, stream=s)
        s.synchronize()
        x.copy_from(y, stream=u)  #1
        + event = u.record()
        + s.wait(event)
        k.twice[1, n, s](x)  #2
    """, host_only=True),
]  # fmt: skip
