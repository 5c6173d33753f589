"""The drawing of a graph in a notebook."""

from __future__ import annotations

import shutil
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import cuscope as cs
from support import module

SOURCE = r"""
__global__ void add(int* x, int v) { x[threadIdx.x] += v; }
template <class T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }
"""
SVG = "{http://www.w3.org/2000/svg}"


def drawn(graph):
    text = graph._repr_svg_()
    assert "<script" not in text
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    return root


def test_a_drawing_has_a_box_for_each_node_an_arrow_for_each_edge_and_texts(device):
    mod = module(device, SOURCE, name_expressions=("scale<float>",))
    x = cs.zeros(4, np.int32)
    g = cs.Graph()
    copy = g.add_copy(x, np.zeros(4, np.int32))
    a = g.add_kernel(mod.add[1, 4], args=(x, 1), after=copy)
    b = g.add_kernel(mod["scale<float>"][1, 4], args=(cs.zeros(4), 2), after=copy)
    g.add_empty(after=[a, b])
    root = drawn(g)

    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == ["copy host to device", "16 bytes", "add", "[1, 4]", "scale<float>", "[1, 4]", "empty"]
    assert len(root.findall(f"{SVG}rect")) == 4
    assert len(root.findall(f"{SVG}path")) == 4


def test_programmatic_edges_are_dashed(device):
    add = module(device, SOURCE, name_expressions=("scale<float>",)).add
    x = cs.zeros(4, np.int32)
    g = cs.Graph()
    a, b, c = (g.add_kernel(add[1, 4], args=(x, 1)) for _ in range(3))
    g.add_dependency(a, b, programmatic=True)
    g.add_dependency(b, c)
    assert g.programmatic_edges == [(a, b)]
    assert [path.get("stroke-dasharray") is not None for path in drawn(g).findall(f"{SVG}path")] == [
        True,
        False,
    ]


def test_bodies_are_boxes_within_their_node(device):
    g = cs.Graph()
    node = g.add_if(g.conditional_handle(), with_else=True)
    node.bodies[0].add_empty()
    assert len(drawn(g).findall(f"{SVG}rect")) == 4


def test_labels_name_the_kind_of_a_conditional_node(device):
    g = cs.Graph()
    g.add_if(g.conditional_handle())
    g.add_while(g.conditional_handle())
    g.add_switch(g.conditional_handle(), 2)

    assert [text.text for text in drawn(g).iter(f"{SVG}text")] == ["if", "while", "switch"]
    assert [line for line in g.to_dot().splitlines() if "conditional" in line] == []
    assert [node.type for node in g.nodes] == ["conditional"] * 3


def test_a_drawing_follows_the_theme_of_the_page_and_of_the_system(device):
    g = cs.Graph()
    g.add_empty()

    root = drawn(g)
    (style,) = [element.text for element in root.iter(f"{SVG}style")]
    assert "prefers-color-scheme:dark" in style
    assert 'data-jp-theme-light="false"' in style
    fixed = [e.get("fill") or e.get("stroke") for e in root.iter() if {"fill", "stroke"} & set(e.attrib)]
    assert set(fixed) <= {"none"}


def test_two_drawings_of_a_page_have_their_own_rules(device):
    first, second = cs.Graph(), cs.Graph()
    first.add_empty()
    second.add_memset(cs.zeros(3), 0)

    assert drawn(first).get("id") != drawn(second).get("id")
    assert first._repr_svg_() == first._repr_svg_()


def test_an_empty_graph_is_an_empty_picture(device):
    assert drawn(cs.Graph()).findall(f"{SVG}rect") == []


def test_a_closed_graph_gives_no_picture(device):
    g = cs.Graph()
    g.close()
    assert g._repr_svg_() is None


def test_large_graphs_are_left_to_dot(device, monkeypatch):
    g = cs.Graph()
    for _ in range(200):
        g.add_empty()
    if shutil.which("dot"):
        assert g._repr_svg_().startswith("<svg")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert g._repr_svg_() is None


def test_the_repr_says_where_it_is(device):
    g = cs.Graph()
    node = g.add_empty()
    assert (repr(g), repr(node)) == (f"<Graph of {device.name}>", f"<GraphNode empty of {device.name}>")
    node.destroy()
    assert repr(node) == f"<GraphNode destroyed of {device.name}>"
    assert repr(g.instantiate()) == f"<GraphExec of {device.name}>"


@pytest.mark.parametrize("text", ["a_kernel", "<&>"])
def test_texts_are_escaped(device, text):
    from cuscope._drawing import _Box, _draw, _Layout

    layout = _Layout([_Box([text], "white")], [])
    assert ET.fromstring(f"<g>{''.join(_draw(layout, 0, 0))}</g>").find("text").text == text
