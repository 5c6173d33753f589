"""Settings of the documents as a site: make docs, or sphinx-build -c docs . build/docs/html.

The source folder is the repository, so a link between two files of it is right on a code host and on the site.
"""

import sys
from pathlib import Path

import cuscope

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "cuscope"
author = "the authors of cuscope"
project_copyright = author
version = release = cuscope.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "docstrings",
    "first_page",
    "folder_links",
    "name_links",
    "notebook_pages",
    "picture_themes",
    "public_names",
    "signatures",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "notebooks/*.ipynb",
    "cuda_kernels/*/README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]
exclude_patterns = [  # Sphinx does not look into these folders
    ".*", "benchmarks", "build", "cmake", "dist", "docs/extensions", "notebooks/sources", "python", "src", "tests",
    "third_party", "tools",
]  # fmt: skip

myst_heading_anchors = 4
suppress_warnings = ["toc.empty_glob"]
smartquotes = False  # options such as --json keep their hyphens
default_role = "literal"  # single backticks in docstrings
nitpicky = True
nitpick_ignore_regex = [
    # Types of Python, NumPy and typing: without a network, their documents cannot be asked.
    (r"py:.*", r"(numpy|np|npt|collections|typing|os|ml_dtypes|types)\..*"),
    (r"py:.*", r"(Any|ArrayLike|Callable|DTypeLike|EllipsisType|Iterable|Iterator|Mapping|Info|NDArray|NoReturn|PathLike|Sequence|Path|Literal|Self)"),
]  # fmt: skip

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 100
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"cuscope {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
