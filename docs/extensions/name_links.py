"""Names in the documents become links.

- Code such as `cs.to_device(a)`, `Stream.wait` or `stream.wait` leads to the entry of the name in the reference.
- A link such as [memory.md](memory.md) shows the title of the page.
- A CUDA function in a docstring, such as cudaStreamWaitEvent, leads to its row in docs/cuda-map.md, the name of a page to
  the page, and a call such as synchronize() to its entry, first to that of the same class.
"""

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

MAP = "docs/cuda-map"
CODE = re.compile(r"(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:[(\[].*)?")
LINKED = re.compile(r"\b(cu(?:da)?[A-Z]\w+\b|docs/[\w-]+\.md\b|[A-Za-z_][\w.]*\(\))")
DASH = re.compile(r"^(\)?) -- ")  # Sphinx puts it between a parameter and its description
# Names that the documents give to objects.
VARIABLES = {
    "device": "Device", "event": "Event", "exe": "GraphExec", "executable": "GraphExec", "graph": "Graph",
    "kernel": "Kernel", "mod": "Module", "module": "Module", "pool": "MemoryPool", "report": "CheckReport",
    "stream": "Stream", "t": "tracing.Trace", "trace": "tracing.Trace", "x": "DeviceArray",
}  # fmt: skip
# Types in signatures that docs/reference/index.md explains.
TYPES = {
    "ArrayLike", "Axis", "Check", "CudaArrayInterface", "CudaStream", "DLPackArray", "DTypeLike", "HostArray", "NDArray",
    "Operand",
}  # fmt: skip
RESULTS = {
    "CriticalPath": "cuscope.tracing.critical_path.CriticalPath", "Findings": "cuscope.tracing.findings.Findings",
    "Trace": "cuscope.tracing.Trace",
}  # fmt: skip


def candidates(code: str) -> Iterator[str]:
    """The names of the reference that a piece of code may mean."""
    found = CODE.fullmatch(code)
    if found is None:
        return
    first, _, rest = found["name"].partition(".")
    if first in ("cs", "cuscope"):
        yield f"cuscope.{rest}"
    elif rest and first in VARIABLES:
        yield f"cuscope.{VARIABLES[first]}.{rest}"
    elif first[0].isupper():
        yield f"cuscope.{found['name']}"
        yield f"cuscope.tracing.{found['name']}"
        yield f"cuscope.tracing.critical_path.{found['name']}"


class RowsOfCuda(SphinxTransform):
    """Makes the functions in the first column of the map targets, which the search of the site finds."""

    default_priority = 700

    def apply(self, **kwargs: object) -> None:
        if self.env.docname != MAP:
            return
        self.env.cuda_rows = set()
        for row in self.document.findall(nodes.row):
            for code in list(row[0].findall(nodes.literal)):
                name = code.astext()
                code["ids"].append(name)
                self.env.cuda_rows.add(name)
                entry = addnodes.index(entries=[("single", name, name, "", None)])
                code.parent.insert(code.parent.index(code), entry)


class LinkNames(SphinxPostTransform):
    """Puts the links around the names, in every page."""

    default_priority = 400

    def run(self, **kwargs: object) -> None:
        self.objects = self.env.get_domain("py").objects
        self.rows = getattr(self.env, "cuda_rows", set())
        for code in list(self.document.findall(nodes.literal)):
            if not inside(code, nodes.reference, nodes.title, addnodes.desc_signature):
                self.link_code(code)
        for link in self.document.findall(nodes.reference):
            self.name_page(link)
        if self.env.docname.startswith("docs/reference/"):
            for text in list(self.document.findall(nodes.Text)):
                if not inside(text, nodes.reference, nodes.literal, nodes.literal_block, nodes.doctest_block):
                    self.link_text(text)

    def reference(self, page: str, anchor: str, content: nodes.Node) -> nodes.reference:
        return make_refnode(self.app.builder, self.env.docname, page, anchor, content)

    def name_page(self, link: nodes.reference) -> None:
        """Shows the title of the page in place of `memory.md`."""
        page = f"docs/{link.astext().removesuffix('.md')}"
        if link.astext().endswith(".md") and page in self.env.titles:
            link[:] = [nodes.Text(self.env.titles[page].astext())]

    def link_code(self, code: nodes.literal) -> None:
        text = code.astext()
        name = next((name for name in candidates(text) if name in self.objects), None)
        if name is not None:
            entry = self.objects[name]
            code.parent.replace(code, self.reference(entry.docname, entry.node_id, code.deepcopy()))
        elif text in self.rows and self.env.docname != MAP:
            code.parent.replace(code, self.reference(MAP, text, code.deepcopy()))

    def link_text(self, text: nodes.Text) -> None:
        content = DASH.sub(r"\1: ", text.astext())
        class_ = class_around(text)
        text.parent.replace(text, [self.linked(part, class_) for part in LINKED.split(content) if part])

    def linked(self, part: str, class_: str) -> nodes.Node:
        page = part.removesuffix(".md")
        if part in self.rows:
            return self.reference(MAP, part, nodes.literal("", part))
        if page != part and page in self.env.titles:
            return self.reference(page, "", nodes.Text(self.env.titles[page].astext()))
        if part.endswith("()"):
            name = part.removesuffix("()")
            for known in (f"{class_}.{name}", f"cuscope.{name}"):
                if known in self.objects:
                    entry = self.objects[known]
                    return self.reference(entry.docname, entry.node_id, nodes.literal("", part))
        return nodes.Text(part)


def class_around(node: nodes.Node) -> str:
    """The class whose docstring, or whose member's docstring, has the node: "cuscope.Stream"; or empty."""
    while node is not None:
        if (
            isinstance(node, addnodes.desc)
            and node["domain"] == "py"
            and node["objtype"] in ("class", "exception")
        ):
            signature = node[0]
            return f"{signature['module']}.{signature['fullname']}"
        node = node.parent
    return ""


def inside(node: nodes.Node, *kinds: type) -> bool:
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False


def find_type(
    app: Sphinx, env: BuildEnvironment, node: nodes.Element, content: nodes.Node
) -> nodes.Node | None:
    """A type in a signature that is no public name: its row in the table of types."""
    name = node.get("reftarget", "").rpartition(".")[2]
    if name in RESULTS:
        entry = env.get_domain("py").objects[RESULTS[name]]
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content)
    if node.get("refdomain") == "py" and name in TYPES:
        return make_refnode(
            app.builder, node["refdoc"], "docs/reference/index", "types-in-signatures", content
        )
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(RowsOfCuda)
    app.add_post_transform(LinkNames)
    app.connect("missing-reference", find_type)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
