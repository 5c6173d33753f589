"""The ordering rules of streams and events, in plain Python. The tests compare a device with this model.

The model knows nothing of time. For each operation it keeps the set of operations that must have ended before it starts
(a bit mask). The rules are those of the CUDA programming guide:

- operations of a stream follow each other;
- an operation of the legacy default stream follows the last operation of every blocking stream, and the next operation
  of every blocking stream follows it; the per-thread default stream is a blocking stream, non-blocking streams are
  exempt;
- after a stream was told to wait for an event, its next operations follow the work before the event's last record; a
  wait for an event that was never recorded does nothing;
- operations that the host issues after it saw the end of an operation follow that operation.

Is a wait itself an operation of its stream, which others then wait for? The guide leaves this open: a runtime may leave
out a wait for work that has ended. So there are two models: the least order that must hold, and the strictest order
that may hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field

LEGACY, PER_THREAD = "legacy", "per-thread"
BLOCKING = ("blocking-0", "blocking-1")
NON_BLOCKING = ("non-blocking-0", "non-blocking-1")
STREAMS = (LEGACY, PER_THREAD, *BLOCKING, *NON_BLOCKING)
OBEY_LEGACY = (PER_THREAD, *BLOCKING)


def bits(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


@dataclass
class Model:
    """The order of operations. Operations are numbered in the order of issue."""

    waits_are_operations: bool = False
    before: list[int] = field(
        default_factory=list
    )  # of each operation: the operations that must have ended, and itself
    last: dict[str, int] = field(default_factory=dict)  # of each stream: its last operation
    # Of each stream: the operations that it was told to wait for.
    awaited: dict[str, int] = field(default_factory=dict)
    recorded: dict[int, int] = field(default_factory=dict)  # of each event: the operation that recorded it
    known: int = 0  # operations that the host has seen the end of

    def pending_for(self, stream: str) -> int:
        """The operations that a new operation of the stream would wait for."""
        previous = [stream]
        if stream == LEGACY:
            previous += OBEY_LEGACY
        elif stream in OBEY_LEGACY:
            previous.append(LEGACY)
        mask = self.known | self.awaited.get(stream, 0)
        for name in previous:
            if name in self.last:
                mask |= self.before[self.last[name]]
        return mask

    def issue(self, stream: str) -> int:
        number = len(self.before)
        self.before.append(self.pending_for(stream) | 1 << number)
        self.last[stream] = number
        return number

    def record(self, event: int, stream: str) -> int:
        self.recorded[event] = self.issue(stream)
        return self.recorded[event]

    def wait(self, stream: str, event: int) -> None:
        """The work before the event's record precedes the next operations of the stream."""
        if event in self.recorded:
            self.wait_for(stream, self.recorded[event])
        elif self.waits_are_operations:
            self.issue(stream)
        else:
            self.before.append(1 << len(self.before))  # numbers are the same in both models

    def wait_for(self, stream: str, operation: int) -> None:
        self.awaited[stream] = self.awaited.get(stream, 0) | self.before[operation]
        if self.waits_are_operations:
            self.issue(stream)
        else:
            self.before.append(1 << len(self.before))

    def is_before(self, first: int, second: int) -> bool:
        return bool(self.before[second] >> first & 1)

    def stream_ended(self, stream: str) -> None:
        """The host saw the end of the stream's last operation."""
        if stream in self.last:
            self.known |= self.before[self.last[stream]]

    def event_ended(self, event: int) -> None:
        if event in self.recorded:
            self.known |= self.before[self.recorded[event]]

    def all_ended(self) -> None:
        self.known = (1 << len(self.before)) - 1


@dataclass
class Cell:
    """A word that operations read and write, and the operations that touched it last."""

    value: int = 0
    writer: int = -1
    readers: list[int] = field(default_factory=list)

    def conflicts(self, writes: bool) -> list[int]:
        return [n for n in ([self.writer, *self.readers] if writes else [self.writer]) if n >= 0]
