"""Random programs of streams, events and the host, and an oracle that finds the races in them by brute force.

The oracle makes a graph of all commands and of the host's calls, and asks for each pair of accesses to the same array
whether a path leads from one to the other. It shares nothing with the check.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

STREAMS = ("default", "blocking", "a", "b")
ARRAYS = ("x", "y", "h")  # h is page-locked
EVENTS = ("e", "f")

streams, events = st.sampled_from(STREAMS), st.sampled_from(EVENTS)
operations = st.one_of(
    st.tuples(st.just("set"), streams, st.sampled_from(("x", "y"))),
    st.tuples(st.just("read"), streams, st.sampled_from(("x", "y"))),
    st.tuples(st.just("copy"), streams, st.sampled_from((("x", "y"), ("y", "x")))),
    st.tuples(st.just("fill"), streams, st.sampled_from(("x", "y"))),
    st.tuples(st.just("send"), streams, st.sampled_from(("x", "y"))),
    st.tuples(st.just("fetch"), streams, st.sampled_from(("x", "y"))),
    st.tuples(st.just("fetch and wait"), streams, st.sampled_from(("x", "y"))),
    st.tuples(st.just("look"), st.none(), st.none()),
    st.tuples(st.just("change"), st.none(), st.none()),
    st.tuples(st.just("record"), streams, events),
    st.tuples(st.just("wait"), streams, events),
    st.tuples(st.just("wait for stream"), streams, streams),
    st.tuples(st.just("synchronize"), streams, st.none()),
    st.tuples(st.just("synchronize event"), st.none(), events),
    st.tuples(st.just("synchronize device"), st.none(), st.none()),
)
programs = st.lists(operations, min_size=2, max_size=24)

LINES = {
    "set": "k.set[1, n, {stream}]({argument}, 1.0)",
    "read": "k.read_only[1, n, {stream}]({argument})",
    "copy": "k.copy[1, n, {stream}]({argument[0]}, {argument[1]})",
    "fill": "{argument}.fill(2, stream={stream})",
    "send": "{argument}.copy_from(h, stream={stream})",
    "fetch": "{argument}.copy_to(h, stream={stream})",
    "fetch and wait": "{argument}.to_host(stream={stream})",
    "look": "h.sum()",
    "change": "h.fill(3)",
    "record": "{stream}.record({argument})",
    "wait": "{stream}.wait({argument})",
    "wait for stream": "{stream}.wait({argument})",
    "synchronize": "{stream}.synchronize()",
    "synchronize event": "{argument}.synchronize()",
    "synchronize device": "device.synchronize()",
}
ACCESSES = {  # what an operation reads and writes; ARG is its argument
    "set": ((), ("ARG",)),
    "read": (("ARG",), ()),
    "fill": ((), ("ARG",)),
    "send": (("h",), ("ARG",)),
    "fetch": (("ARG",), ("h",)),
    "fetch and wait": (("ARG",), ()),
    "look": (("h",), ()),
    "change": ((), ("h",)),
}


def text_of(program: list) -> str:
    """The program in Python, with a line for each operation."""
    return "".join(
        LINES[what].format(stream=stream, argument=argument) + "\n" for what, stream, argument in program
    )


@dataclass
class Oracle:
    """The graph of a program: for each node the nodes directly before it."""

    before: list[set[int]] = field(default_factory=list)
    last: dict[str, int] = field(default_factory=dict)  # of a stream, and of the host
    recorded: dict[str, int] = field(default_factory=dict)
    accesses: list[tuple[int, int, str, bool]] = field(default_factory=list)  # node, line, array, writes

    def node(self, *before: int | None) -> int:
        self.before.append({node for node in before if node is not None})
        return len(self.before) - 1

    def command(self, stream: str) -> int:
        others = {"default": ("blocking",), "blocking": ("default",)}.get(stream, ())
        before = [self.last.get(name) for name in (stream, "host", *others)]
        self.last[stream] = self.node(*before)
        return self.last[stream]

    def host(self, *after: int | None) -> int:
        self.last["host"] = self.node(self.last.get("host"), *after)
        return self.last["host"]

    def wait_for(self, stream: str) -> None:
        streams = ("default", "blocking") if stream == "default" else (stream,)
        self.host(*(self.last.get(name) for name in streams))

    def run(self, program: list) -> None:
        for line, (what, stream, argument) in enumerate(program, 1):
            self.step(line, what, stream, argument)

    def step(self, line: int, what: str, stream: str, argument) -> None:
        if what == "record":
            self.recorded[argument] = self.command(stream)
        elif what == "wait":
            node = self.command(stream)
            self.before[node] |= {self.recorded[argument]} if argument in self.recorded else set()
        elif what == "wait for stream":
            record = self.command(argument)
            self.before[self.command(stream)].add(record)
        elif what == "synchronize":
            self.wait_for(stream)
        elif what == "synchronize event":
            self.host(self.recorded.get(argument))
        elif what == "synchronize device":
            self.host(*(self.last.get(name) for name in STREAMS))
        else:
            node = self.command(stream) if stream else self.host()
            reads, writes = ((argument[0],), (argument[1],)) if what == "copy" else ACCESSES[what]
            for arrays, is_write in ((reads, False), (writes, True)):
                self.accesses += [(node, line, argument if a == "ARG" else a, is_write) for a in arrays]
            if what == "fetch and wait":
                self.wait_for(stream)

    def lies_before(self, earlier: int, later: int) -> bool:
        open_nodes, seen = [later], set()
        while open_nodes:
            node = open_nodes.pop()
            if node == earlier:
                return True
            if node not in seen:
                seen.add(node)
                open_nodes += self.before[node]
        return False

    def races(self) -> dict[str, set[tuple[int, int]]]:
        """For each array the lines of accesses that nothing orders."""
        found: dict[str, set[tuple[int, int]]] = {array: set() for array in ARRAYS}
        for place, (later, line, array, writes) in enumerate(self.accesses):
            for earlier, other_line, other, other_writes in self.accesses[:place]:
                if other != array or earlier == later or not (writes or other_writes):
                    continue
                if not self.lies_before(earlier, later):
                    found[array].add((other_line, line))
        return found
