"""Headers, types and variables of the host in sources. Kernels do not use them, and nvcc's device pass accepts them."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

PUT = "__global__ void put(int* p) { *p = 5; }"


def result_of(kernel):
    x = cs.zeros(1, np.int32)
    kernel[1, 1](x)
    return x.to_host().tolist()


@pytest.mark.parametrize(
    "header",
    [
        "bits/stdc++.h",
        "ratio",
        "charconv",
        "numbers",
        "memory_resource",
        "fenv.h",
        "wchar.h",
        "sys/times.h",
        "poll.h",
    ],
)
def test_headers_of_the_host_are_found(device, header):
    assert result_of(module(device, f"#include <{header}>\n{PUT}").put) == [5]


@pytest.mark.parametrize(
    ("header", "member"),
    [
        ("stdio.h", "FILE* file"),
        ("glob.h", "glob_t found"),
        ("pthread.h", "pthread_t thread"),
        ("string", "std::string name"),
        ("vector", "std::vector<int> values"),
        ("map", "std::map<int, float> table"),
        ("unordered_map", "std::unordered_map<int, float> table"),
        ("memory", "std::shared_ptr<int> shared"),
        ("mutex", "std::mutex mutex"),
        ("chrono", "std::chrono::steady_clock::time_point began"),
        ("bits/stdc++.h", "std::deque<int> waiting"),
    ],
)
def test_classes_may_have_members_of_host_types(device, header, member):
    source = f"""#include <{header}>
struct State {{ int before; {member}; int after; }};
__global__ void put(int* p, State* state) {{ *p = state == nullptr ? 5 : state->after; }}
"""
    x = cs.zeros(1, np.int32)

    module(device, source).put[1, 1](x, None)

    assert x.to_host().tolist() == [5]


def test_namespace_of_clocks_may_be_used(device):
    source = "#include <chrono>\nusing namespace std::chrono;\n" + PUT

    assert result_of(module(device, source).put) == [5]


@pytest.mark.parametrize("header", ["math.h", "stdint.h", "limits.h", "stdio.h"])
def test_headers_of_c_stand_in_extern_c(device, header):
    source = f'extern "C" {{\n#include <{header}>\n}}\n' + PUT

    assert result_of(module(device, source).put) == [5]


def test_parameters_are_called_as_variables_of_the_host_are(device):
    source = """
static int *values = NULL, count;
int height(int* node);
float scale = 0.5f;
__global__ void put(int* values, int count, int height) { values[0] = count + height; }
int main() { count = height(values); put<<<1, 1>>>(values, count, 1); }
"""
    x = cs.zeros(1, np.int32)

    module(device, source).put[1, 1](x, 3, 2)

    assert x.to_host().tolist() == [5]


def test_headers_behind_one_that_asks_for_others_lose_their_host_code(device, tmp_path):
    (tmp_path / "first.h").write_text("#if __has_include(<nowhere.h>)\n#endif\n")
    (tmp_path / "second.h").write_text("inline int length(const char* s) { return printf(s); }\n")
    (tmp_path / "both.h").write_text("#include <second.h>\n#include <first.h>\n")
    (tmp_path / "empty").mkdir()
    path = tmp_path / "file.cu"
    path.write_text(
        "#include <first.h>\n#include <second.h>\n#include <both.h>\n" + PUT + "\nint main() {}\n"
    )
    # The folder without the headers is searched first, each time that a header is included.
    mod = cs.Module.from_file(path, include_paths=[tmp_path / "empty", tmp_path])

    assert result_of(mod.put) == [5]


@pytest.mark.parametrize("header", ["values.h", "error.h", "memory.h", "semaphore.h", "inttypes.h", "queue"])
def test_headers_of_a_project_come_before_headers_of_the_host(device, tmp_path, header):
    (tmp_path / header).write_text("#define FIVE 5\n")
    source = f'#include "{header}"\n__global__ void put(int* p) {{ *p = FIVE; }}'

    assert result_of(cs.Module(source, include_paths=[tmp_path]).put) == [5]


def test_a_header_of_a_project_includes_its_neighbour(device, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "all.h").write_text('#include "error.h"\n')
    (tmp_path / "parts" / "error.h").write_text("#define FIVE 5\n")
    source = '#include "parts/all.h"\n__global__ void put(int* p) { *p = FIVE; }'

    assert result_of(cs.Module(source, include_paths=[tmp_path]).put) == [5]


def test_headers_that_a_project_brings_know_the_types_of_opengl(device, tmp_path):
    (tmp_path / "GL").mkdir()
    (tmp_path / "GL" / "extension.h").write_text("typedef GLclampf GLextension;\n")
    source = "#include <GL/gl.h>\n#include <GL/extension.h>\n" + PUT

    assert result_of(cs.Module(source, include_paths=[tmp_path]).put) == [5]


def test_register_variables_are_taken(device):
    source = "__global__ void put(int* p) { register int five = 5; *p = five; }"

    assert result_of(module(device, source).put) == [5]


@pytest.mark.parametrize(
    "host_code", ["", "int main() { put<<<1, 1>>>(nullptr); }"], ids=["alone", "beside host code"]
)
@pytest.mark.parametrize(
    "lambda_",
    ["[&](auto x) { sum += x; }", "[&] (auto x) { sum += x; }", "[&]<class T>(T x) { sum += x; }"],
    ids=["auto", "space", "template"],
)
def test_lambdas_with_template_parameters_are_device_code(device, lambda_, host_code):
    source = f"""
template <class F> __device__ void for_both(F f) {{ f(2); f(3.0f); }}
__global__ void put(int* p) {{ int sum = 0;\tfor_both({lambda_}); *p = sum; }}
{host_code}
"""

    assert result_of(module(device, source, options=("-std=c++20",)).put) == [5]


@pytest.mark.gpu_only("a simulated device takes a function without __device__ for device code")
def test_host_functions_are_refused_beside_such_lambdas(device):
    source = """
int two() { return 2; }
__global__ void put(int* p) { auto add = [&](auto x) { *p = x + two(); }; add(3); }
"""

    with pytest.raises(cs.CompileError, match="int two") as error:
        module(device, source)

    assert "host function" in str(error.value)


def test_sources_know_the_operating_system(device):
    source = "#ifndef __linux__\n#error not Linux\n#endif\n" + PUT

    assert result_of(module(device, source).put) == [5]


def test_thrust_of_host_code_is_left_out(device):
    source = """#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/sort.h>
struct Step {
    float by;
    template <typename Tuple> __device__ void operator()(Tuple t) {
        thrust::get<0>(t) += by * thrust::get<1>(t);
    }
};
__global__ void put(int* p) {
    float x = 1, v = 2;
    Step{2}(thrust::tuple<float&, float&>(x, v));
    *p = thrust::maximum<int>()(3, (int)x);
}
int main() {
    thrust::device_vector<float> x(8), v(8);
    auto first = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), v.begin()));
    thrust::for_each(first, first + 8, Step{2});
    thrust::sort(x.begin(), x.end());
    put<<<1, 1>>>(nullptr);
}
"""

    assert result_of(module(device, source).put) == [5]


def test_complex_numbers_of_thrust_are_computed(device):
    source = """#include <thrust/complex.h>
__global__ void put(int* p) {
    thrust::complex<float> a(1, 2), b(3, 4);
    *p = int((a * b).imag()) / 2;
}
"""

    assert result_of(module(device, source).put) == [5]


def test_linkage_and_marker_stand_without_a_space(device):
    source = 'extern "C"__global__ void put(int* p) { *p = 5; }'

    assert result_of(module(device, source).put) == [5]
