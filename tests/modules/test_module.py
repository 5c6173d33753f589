"""Modules: compiling, templates, headers, options, messages, images, properties of kernels."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

SCALE = """
template <typename T> __global__ void scale(T* x, T factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
template <int N> __global__ void put(int* x) { *x = N; }
"""


def test_kernel_from_source_runs(device):
    a, b = np.random.default_rng(0).random((2, 100_000), dtype=np.float32)
    d_a, d_b = cs.to_device(a), cs.to_device(b)
    d_c = cs.empty_like(d_a)
    module(device).vec_add[391, 256](d_a, d_b, d_c, a.size)

    assert np.array_equal(d_c.to_host(), a + b)


@pytest.mark.parametrize(
    ("grid", "block"), [(6, 4), ((6,), (4,)), ((3, 2), 4), ((1, 2, 3), (2, 2)), ((1, 6, 1), (1, 1, 4))]
)
def test_grid_and_block_have_up_to_three_dimensions(device, grid, block):
    mod = module(
        device,
        """__global__ void count(int* p, uint3* last) {
            atomicAdd(p, 1);
            if (blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1 && blockIdx.z == gridDim.z - 1
                && threadIdx.x == blockDim.x - 1 && threadIdx.y == blockDim.y - 1 && threadIdx.z == blockDim.z - 1)
                *last = uint3{gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z};
        }""",
    )
    count = cs.zeros(1, np.int32)
    last = cs.zeros(1, np.dtype([("x", "u4"), ("y", "u4"), ("z", "u4")]))
    mod.count[grid, block](count, last)

    def three(x):
        x = (x,) if isinstance(x, int) else x
        return np.array([*x, 1, 1][:3])

    assert count.to_host().tolist() == [24]
    assert list(last.to_host()[0].item()) == (three(grid) * three(block)).tolist()


def test_stream_and_shared_memory_are_in_the_brackets(device):
    mod = module(
        device,
        """__global__ void reverse(int* p) {
            extern __shared__ int s[];
            s[threadIdx.x] = p[threadIdx.x];
            __syncthreads();
            p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
        }""",
    )
    s = cs.Stream()
    p = cs.to_device(np.arange(64, dtype=np.int32), stream=s)
    mod.reverse[1, 64, s, 256](p)

    assert p.to_host(stream=s).tolist() == list(range(64))[::-1]


def test_launch_says_it_in_words(device):
    value = cs.zeros(1, np.int32)
    module(device).store.launch(value, 3, grid=1, block=1, stream=cs.current_stream(), shared=0)

    assert value.to_host().tolist() == [3]


def test_configured_kernel_can_be_kept_and_launched_again(device):
    value = cs.zeros(1, np.int32)
    launch = module(device).add_one[1, 32]
    for _ in range(3):
        launch(value)

    assert value.to_host().tolist() == [96]


@pytest.mark.host_only("only a simulation can be told how long a kernel takes")
def test_duration_is_how_long_the_kernel_takes(device):
    s = cs.Stream()
    start = s.record()
    module(device).nothing.launch(grid=1, block=1, stream=s, duration=0.003)
    stop = s.record()
    s.synchronize()

    assert stop - start == pytest.approx(3, abs=0.1)


# Names


def test_kernels_are_attributes_and_items(device):
    mod = module(device, "__global__ void a() {} __global__ void b(int n) {}")

    assert sorted(mod.kernels) == ["a", "b"]
    assert mod.a.name == mod["a"].name == "a"
    assert set(mod.kernels) <= set(dir(mod))


def test_extern_c_kernels_have_their_own_name(device):
    mod = module(device, 'extern "C" __global__ void plain(int* p) { *p = 1; }')
    p = cs.zeros(1, np.int32)
    mod.plain[1, 1](p)

    assert mod.kernels == ("plain",)
    assert p.to_host().tolist() == [1]


def test_kernel_in_a_namespace_is_found(device):
    mod = module(device, "namespace ns { __global__ void k(int* p) { *p = 2; } }")
    p = cs.zeros(1, np.int32)
    mod["ns::k"][1, 1](p)

    assert p.to_host().tolist() == [2]


@pytest.mark.parametrize(("name", "dtype"), [("scale<float>", np.float32), ("scale<double>", np.float64)])
def test_template_instances_are_named(device, name, dtype):
    mod = module(device, SCALE, name_expressions=("scale<float>", "scale<double>", "put<5>"))
    x = cs.to_device(np.arange(10, dtype=dtype))
    mod[name][1, 32](x, 3, 10)

    assert np.array_equal(x.to_host(), np.arange(10, dtype=dtype) * 3)


def test_template_of_a_value_is_instantiated(device):
    mod = module(device, SCALE, name_expressions=("put<5>", "put<6>"))
    x = cs.zeros(2, np.int32)
    mod["put<5>"][1, 1](x[0:1])
    mod["put<6>"][1, 1](x[1:2])

    assert x.to_host().tolist() == [5, 6]


def test_unknown_name_lists_the_kernels(device):
    mod = module(device)

    with pytest.raises(AttributeError, match="vec_add"):
        mod.vec_sub  # noqa: B018
    with pytest.raises(KeyError, match="vec_add"):
        mod["vec_sub"]


def test_unnamed_template_says_how_to_name_its_instances(device):
    mod = module(device, SCALE, name_expressions=("put<5>",))

    with pytest.raises(AttributeError, match="name_expressions"):
        mod.scale  # noqa: B018
    with pytest.raises(KeyError, match="name_expressions"):
        mod["scale<int>"]


def test_name_expression_that_names_nothing_does_not_compile(device):
    with pytest.raises(cs.CompileError, match="nothing_like_it"):
        cs.Module(SCALE, name_expressions=["nothing_like_it<int>"])


# Input of the compiler


def test_options_define_macros(device):
    mod = cs.Module("__global__ void k(int* p) { *p = VALUE; }", options=["-DVALUE=17"])
    p = cs.zeros(1, np.int32)
    mod.k[1, 1](p)

    assert p.to_host().tolist() == [17]


@pytest.mark.parametrize("option", ["-G", "--device-debug"])
def test_kernels_can_be_compiled_for_debugging(device, option):
    source = """
#ifdef __CUDACC_DEBUG__
__global__ void twice(int* p) { p[threadIdx.x] *= 2; }
#endif
"""
    mod = cs.Module(source, options=[option])
    p = cs.to_device(np.arange(40, dtype=np.int32))
    mod.twice[1, 40](p)

    np.testing.assert_array_equal(p.to_host(), 2 * np.arange(40))


@pytest.mark.host_only("the compiler of a GPU's kernels is NVIDIA's")
def test_kernels_for_debugging_are_not_optimised(device):
    source = (
        "__global__ void sum(int* p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += p[i] * i; *p = s; }"
    )

    image, again, for_debugging = (
        cs.Module(source, options=options, cache=False, device=device).image for options in ([], [], ["-G"])
    )

    assert again == image
    assert for_debugging != image


@pytest.mark.host_only("NVRTC's option takes no value")
@pytest.mark.parametrize(
    ("options", "kernel"),
    [
        (["--device-debug=true"], "debugged"),
        (["--device-debug=false"], "plain"),
        (["-G", "--device-debug=false"], "plain"),
        (["-G", "-U__CUDACC_DEBUG__"], "plain"),
    ],
)
def test_last_option_for_debugging_counts(device, options, kernel):
    source = """
#ifdef __CUDACC_DEBUG__
__global__ void debugged() {}
#else
__global__ void plain() {}
#endif
"""

    assert list(cs.Module(source, options=options).kernels) == [kernel]


def test_headers_are_strings(device):
    mod = cs.Module(
        '#include "mine.h"\n__global__ void k(int* p) { *p = mine(); }',
        headers={"mine.h": "#pragma once\n__device__ int mine() { return 23; }"},
    )
    p = cs.zeros(1, np.int32)
    mod.k[1, 1](p)

    assert p.to_host().tolist() == [23]


def test_include_paths_are_searched(device, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "yours.cuh").write_text("__device__ int yours() { return 29; }")
    mod = cs.Module(
        "#include <sub/yours.cuh>\n__global__ void k(int* p) { *p = yours(); }", include_paths=[tmp_path]
    )
    p = cs.zeros(1, np.int32)
    mod.k[1, 1](p)

    assert p.to_host().tolist() == [29]


def test_changed_included_file_is_compiled_again(device, tmp_path):
    header = tmp_path / "changing.h"
    values = []
    for value in (1, 2):
        header.write_text(f"#define VALUE {value}\n")
        mod = cs.Module(
            '#include "changing.h"\n__global__ void k(int* p) { *p = VALUE; }', include_paths=[str(tmp_path)]
        )
        p = cs.zeros(1, np.int32)
        mod.k[1, 1](p)
        values += p.to_host().tolist()

    assert values == [1, 2]


def test_from_file_compiles_beside_its_headers(device, tmp_path):
    (tmp_path / "near.h").write_text("#define VALUE 31\n")
    path = tmp_path / "kernels.cu"
    path.write_text('#include "near.h"\n__global__ void k(int* p) { *p = VALUE; }')
    p = cs.zeros(1, np.int32)
    cs.Module.from_file(path).k[1, 1](p)

    assert p.to_host().tolist() == [31]


def test_image_can_be_saved_and_loaded(device, tmp_path):
    path = tmp_path / ("saved.cubin" if not device.simulated else "saved.image")
    path.write_bytes(module(device, "__global__ void put(int* p, int v) { *p = v; }").image)
    p = cs.zeros(1, np.int32)
    cs.Module.from_file(path).put[1, 1](p, 37)

    assert p.to_host().tolist() == [37]


PTX = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry put(.param .u64 p, .param .u32 v) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [v];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""


@pytest.mark.gpu_only("the host runtime runs no PTX")
def test_ptx_file_is_loaded(device, tmp_path):
    path = tmp_path / "put.ptx"
    path.write_text(PTX)
    p = cs.zeros(1, np.int32)
    cs.Module.from_file(path).put[1, 1](p, np.uint32(41).tobytes())

    assert p.to_host().tolist() == [41]


@pytest.mark.host_only("a GPU runs it")
def test_ptx_file_is_refused_by_the_host_runtime(device, tmp_path):
    path = tmp_path / "put.ptx"
    path.write_text(PTX)

    with pytest.raises(cs.CudaError, match="image"):
        cs.Module.from_file(path)


def test_file_that_is_not_there_names_the_path(device, tmp_path):
    with pytest.raises((FileNotFoundError, cs.CudaError), match=r"absent\.cu"):
        cs.Module.from_file(tmp_path / "absent.cu")


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage" * 100, b"\x7fELF" + bytes(1000)],
    ids=["empty", "garbage", "beginning of an ELF file"],
)
@pytest.mark.parametrize("suffix", ["cubin", "ptx", "fatbin", "image"])
def test_damaged_image_is_refused(device, tmp_path, suffix, content):
    path = tmp_path / f"damaged.{suffix}"
    path.write_bytes(content)

    with pytest.raises(cs.CudaError, match=r"image|Image|PTX|Ptx"):
        cs.Module.from_file(path)


@pytest.mark.host_only("the image of a simulated device is machine code of this processor")
def test_code_of_a_long_kernel_is_in_the_image_once(device):
    constants = [0x5BD1E995A1B2C3D4 + 0x9E3779B97F4A7C15 * i & 2**63 - 1 for i in range(40)]
    steps = "".join(f"v = (v ^ {constant}ull) * 3 + (v >> 7); " for constant in constants)

    image = cs.Module(f"__global__ void mix(unsigned long long* x) {{ auto v = *x; {steps} *x = v; }}").image

    assert [image.count(constant.to_bytes(8, "little")) for constant in constants] == [1] * len(constants)


def test_truncated_image_is_refused(device, tmp_path):
    image = module(device).image
    for length in (10, 100, len(image) // 2, len(image) - 100):
        path = tmp_path / "short.cubin"
        path.write_bytes(image[:length])
        with pytest.raises(cs.CudaError):
            cs.Module.from_file(path)


# Messages


def test_compile_error_shows_the_users_line(device):
    with pytest.raises(cs.CompileError) as caught:
        cs.Module(
            "// line one\n__global__ void k(int* p) {\n    *p = undeclared_thing;\n}\n", file_name="mine.cu"
        )

    message = str(caught.value)
    assert "mine.cu" in message
    assert "3" in message
    assert "*p = undeclared_thing;" in message
    assert "^" in message
    assert "undeclared_thing" in caught.value.log


@pytest.mark.parametrize(
    "source",
    ["__global__ void k( {", "}", "int x = ;", '#include "not_there.h"', "#error stop here", "("],
)
def test_source_that_does_not_compile_is_a_compile_error(device, source):
    with pytest.raises(cs.CompileError) as caught:
        cs.Module(source)

    assert isinstance(caught.value, cs.CudaError)
    assert caught.value.log


def test_source_with_a_null_character_is_refused(device):
    with pytest.raises((ValueError, cs.CompileError), match="null"):
        cs.Module("__global__ void k() {}\0 __global__ void not_seen() {}")


def test_compile_error_is_at_the_line_of_a_header(device):
    with pytest.raises(cs.CompileError, match="wrong_header"):
        cs.Module('#include "wrong_header.h"\n', headers={"wrong_header.h": "\n\nint x = y_is_not;\n"})


def test_message_shows_only_the_users_source(device):
    with pytest.raises(cs.CompileError) as caught:
        cs.Module("__global__ void k(float* p) { p->x = 1; }")

    assert "/tmp/" not in str(caught.value)
    assert len(str(caught.value)) < 2000


def test_module_without_kernels_says_so(device):
    mod = cs.Module("__device__ int x;")

    assert mod.kernels == ()
    with pytest.raises(AttributeError):
        mod.anything  # noqa: B018


@pytest.mark.parametrize("source", [None, 1, ["__global__ void k() {}"]])
def test_source_of_another_type_is_a_type_error(device, source):
    with pytest.raises(TypeError):
        cs.Module(source)


@pytest.mark.parametrize(
    "arguments",
    [
        {"options": "-DN=4"},
        {"options": [1]},
        {"headers": ["a.h"]},
        {"headers": {"a.h": 1}},
        {"name_expressions": "scale<int>"},
        {"include_paths": 5},
    ],
)
def test_arguments_of_another_type_are_type_errors(device, arguments):
    with pytest.raises(TypeError):
        cs.Module(SCALE, **arguments)


def test_unknown_option_is_named(device):
    with pytest.raises((cs.CudaError, ValueError), match="no-such-option"):
        cs.Module("__global__ void k() {}", options=["--no-such-option"])


# Properties of a kernel


def test_parameters_are_the_source_s(device):
    parameters = module(device).vec_add.parameters

    assert [p.name for p in parameters] == ["a", "b", "c", "n"]
    assert [p.size for p in parameters] == [8, 8, 8, 4]
    assert [p.element for p in parameters] == ["float32"] * 3 + ["int32"]
    assert [p.is_const for p in parameters] == [True, True, False, False]


def test_attributes_count_static_shared_memory(device):
    mod = module(
        device,
        "__global__ void k(float* p) { __shared__ float s[256]; s[threadIdx.x] = 1; __syncthreads(); p[0] = s[255]; }",
    )
    a = mod.k.attributes

    assert a.shared_size == 1024
    assert a.max_threads_per_block == 1024


def test_launch_bounds_limit_the_block(device):
    mod = module(device, "__global__ void __launch_bounds__(128) k() {}")

    assert mod.k.attributes.max_threads_per_block == 128
    with pytest.raises(cs.CudaError):
        mod.k[1, 256]()


def test_dynamic_shared_memory_must_be_asked_for(device):
    kernel = cs.Module("__global__ void k() { extern __shared__ int s[]; s[0] = 1; }").k

    with pytest.raises(cs.CudaError, match="max_dynamic_shared"):
        kernel[1, 1, None, 64 << 10]()
    kernel.max_dynamic_shared = 100 << 10
    assert kernel.max_dynamic_shared == 100 << 10
    kernel[1, 1, None, 64 << 10]()
    device.synchronize()


def test_occupancy_is_of_the_block_and_its_shared_memory(device):
    kernel = cs.Module("__global__ void k() { extern __shared__ int s[]; s[0] = 1; }").k
    p = device.properties

    assert kernel.occupancy(1024) == p.max_threads_per_multiprocessor // 1024
    assert kernel.occupancy(32, shared=40 << 10) <= p.shared_memory_per_multiprocessor // (40 << 10)


def test_best_block_size_fills_the_device(device):
    grid, block = module(device).nothing.best_block_size()

    assert (
        grid * block
        == device.properties.multiprocessor_count * device.properties.max_threads_per_multiprocessor
    )


@pytest.mark.parametrize(
    ("grid", "block", "text"),
    [
        (1, 2048, "1024"),
        (0, 1, "grid"),
        (1, 0, "block"),
        ((1, 65536), 1, "65535"),
        (1, (1, 1, 65), "64"),
        (1, (32, 64), "1024"),
    ],
)
def test_impossible_launch_names_the_limit(device, grid, block, text):
    with pytest.raises((cs.CudaError, ValueError), match=text):
        module(device).nothing[grid, block]()
    device.synchronize()


@pytest.mark.parametrize("grid", [-1, 1.5, "1", None, (1, 2, 3, 4), (), 1 << 40])
def test_grid_that_is_none_is_refused(device, grid):
    with pytest.raises((TypeError, ValueError, OverflowError)):
        module(device).nothing[grid, 1]()


@pytest.mark.parametrize("key", [1, (1,), (1, 1, None, 0, 0)])
def test_brackets_take_two_to_four_things(device, key):
    with pytest.raises((TypeError, ValueError), match=r"grid.*block"):
        module(device).nothing[key]


def test_module_of_another_device_is_refused(device):
    other = cs.add_host_device("h200")
    kernel = module(device).nothing

    with pytest.raises(ValueError, match=other.name) as caught:
        kernel[1, 1, cs.Stream(device=other)]()

    assert device.name in str(caught.value)


def test_device_and_constant_variables_live_as_long_as_the_module(device):
    mod = cs.Module(
        """
        __device__ int counter = 5;
        __constant__ float table[4] = {1, 2, 3, 4};
        __global__ void count(int* out) { *out = atomicAdd(&counter, 1); }
        __global__ void read(float* out) { out[threadIdx.x] = table[threadIdx.x]; }
        """
    )
    out = cs.zeros(1, np.int32)
    values = []
    for _ in range(3):
        mod.count[1, 1](out)
        values += out.to_host().tolist()
    table = cs.zeros(4)
    mod.read[1, 4](table)

    assert values == [5, 6, 7]
    assert table.to_host().tolist() == [1, 2, 3, 4]


def test_modules_of_the_same_source_have_variables_of_their_own(device):
    source = "__device__ int n; __global__ void up(int* out) { *out = ++n; }"
    a, b = cs.Module(source), cs.Module(source)
    out = cs.zeros(2, np.int32)
    a.up[1, 1](out[0:1])
    a.up[1, 1](out[0:1])
    b.up[1, 1](out[1:2])

    assert out.to_host().tolist() == [2, 1]


def test_kernel_keeps_its_module(device):
    kernel = cs.Module("__global__ void k(int* p) { *p = 43; }").k
    p = cs.zeros(1, np.int32)
    kernel[1, 1](p)

    assert p.to_host().tolist() == [43]


@pytest.mark.subprocess
def test_interrupt_ends_a_compilation(run_python):
    done = run_python(
        """
        import os, signal, threading
        import cuscope as cs
        cs.zeros(1)
        slow = "#include <regex>\\n__global__ void nothing() {}"
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            with cs.Device("host:0"):
                cs.Module(slow, cache=False)
        except KeyboardInterrupt:
            print("interrupted")
        timer.join()
        print(cs.zeros(2).to_host().tolist())
        """
    )

    assert done.stdout.split("\n")[:2] == ["interrupted", "[0.0, 0.0]"], done.stderr
