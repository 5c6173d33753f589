"""The notebooks of the course, and the helpers that they share: ``from cuscope import course``.

`python -m cuscope notebooks` copies the notebooks to a folder. They read nothing but the installed package.

>>> from cuscope import course
>>> [path.name for path in course.notebooks()][0]
'01_memory_kernels_errors.ipynb'
"""

from .copying import Copied, copy_notebooks, notebooks
from .exercises import exercise
from .measuring import milliseconds, results, work
from .plotting import follow_theme
from .sources import kernel, kernel_sources, kernels, show

__all__ = [
    "Copied",
    "copy_notebooks",
    "exercise",
    "follow_theme",
    "kernel",
    "kernel_sources",
    "kernels",
    "milliseconds",
    "notebooks",
    "results",
    "show",
    "work",
]
