"""The drawings of a profile: of the accesses of a warp, and the roofline."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from profiled_kernels import number_of

import cuscope as cs
from cuscope._profiling.roofline import numbers_of

pytestmark = pytest.mark.host_only("a real GPU does not count")

SVG = "{http://www.w3.org/2000/svg}"


def cells(svg, style):
    """The squares of the drawing with this style. The squares of the legend have another width."""
    return [
        one
        for one in ET.fromstring(svg).iter(f"{SVG}rect")
        if one.get("class") == style and one.get("width") == "19"
    ]


def lanes_of(svg):
    return [one.text for one in ET.fromstring(svg).iter(f"{SVG}text") if one.get("class") == "csIn"]


@pytest.fixture
def strided(kernels):
    def profile(stride):
        x, y = cs.zeros(128 * stride, np.float32), cs.zeros(128, np.float32)
        return kernels.strided.profile(x, y, stride, grid=1, block=128)

    return profile


def test_neighbours_fill_their_sectors(strided):
    picture = strided(1).accesses(number_of("y[i] = x[i * stride]"))

    assert len(cells(picture.svg, "csWant")) == 32
    assert cells(picture.svg, "csMoved") == []
    assert lanes_of(picture.svg) == [str(lane) for lane in range(32)]
    assert "4 sectors" in picture.svg


def test_a_stride_moves_bytes_in_vain(strided):
    picture = strided(2).accesses(number_of("y[i] = x[i * stride]"))

    assert len(cells(picture.svg, "csWant")) == 32
    assert len(cells(picture.svg, "csMoved")) == 32
    assert "8 sectors where 4 would do" in picture.svg


def test_banks_are_coloured_by_their_conflicts(kernels, padded):
    x, y = cs.zeros(1024, np.float32), cs.zeros(1024, np.float32)
    line = number_of("= tile[threadIdx.x][threadIdx.y]")

    conflict = kernels.column.profile(x, y, grid=1, block=(32, 32)).accesses(line).svg
    free = padded.column.profile(x, y, grid=1, block=(32, 32)).accesses(line).svg

    assert len(cells(conflict, "csBank16")) == 32
    assert len(cells(free, "csBank1")) == 32
    assert cells(free, "csBank16") == []
    assert "32 wavefronts where 1 would do" in conflict


def test_the_second_instruction_of_a_line(strided):
    picture = strided(2).accesses(number_of("y[i] = x[i * stride]"), 1)

    assert "store to y" in picture.svg


def test_lanes_at_one_address_share_a_cell(kernels):
    x, counts = cs.zeros(32, np.int32), cs.zeros(4, np.int32)

    profile = kernels.histogram.profile(x, counts, 32, grid=1, block=32)
    picture = profile.accesses(number_of("atomicAdd(&counts"), 1)

    assert lanes_of(picture.svg) == ["0-31"]
    assert "32 lanes at one address" in picture.svg


def test_the_roofline_has_the_numbers_of_the_launch(kernels):
    n = 64
    x, y, z = (cs.zeros((n, n), np.float32) for _ in range(3))
    profile = kernels.matmul.profile(x, y, z, n, grid=(4, 4), block=(16, 16))

    numbers = numbers_of(profile)

    assert numbers["kind"] == "floating-point operations"
    assert numbers["rate"] == pytest.approx(2 * n**3 / profile.time.seconds)
    assert numbers["l2_intensity"] == pytest.approx(2 * n**3 / profile.time.l2_bytes)
    assert numbers["roof"] == pytest.approx(67e12, rel=0.05)  # NVIDIA: 67 teraflops with floats
    assert "floating-point operations for each byte" in profile.roofline().svg


def test_a_kernel_without_floats_has_a_roofline_of_instructions(kernels):
    x, y = cs.zeros(1024, np.uint8), cs.zeros(1024, np.uint8)

    profile = kernels.bytes.profile(x, y, grid=8, block=128)

    assert numbers_of(profile)["kind"] == "instructions of warps"
    assert "instructions of warps" in profile.roofline().svg


def test_a_sampled_roofline_is_that_of_the_whole_launch(kernels):
    x, y = cs.zeros(1 << 16, np.float32), cs.zeros(1 << 16, np.float32)
    shape = {"grid": 256, "block": 256}

    whole = numbers_of(kernels.strided.profile(x, y, 1, **shape))
    some = numbers_of(kernels.strided.profile(x, y, 1, **shape, blocks=16))

    assert some["rate"] == pytest.approx(whole["rate"], rel=0.01)


def test_the_page_has_the_source_the_findings_and_no_script(strided):
    page = strided(2)._repr_html_()

    assert "y[i] = x[i * stride];" in page
    assert "8.0 sectors a request where 4.0 would do" in page
    assert "<script" not in page
    assert len(page) < 200_000


def test_names_in_the_source_are_escaped():
    kernel = cs.Module("__global__ void f(int* x) { if (threadIdx.x < 3 && *x >= 0) x[threadIdx.x] = 1; }").f

    page = kernel.profile(cs.zeros(32, np.int32), grid=1, block=32)._repr_html_()

    assert "threadIdx.x &lt; 3 &amp;&amp; *x &gt;= 0" in page


def test_pictures_are_for_light_and_dark_pages_and_do_not_share_rules(strided):
    line = number_of("y[i] = x[i * stride]")
    one, two = (strided(stride).accesses(line).svg for stride in (1, 2))

    for svg in (one, two):
        assert "prefers-color-scheme:dark" in svg
        assert not re.search(r"https?://(?!www\.w3\.org)", svg)
    assert ET.fromstring(one).get("id") != ET.fromstring(two).get("id")


def test_a_picture_can_be_saved(strided, tmp_path):
    picture = strided(1).accesses(number_of("y[i] = x[i * stride]"))

    picture.save(str(tmp_path / "warp.svg"))

    assert (tmp_path / "warp.svg").read_text() == picture.svg
    with pytest.raises(ValueError, match=r"does not end with \.svg"):
        picture.save(str(tmp_path / "warp.png"))
    assert not (tmp_path / "warp.png").exists()


# NVIDIA's data sheets: teraflops with floats and doubles. The C1060's number leaves out multiplications beside
# additions.
@pytest.mark.parametrize(
    ("model", "floats", "doubles"),
    [
        ("h100", 67, 34),
        ("a100", 19.5, 9.7),
        ("k20x", 3.95, 1.31),
        ("fermi", 1.03, 0.515),
        ("c1060", 0.622, 0.078),
    ],
)
def test_roofs_are_those_of_the_data_sheets(model, floats, doubles):
    with cs.add_host_device(model):
        peaks = cs.Module("__global__ void nothing() {}").nothing.profile(grid=1, block=32).peaks

    assert peaks["operations32"] / 1e12 == pytest.approx(floats, rel=0.02)
    assert peaks["operations64"] / 1e12 == pytest.approx(doubles, rel=0.02)
