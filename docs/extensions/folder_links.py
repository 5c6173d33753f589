"""Links to folders of the repository, which a code host shows and the site does not have: their text alone."""

import re
from pathlib import Path

from sphinx.application import Sphinx

LINK = re.compile(r"\[([^\]\[]+)\]\(([^)#:\s]+)\)")


def remove(app: Sphinx, name: str, source: list[str]) -> None:
    folder = Path(app.env.doc2path(name)).parent
    source[0] = LINK.sub(lambda link: link[1] if (folder / link[2]).is_dir() else link[0], source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", remove)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
