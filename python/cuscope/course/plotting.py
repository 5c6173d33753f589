"""Figures of Matplotlib in the colours of the page, light or dark."""

from __future__ import annotations

import io
import itertools
import re
import sys
from typing import TYPE_CHECKING, Any

from .._theme import theme_rules

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["follow_theme"]

# Stands for the colour of text and lines until the picture is in a page.
_INK = "#7c8187"
_numbers = itertools.count(1)
_THEMES = {
    "light": (("csInk", "--cs-ink", "#222222"),),
    "dark": (("csInk", "--cs-ink", "#dfe2e6"),),
}
_PARAMETERS = {
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor", "legend.facecolor"), "none"),
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"),
        _INK,
    ),
    "legend.framealpha": 0,
    "svg.fonttype": "none",
}


def follow_theme() -> None:
    """Let figures of Matplotlib have the colours of the notebook's page: text and lines for light or dark, no background.

    From now on, IPython shows figures as SVG. Outside of IPython only the default colours of new figures change, to a grey
    that can be read on both. Colours that you choose yourself stay. Raises ImportError without Matplotlib.

    >>> import matplotlib
    >>> from cuscope import course
    >>> with matplotlib.rc_context():
    ...     course.follow_theme()
    ...     matplotlib.rcParams["figure.facecolor"]
    'none'
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    parameters: Any = mpl.rcParams  # their names differ between versions of Matplotlib
    parameters.update(_PARAMETERS)
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or "inline" not in mpl.get_backend():
        return
    import matplotlib_inline.backend_inline  # noqa: F401, it registers its own formats, which the next lines replace

    formatters: dict[str, Any] = shell.display_formatter.formatters
    for format_ in ("image/png", "image/svg+xml"):
        formatters[format_].pop(Figure, None)
    formatters["text/html"].for_type(Figure, _html)


def _html(figure: Figure) -> str:
    """The figure as SVG within a page, whose ink is that of the page's theme."""
    file = io.StringIO()
    figure.savefig(file, format="svg", bbox_inches="tight")
    svg = re.sub(r"^.*?(?=<svg)", "", file.getvalue(), flags=re.DOTALL)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL).replace(_INK, "var(--cs-ink)")
    name = f"csf{next(_numbers)}"
    return f'<div id="{name}"><style>{"".join(theme_rules(f"#{name}", _THEMES))}</style><div class="csInk">{svg}</div></div>'
