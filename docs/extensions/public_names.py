"""The reference has every public name: a name of cuscope.__all__, or a public member of its classes, without an entry is a
warning.
"""

import inspect
from collections.abc import Iterator

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

import cuscope

logger = logging.getLogger(__name__)


def public_names() -> Iterator[str]:
    for name in cuscope.__all__:
        value = getattr(cuscope, name)
        if inspect.ismodule(value):
            yield from (f"cuscope.{name}.{inner}" for inner in value.__all__ if inner not in cuscope.__all__)
            continue
        yield f"cuscope.{name}"
        if inspect.isclass(value):
            members = {*vars(value), *inspect.get_annotations(value)}
            yield from (f"cuscope.{name}.{member}" for member in sorted(members) if member[0] != "_")


def check_reference(app: Sphinx, env: BuildEnvironment) -> None:
    objects = env.get_domain("py").objects
    for name in public_names():
        if name not in objects:
            logger.warning("%s has no entry in docs/reference", name)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-check-consistency", check_reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
