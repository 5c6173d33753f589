"""The pictures of objects in notebooks, while other threads use, close and capture the objects."""

from __future__ import annotations

from table import operation
from workers import Worker


@operation()
def show_in_a_notebook(w: Worker) -> None:
    kinds = ["streams", "arrays", "plain", "managed", "events", "pools", "modules", "graphs", "executables"]
    objects = w.objects()
    kind = w.random.choice([kind for kind in kinds if getattr(objects, kind)])
    shown = w.random.choice(getattr(objects, kind))._repr_html_()
    # Another thread may have closed a graph, which then has no picture.
    assert shown is None if kind == "graphs" and not shown else shown.startswith("<div")
    assert w.device._repr_html_().startswith("<div")
