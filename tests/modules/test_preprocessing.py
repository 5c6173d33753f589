"""Sources without a directive and without a macro. A simulated device puts them behind the header of the language, which
it preprocesses once."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs

# The body of `void put(int* p)`, which has to set p[0] to 47.
BODIES = {
    "comments": "/* p[0] = 1; */ p[0] = /* two\nlines */ 47; // p[0] = 2;",
    "a comment behind the last line": "p[0] = 47; } // }",
    "a comment that goes on in the next line": "p[0] = 47; // \\\n p[0] = 1;",
    "marks of comments in strings": 'const char* s = "/*//\\"#"; p[0] = s[0];',
    "marks of comments in characters": "p[0] = '/*' == 0 ? 1 : '/';",
    "a raw string": 'const char* s = R"x(\n// )" /*)x"; p[0] = s[1];',
    "a separator of digits": "p[0] = 1'000 - 953;",
    "digraphs": "<% p<:0:> = 47; %>",
    "a pragma": "p[0] = 0;\n#pragma unroll 5\nfor (int i = 0; i < 47; ++i) ++p[0];",
    "a pragma behind spaces": "p[0] = 0;\n  #pragma unroll 5\nfor (int i = 0; i < 47; ++i) ++p[0];",
    "a pragma behind a comment": "p[0] = 0;\n/* a\nb */\t# pragma unroll(5)\nfor (int i = 0; i < 47; ++i) ++p[0];",
    "a pragma with a comment": "p[0] = 0;\n#pragma unroll // 5\nfor (int i = 0; i < 47; ++i) ++p[0];",
    "a macro of the language's header": "p[0] = INFINITY > 0.0f ? 47 : 1;",
    "a macro of the compiler": "p[0] = __CUDACC__ ? 47 : 1;",
    "a macro that needs the place": "\n/*\n*/\n// \\\n\np[0] = 41 + __LINE__;",
    "the name of the file": "p[0] = __FILE__[0] == 'k' ? 47 : 1;",
    "a joined line": "p[0] = 4\\\n7;",
}


# NVRTC takes none of these; g++ and clang++ do.
BODIES_OF_HOSTS = {
    "a pragma in two lines": "p[0] = 0;\n#pragma unroll \\ \n5\nfor (int i = 0; i < 47; ++i) ++p[0];",
    "a line joined behind blanks": "p[0] = 47; // \\ \t\np[0] = 1;",
    "letters by their numbers": "int \\u00e9 = 40; p[0] = \u00e9 + 7;",
}


def result_of(body: str) -> list[int]:
    end = "" if body.endswith("// }") else "\n}"
    p = cs.zeros(1, np.int32)
    cs.Module("__global__ void put(int* p) {" + body + end).put[1, 1](p)
    return p.to_host().tolist()


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_source_means_the_same_with_and_without_a_preprocessor(device, body):
    assert result_of(body) == [47]


@pytest.mark.host_only("NVRTC does not take them")
@pytest.mark.parametrize("body", BODIES_OF_HOSTS.values(), ids=BODIES_OF_HOSTS)
def test_a_source_for_the_compiler_of_the_host_means_the_same_without_a_preprocessor(device, body):
    assert result_of(body) == [47]


@pytest.mark.host_only("NVRTC refuses the mark")
def test_a_source_may_begin_with_the_mark_of_its_encoding(device):
    p = cs.zeros(1, np.int32)

    cs.Module("\ufeff__global__ void put(int* p) { p[0] = 47; }").put[1, 1](p)

    assert p.to_host().tolist() == [47]


@pytest.mark.host_only("NVRTC gives the kernel another name")
def test_a_kernel_may_have_a_letter_by_its_number(device):
    p = cs.zeros(1, np.int32)

    cs.Module("__global__ void put\\u00e9(int* p) { p[0] = 47; }")["put\u00e9"][1, 1](p)

    assert p.to_host().tolist() == [47]


@pytest.mark.host_only("NVRTC writes other messages")
@pytest.mark.parametrize(
    "keyword", ["__global__ void", "__global__  /* a\n */ void", "template <class T> __global__ void"]
)
def test_an_error_behind_a_keyword_names_its_column(device, keyword):
    source = (
        keyword
        + " put(int* p) { exit(0); }"
        + ("\ntemplate __global__ void put<int>(int*);" * ("T" in keyword))
    )
    line = source.splitlines()[keyword.count("\n")]

    with pytest.raises(cs.CompileError) as raised:
        cs.Module(source, file_name="put.cu")

    place = re.search(r"put\.cu:(\d+):(\d+)", str(raised.value))
    assert place
    assert int(place[1]) == 1 + keyword.count("\n")
    # GCC names the parenthesis of a call.
    assert int(place[2]) - 1 in (line.index("exit"), line.index("(0)"))


@pytest.mark.host_only("NVRTC writes other messages")
@pytest.mark.parametrize("before", ["", "const float unused = INFINITY;\n"], ids=["", "a macro"])
def test_an_error_names_its_line_and_column(device, before):
    line = "b */ p[0] = 1; /* c */ p[1] = missing; }"

    with pytest.raises(cs.CompileError) as raised:
        cs.Module(f"{before}__global__ void put(int* p) {{ /* a\n{line}", file_name="put.cu")

    place = f"put.cu:{2 + before.count(chr(10))}:{line.index('missing') + 1}: error: "
    assert place in str(raised.value)


def wrap_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    """Puts a shell script in the place of the compiler. It runs the lines `before`, and then $compiler."""
    wrapper = folder / "compiler"
    compiler = os.environ.get("CUSCOPE_CXX", "c++")
    wrapper.write_text(f'#!/bin/sh\ncompiler="{compiler}"\n{before}\nexec $compiler "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CUSCOPE_CXX", str(wrapper))


@pytest.fixture
def preprocessed(tmp_path, monkeypatch):
    """A function that returns how often the preprocessor ran since the last call."""
    log = tmp_path / "runs"
    wrap_compiler(tmp_path, monkeypatch, f'case " $* " in *" -E "*) echo >> "{log}";; esac')
    monkeypatch.setenv("CUSCOPE_CACHE_DIR", str(tmp_path / "cache"))

    def count() -> int:
        runs = len(log.read_text()) if log.exists() else 0
        log.unlink(missing_ok=True)
        return runs

    return count


@pytest.mark.host_only("NVRTC preprocesses each source")
def test_the_header_is_preprocessed_once(device, preprocessed):
    for number in range(3):
        cs.Module(f"__global__ void put(int* p) {{ *p = {number}; }}")

    assert preprocessed() == 1


@pytest.mark.host_only("NVRTC preprocesses each source")
def test_the_header_is_preprocessed_once_for_sources_in_files(device, preprocessed, tmp_path):
    for number in range(3):
        path = tmp_path / f"put_{number}.cu"
        path.write_text(f"__global__ void put(int* p) {{ *p = {number}; }}")
        cs.Module.from_file(path)

    assert preprocessed() == 1


@pytest.mark.host_only("NVRTC writes other messages")
def test_an_error_in_a_file_names_its_path_and_line(device, tmp_path):
    path = tmp_path / "put.cu"
    path.write_text("__global__ void put(int* p) {\n    *p = missing;\n}\n")

    with pytest.raises(cs.CompileError, match=re.escape(f"{path}:2:10: error: ")):
        cs.Module.from_file(path)


@pytest.mark.host_only("NVRTC preprocesses each source")
@pytest.mark.parametrize("number", ["INT_MAX", "__LINE__", "1\n#if 0\n#endif\n", "1 /* ??/ */"])
def test_a_source_that_needs_it_is_preprocessed(device, preprocessed, number):
    cs.Module("__global__ void put(int* p) { *p = 1; }")
    preprocessed()

    cs.Module(f"__global__ void put(int* p) {{ *p = {number}; }}")

    assert preprocessed() == 1


@pytest.mark.host_only("NVRTC preprocesses each source")
def test_the_preprocessed_header_is_kept_on_disk(device, preprocessed, run_python):
    program = "import cuscope as cs; cs.Module('__global__ void put(int* p) {{ *p = {}; }}', device=cs.Device('host:0'))"
    first = run_python(program.format(1))
    ran = preprocessed()
    second = run_python(program.format(2))

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert (ran, preprocessed()) == (1, 0)


@pytest.mark.host_only("NVRTC preprocesses each source")
def test_a_damaged_copy_on_disk_is_not_used(device, preprocessed, run_python, tmp_path):
    program = "import cuscope as cs; cs.Module('__global__ void put(int* p) {{ *p = {}; }}', device=cs.Device('host:0'))"
    run_python(program.format(1))
    preprocessed()
    for path in Path(tmp_path / "cache").iterdir():
        path.write_bytes(path.read_bytes()[:-100] + b"/" * 100)

    done = run_python(program.format(2))

    assert done.returncode == 0, done.stderr
    assert preprocessed() == 1


@pytest.mark.host_only("NVRTC preprocesses each source")
def test_a_changed_header_of_the_system_is_preprocessed_again(device, preprocessed, run_python, tmp_path):
    program = "import cuscope as cs; cs.Module('__global__ void put(int* p) {{ *p = {}; }}', device=cs.Device('host:0'))"
    header = tmp_path / "string.h"
    header.write_text("#include_next <string.h>\n")
    environment = {"CPATH": str(tmp_path)}
    run_python(program.format(1), env=environment)
    preprocessed()
    run_python(program.format(2), env=environment)
    unchanged = preprocessed()
    header.write_text("#include_next <string.h>\n#define VALUE 47\n")

    run_python(program.format(3), env=environment)

    assert (unchanged, preprocessed()) == (0, 1)


CALL_OF_THE_LIBRARY = """
    #include <functional>
    __global__ void put(int* p) { *p = std::hash<double>()(*p + 2.0) != 0 ? 47 : 1; }
"""


@pytest.mark.host_only("a GPU has no C++ library of the host")
@pytest.mark.parametrize("linker", ["", "gold", "lld"])
def test_a_kernel_may_call_a_function_of_the_hosts_library(device, linker, tmp_path, monkeypatch):
    if linker:
        if not shutil.which(f"ld.{linker}"):
            pytest.skip(f"there is no {linker} on this machine")
        wrap_compiler(
            tmp_path, monkeypatch, f'case "$*" in *-shared*) exec $compiler -fuse-ld={linker} "$@";; esac'
        )
    p = cs.zeros(1, np.int32)

    cs.Module(CALL_OF_THE_LIBRARY, cache=False).put[1, 1](p)

    assert p.to_host().tolist() == [47]


@pytest.mark.host_only("a GPU's compiler links no library")
@pytest.mark.parametrize(
    ("source", "links"),
    [
        ("__global__ void put(int* p) { *p = 1; }", [False]),
        ("#include <iostream>\n__global__ void put(int* p) { *p = 1; }", [True]),
        (CALL_OF_THE_LIBRARY, [False, True]),
    ],
    ids=["a kernel", "a file of a program", "a call"],
)
def test_the_linker_reads_the_cpp_library_if_it_is_needed(device, tmp_path, monkeypatch, source, links):
    log = tmp_path / "links"
    wrap_compiler(tmp_path, monkeypatch, f'case "$*" in *-shared*) echo "$*" >> "{log}";; esac')

    cs.Module(source, cache=False)

    assert ["-lstdc++" in line for line in log.read_text().splitlines()] == links


@pytest.mark.host_only("device code has no dynamic_cast")
def test_a_kernel_may_ask_for_the_class_of_an_object(device):
    source = """
    struct Base { __device__ virtual ~Base() {} };
    struct Derived : Base { int value = 47; };
    __global__ void put(int* p) {
        Derived derived;
        Base base, *first = &derived, *second = &base;
        asm volatile("" : "+r"(first), "+r"(second));
        *p = dynamic_cast<Derived*>(second) == nullptr ? dynamic_cast<Derived*>(first)->value : 1;
    }
    """
    p = cs.zeros(1, np.int32)

    cs.Module(source).put[1, 1](p)

    assert p.to_host().tolist() == [47]
