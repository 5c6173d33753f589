"""Rules of style sheets for light and dark pages, for pictures within a page and in files of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

__all__ = ["IDENTITY", "Theme", "identified", "theme_rules"]

IDENTITY = "\x00"  # stands for the id of a picture until its content is known; names cannot contain it

# (classes, property, value)
Theme = Iterable[tuple[str, str, str]]

# Pages say their theme in these ways: JupyterLab, VS Code, and Colab and Sphinx.
_PAGES = {
    "light": ('[data-jp-theme-light="true"]', ".vscode-light", 'html[theme="light"]', '[data-theme="light"]'),
    "dark": ('[data-jp-theme-light="false"]', ".vscode-dark", 'html[theme="dark"]', '[data-theme="dark"]'),
}


def identified(picture: str, prefix: str) -> str:
    """The picture with an id from its content for IDENTITY, so that the rules of two pictures of a page do not meet."""
    content = hashlib.blake2s(picture.encode(errors="replace"), digest_size=6)
    return picture.replace(IDENTITY, prefix + content.hexdigest())


def theme_rules(root: str, themes: Mapping[str, Theme]) -> list[str]:
    """The rules of the themes "light" and "dark" for the picture that the selector ``root`` means.

    A picture is light, unless the reader's system is dark; the theme of the page counts more than both.
    """
    return [
        *_rules(themes["light"], root),
        f"@media (prefers-color-scheme:dark){{{''.join(_rules(themes['dark'], root))}}}",
        *(
            rule
            for name in ("light", "dark")
            for rule in _rules(themes[name], f":is({','.join(_PAGES[name])}) {root}")
        ),
    ]


def _rules(theme: Theme, root: str) -> list[str]:
    rules = []
    for classes, what, value in theme:
        selector = ",".join(f"{root} .{one}" for one in classes.split(","))
        rules.append(f"{selector}{{{what}:{value}}}")
    return rules
