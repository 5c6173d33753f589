"""docs/reference has an entry for every public name, and the documents name nothing that does not exist.

The build of the site also checks the members of classes (docs/extensions/public_names.py).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import pytest

import cuscope as cs
from documents import DOCUMENTS, PAGES, name_of, prose

ENTRY = re.compile(
    r"^\.\. auto(class|exception|function|data):: (?:cuscope\.)?([\w.]+)(.*\n(?:   .*\n)*)", re.MULTILINE
)
ENTRIES = [
    found.groups()
    for page in sorted((DOCUMENTS / "reference").glob("*.md"))
    for found in ENTRY.finditer(page.read_text())
]
NAMES = [name for _, name, _ in ENTRIES]
CLASSES = [name for name in cs.__all__ if inspect.isclass(getattr(cs, name))]
CODE = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)(?:[(\[][^`]*)?`(?!`)")


def public_names() -> Iterator[str]:
    for name in cs.__all__:
        value = getattr(cs, name)
        if inspect.ismodule(value):
            yield from (f"{name}.{inner}" for inner in value.__all__ if inner not in cs.__all__)
        else:
            yield name


def exists(name: str) -> bool:
    value: object = cs
    for part in name.split("."):
        if inspect.isclass(value) and part in inspect.get_annotations(value):
            return True  # a field, which only objects have
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


def test_every_public_name_has_one_entry() -> None:
    assert sorted(set(public_names()) - set(NAMES)) == []
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_is_a_name(name: str) -> None:
    assert exists(name)


def test_classes_are_shown_with_their_members() -> None:
    shown = {
        name for kind, name, options in ENTRIES if kind in ("class", "exception") and ":members:" in options
    }
    assert sorted(set(CLASSES) - shown) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_names_only_names_that_exist(page) -> None:
    mentioned = set(CODE.findall(prose(page)))
    of_package = {name.removeprefix("cs.") for name in mentioned if name.startswith("cs.")}
    of_classes = {name for name in mentioned if name[0].isupper() and name.split(".")[0] in CLASSES}
    assert sorted(name for name in of_package | of_classes if not exists(name)) == []
