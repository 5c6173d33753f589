"""docs/cuda-map.md has every function of the contract and of CUDA's documents, and names that exist."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

import pytest

import cuscope as cs
from documents import DOCUMENTS, ROOT

PAGE = DOCUMENTS / "cuda-map.md"
METHODS = ROOT / "src" / "runtime" / "runtime_methods.inc"
TEXT = PAGE.read_text()
# The rows of tables with four columns: functions, calls, note, section.
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if line.count("|") == 5 and line.startswith("| `")
]
FUNCTIONS = [name for row in ROWS for name in re.findall(r"`([^`]+)`", row[0])]
CALLS = sorted({call for row in ROWS for call in re.findall(r"`([^`]+)`", row[1])})
# Methods whose functions of CUDA are named otherwise; the contract joins some of them.
RENAMED = {
    "memset_d2d16_async": "cuMemsetD2D16Async",
    "memset_d2d32_async": "cuMemsetD2D32Async",
    "stream_write_value_32": "cuStreamWriteValue32",
    "stream_write_value_64": "cuStreamWriteValue64",
    "stream_wait_value_32": "cuStreamWaitValue32",
    "stream_wait_value_64": "cuStreamWaitValue64",
    "stream_batch_mem_op": "cuStreamBatchMemOp",
    "graph_node_get_params": "cudaGraphKernelNodeGetParams",
    "tensor_map_encode_tiled": "cuTensorMapEncodeTiled",
}
# Methods that are no function of CUDA: the last part of the list in runtime_methods.inc.
OWN = {"compile", "launch_counted", "kernel_time_by_counts", "kernel_time", "add_device"}
# The functions, flags and types of the five documents that cuscope follows.
OF_DOCUMENTS = re.findall(
    r"\w+",
    """
    cudaDeviceGetStreamPriorityRange cudaDeviceProp cudaDeviceReset cudaDeviceSynchronize cudaError_t cudaEventCreate
    cudaEventCreateWithFlags cudaEventDestroy cudaEventDisableTiming cudaEventElapsedTime cudaEventQuery cudaEventRecord
    cudaEventSynchronize cudaEvent_t cudaExtent cudaFree cudaFreeHost cudaGetDevice cudaGetDeviceProperties
    cudaGetSymbolAddress cudaGetSymbolSize cudaGraphAddDependencies cudaGraphAddKernelNode cudaGraphCreate
    cudaGraphDependencyTypeProgrammatic cudaGraph_t cudaGridDependencySynchronize cudaHostAlloc cudaHostAllocDefault
    cudaHostAllocMapped cudaHostAllocPortable cudaHostAllocWriteCombined cudaHostGetDevicePointer cudaHostRegister
    cudaHostRegisterMapped cudaHostRegisterPortable cudaHostUnregister cudaLaunchAttribute
    cudaLaunchAttributeProgrammaticStreamSerialization cudaLaunchHostFunc cudaLaunchKernelEx cudaMalloc cudaMalloc3D
    cudaMallocHost cudaMallocPitch cudaMemcpy cudaMemcpy2D cudaMemcpy3D cudaMemcpyAsync cudaMemcpyDeviceToHost
    cudaMemcpyFromSymbol cudaMemcpyHostToDevice cudaMemcpyToSymbol cudaPitchedPtr cudaSetDeviceFlags
    cudaStreamAddCallback cudaStreamBeginCapture cudaStreamBeginCaptureToGraph cudaStreamCreate
    cudaStreamCreateWithFlags cudaStreamCreateWithPriority cudaStreamDestroy cudaStreamEndCapture
    cudaStreamGetCaptureInfo cudaStreamNonBlocking cudaStreamQuery cudaStreamSynchronize
    cudaStreamUpdateCaptureDependencies cudaStreamWaitEvent cudaStream_t cudaTriggerProgrammaticLaunchCompletion
""",
)


def contract() -> Iterator[str]:
    return (found[1] for found in re.finditer(r"^CUSCOPE_METHOD\((\w+)", METHODS.read_text(), re.MULTILINE))


def resolve(name: str) -> object:
    value: object = cs
    for part in name.removeprefix("cs.").split("."):
        value = getattr(value, part)
    return value


def test_each_function_has_one_row() -> None:
    assert len(FUNCTIONS) > 200
    assert sorted(FUNCTIONS) == sorted(set(FUNCTIONS))


@pytest.mark.parametrize("call", CALLS)
def test_each_call_exists_with_its_keywords(call: str) -> None:
    expression = ast.parse(call, mode="eval").body
    function = expression.func if isinstance(expression, ast.Call) else expression
    found = resolve(ast.unparse(function))
    if isinstance(expression, ast.Call) and expression.keywords:
        accepted = inspect.signature(found).parameters
        assert all(keyword.arg in accepted for keyword in expression.keywords)


def test_a_function_without_a_call_has_a_reason() -> None:
    reasons = [row[2] for row in ROWS if row[1] == "none"]
    assert reasons
    assert all(reasons)


def test_each_row_names_a_section() -> None:
    assert all(len(row) == 4 and row[3] for row in ROWS)


def test_each_method_of_the_contract_has_a_row() -> None:
    rows = {name.removeprefix("cuda").lower() for name in FUNCTIONS}
    missing = [
        name
        for name in contract()
        if name not in OWN and RENAMED.get(name) not in FUNCTIONS and name.replace("_", "") not in rows
    ]
    assert missing == []


def test_each_name_of_the_documents_has_a_row() -> None:
    assert [name for name in OF_DOCUMENTS if name not in FUNCTIONS] == []
