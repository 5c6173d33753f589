"""Pictures in light and dark: where NAME.png has a NAME-dark.png beside it, the site shows the one that fits its theme.

The documents name the light picture alone, so a code host shows it as any other picture.
"""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class PictureThemes(SphinxTransform):
    """Puts the dark picture behind the light one, before Sphinx collects the files of pictures."""

    default_priority = 200

    def apply(self, **kwargs: object) -> None:
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for image in list(self.document.findall(nodes.image)):
            path = Path(image["uri"])
            dark = path.with_name(f"{path.stem}-dark{path.suffix}")
            if "://" in image["uri"] or not (folder / dark).exists():
                continue
            other = image.deepcopy()
            other["uri"] = dark.as_posix()
            image["classes"].append("only-light")
            other["classes"].append("only-dark")
            image.parent.insert(image.parent.index(image) + 1, other)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(PictureThemes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
