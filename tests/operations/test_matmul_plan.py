"""The plan of products, cuda_kernels/matmul/plan.hpp: the launches of all instances, and the choice of one."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from matmul_instances import FOLDER, INSTANCES

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="there is no g++ on this machine")

PLAN = r"""
#include <cstdio>
#include <initializer_list>
#include "plan.hpp"
using namespace cuscope::matmul;
int main() {
    for (const Instance& i : instances())
        if (i.has_along_k && !i.few_rows)
            std::printf("along k|%s|%s|%d\n", i.rung.c_str(), kernel_along_k(i).c_str(),
                        i.shared_bytes + i.along_k_bytes);
    for (const Instance& i : instances())
        std::printf("%s|%s|%d|%d|%d|%d|%d|%s\n", i.rung.c_str(), i.kernel.c_str(), i.tile_m, i.tile_n, i.block_x,
                    i.block_y, i.shared_bytes, i.aligned_a ? "ab" : i.aligned_b ? "b" : "");
    const auto show = [](Shape shape, const char* in, const char* out, Device device = {}, Packs packs = {}) {
        const Choice choice = choose(shape, in, out, device, packs);
        std::printf("> %s\n", choice.instance ? choice.instance->rung.c_str() : "none");
    };
    show({4096, 4096, 4096}, "float32", "float32");
    for (const long long n : {513, 201})
        show({n, n, n}, "float64", "float64", {}, {false, false});
    show({4097, 4097, 4097}, "float32", "float32", {}, {false, false});
    show({1, 4096, 4096}, "float32", "float32");
    show({8, 8, 8}, "float32", "float32");
    show({4096, 4096, 4096}, "float16", "float16", {75, 40, 64 << 10});
    show({4096, 4096, 4096}, "bfloat16", "bfloat16", {75, 40, 64 << 10});
    show({4096, 4096, 4096}, "float16", "float16", {89, 128, 99 << 10});
    show({512, 512, 512}, "uint8", "uint8");
    show({512, 512, 512}, "uint8", "int32");
    show({512, 512, 512}, "int8", "int32");
    show({512, 512, 512, 7}, "uint64", "uint64");
    show({512, 512, 512}, "complex128", "complex128");
    show({512, 512, 512}, "float128", "float128");
    // Measured by benchmarks/choice.py: larger tiles of integers would be few or nearly empty, copies of bytes
    // would not pay, and blocks of rung 11 with several tiles do not start late.
    show({2604, 4, 480}, "int32", "int32");
    show({32, 48, 3840}, "int64", "int64");
    show({26, 303, 215}, "int8", "int8", {}, {false, false});
    show({3471, 2352, 16}, "float16", "float16");
    show({561, 1296, 2227}, "float32", "float32", {}, {false, false});
    show({561, 1296, 700}, "float32", "float32");
    // Small tiles of numbers that are loaded one at a time end earlier than few large ones. With many tiles they
    // do not, and tensor cores gain more than copies of doubles cost.
    for (const char* type : {"float32", "float64"})
        for (const long long m : {39, 3900})
            show({m, 159, 511}, type, type, {}, {false, false});
    show({105, 6896, 8016}, "int32", "int32");
    show({6, 32, 16}, "float16", "float16");
    for (const long long k : {8, 9})
        show({7113, 1064, k}, "complex64", "complex64");
    for (const char* type : {"int32", "int64"})
        show({1024, 1024, 1024}, type, type);
    // Copies of operands that cannot be read 16 bytes at a time have to pay for their launches.
    show({647, 57, 78}, "float16", "float16", {}, {false, false});
    show({111, 719, 1393}, "float16", "float16", {}, {false, false});
    show({8072, 871, 2}, "float16", "float16", {}, {false, false});
    show({5022, 5, 3946}, "float64", "float64", {}, {true, false});
    show({853, 80, 527}, "int32", "int32", {}, {false, true});
    // Small tiles for narrow products, tensor cores for one tile, parts of floats for a short k or few rows.
    show({7989, 16, 96}, "float32", "float32");
    show({2, 48, 16}, "int8", "int8");
    show({22, 2, 665}, "int8", "int8", {}, {false, false});
    show({2688, 4361, 745}, "float32", "float32", {}, {false, false});
    show({5342, 159, 2108}, "float32", "float32", {}, {true, false});
    for (const char* out : {"float32", "bfloat16", "float8_e5m2", "float64"})
        show({1024, 1024, 1024}, "float8_e5m2", out);
    show({1024, 1024, 1024}, "float8_e4m3fn", "float32", {100, 148});
    show({1, 8192, 8192}, "float16", "float16", {75, 40, 64 << 10});
    for (const Shape& shape : {Shape{16, 8192, 8192}, {32, 8192, 8192}, {64, 8192, 8192}, {16, 2048, 8192},
                               {256, 256, 65536}, {32, 28672, 4096}, {64, 28672, 4096}, {65, 28672, 4096},
                               {124, 4736, 3824}, {64, 20000, 4096},
                               {512, 512, 8192}, {3, 16, 3680}}) {
        const Choice choice = choose(shape, "bfloat16", "bfloat16", {});
        std::printf("tile %d %d parts %d\n", choice.instance->tile_m, choice.instance->tile_n, choice.split.parts());
    }
    // Parts in boxes: of the same depth, up to the last one, which is never empty.
    long long splits = 0, wrong = 0;
    for (long long k = 1; k < 200000; k += k < 3000 ? 1 : 997)
        for (long long parts = 1; parts <= 132; ++parts)
            for (const long long unit : {32, 64, 128}) {
                const Split split = split_in_boxes(k, parts, unit);
                const bool right = split.count >= 1 && split.count <= parts && split.depth % unit == 0 &&
                                   split.rest == 0 && (split.count - 1) * split.depth < k &&
                                   split.count * split.depth >= k;
                ++splits, wrong += !right;
            }
    // The same for all products that the plan splits.
    long long in_boxes = 0, in_others = 0;
    for (const Shape& tiles : {Shape{64, 64}, {100, 200}, {256, 512}, {1000, 520}})
        for (long long k = 1000; k < 200000; k += 504) {
            const Choice choice = choose({tiles.m, tiles.n, k}, "float16", "float16", {});
            const Split& split = choice.split;
            if (split.parts() == 1) continue;
            const long long whole = split.count * split.depth;
            (choice.instance->boxes ? in_boxes : in_others) += 1;
            wrong += choice.instance->boxes ? split.rest != 0 || whole < k || whole - split.depth >= k
                                            : whole + split.rest != k;
        }
    std::printf("splits %lld wrong %lld\n", splits, wrong);
    std::printf("splits %s\n", in_boxes > 500 && in_others > 100 ? "in boxes and others" : "of one kind");
}
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory) -> list[str]:
    """The lines that the program above prints."""
    folder = tmp_path_factory.mktemp("plan")
    (folder / "plan.cpp").write_text(PLAN)
    options = ["-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{FOLDER}"]
    subprocess.run(["g++", *options, str(folder / "plan.cpp"), "-o", str(folder / "plan")], check=True)
    run = subprocess.run([str(folder / "plan")], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def test_plan_has_the_launch_of_every_instance(printed):
    launches = [
        line
        for line in printed
        if not line.startswith(
            (
                ">",
                "tile ",
                "splits ",
                "along k|",
                "few_rows|",
                "11_tma|tma<float",
                "11_tma|tma<__nv_fp8",
                "12_",
                "13_",
                "14_",
                "15_",
            )
        )
    ]
    assert sorted(launches) == sorted(
        f"{i.rung}|{i.name}|{i.tile[0]}|{i.tile[1]}|{i.block[0]}|{i.block[1]}|{i.shared}|{i.aligned}"
        for i in INSTANCES
        if not i.along_k
    )


def test_plan_has_the_kernels_for_a_transposed_b(printed):
    launches = {line for line in printed if line.startswith("along k|")}
    assert launches == {f"along k|{i.rung}|{i.name}|{i.shared}" for i in INSTANCES if i.along_k}


def test_plan_chooses_by_the_shape_the_types_and_the_device(printed):
    assert [line[2:] for line in printed if line.startswith(">")] == [
        "14_split_floats",
        "09_tensor_cores",
        "03_shared_tiles",
        "14_split_floats",
        "few_rows",
        "03_shared_tiles",
        "09_tensor_cores",
        "03_shared_tiles",
        "09_tensor_cores",
        "09_tensor_cores",
        "none",
        "09_tensor_cores",
        "08_warp_tiles",
        "03_shared_tiles",
        "none",
        "03_shared_tiles",
        "03_shared_tiles",
        "03_shared_tiles",
        "11_tma",
        "14_split_floats",
        "08_warp_tiles",
        "03_shared_tiles",
        "08_warp_tiles",
        "03_shared_tiles",
        "09_tensor_cores",
        "13_wgmma_planes",
        "09_tensor_cores",
        "02_coalesced",
        "03_shared_tiles",
        "13_wgmma_planes",
        "13_wgmma_planes",
        "03_shared_tiles",
        "09_tensor_cores",
        "02_coalesced",
        "09_tensor_cores",
        "08_warp_tiles",
        "03_shared_tiles",
        "09_tensor_cores",
        "02_coalesced",
        "14_split_floats",
        "14_split_floats",
        "15_float8",
        "15_float8",
        "03_shared_tiles",
        "none",
        "none",
        "few_rows",
    ]


def test_plan_takes_as_few_rows_as_the_product_has_and_splits_k_if_it_has_few_columns(printed):
    assert [line for line in printed if line.startswith("tile")] == [
        "tile 16 64 parts 1",
        "tile 32 64 parts 1",
        "tile 64 64 parts 1",
        "tile 16 64 parts 4",
        "tile 128 128 parts 16",
        "tile 32 64 parts 1",
        "tile 64 64 parts 1",
        "tile 128 256 parts 1",
        "tile 128 128 parts 2",
        "tile 64 64 parts 1",
        "tile 128 128 parts 8",
        "tile 16 64 parts 1",
    ]


def test_no_part_of_k_is_empty(printed):
    assert [line for line in printed if line.startswith("splits")] == [
        f"splits {(2999 + 198) * 132 * 3} wrong 0",
        "splits in boxes and others",
    ]
