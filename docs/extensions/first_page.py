"""The site's index.html, which leads to docs/index.html."""

from pathlib import Path

from sphinx.application import Sphinx

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>cuscope</title>
<meta http-equiv="refresh" content="0; url={target}"><link rel="canonical" href="{target}"></head>
<body><a href="{target}">The documents of cuscope</a></body></html>
"""


def write_index(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        target = app.builder.get_target_uri(app.config.root_doc)
        Path(app.outdir, "index.html").write_text(PAGE.format(target=target), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
