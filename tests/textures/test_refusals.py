"""Arguments that CUDA arrays, textures and surfaces refuse: the message names the value and the way out."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

REFUSED = {
    "no axes": (lambda: cs.CudaArray(()), ValueError, "1 to 3 axes"),
    "four axes": (lambda: cs.CudaArray((1, 1, 1, 1)), ValueError, "1 to 3 axes"),
    "no elements": (lambda: cs.CudaArray((0, 3)), ValueError, "1 or more"),
    "doubles": (lambda: cs.CudaArray(3, np.float64), TypeError, "float64"),
    "three channels": (lambda: cs.CudaArray(3, channels=3), ValueError, "1, 2 and 4"),
    "gather of a volume": (lambda: cs.CudaArray((2, 2, 2), gather=True), ValueError, "2 axes"),
    "too wide": (lambda: cs.CudaArray(1 << 30), cs.CudaError, "InvalidValue"),
    "another shape": (lambda: cs.CudaArray(3).copy_from(np.zeros(4, np.float32)), ValueError, r"\(4,\)"),
    "another dtype": (lambda: cs.CudaArray(3).copy_from(np.zeros(3)), TypeError, "astype"),
    "to NumPy": (lambda: cs.CudaArray(3).copy_to(np.zeros(3, np.float32)), TypeError, "to_host"),
    "to another shape": (lambda: cs.CudaArray(3).copy_to(cs.zeros(4)), ValueError, r"\(4,\)"),
    "of a list": (lambda: cs.Texture([1, 2]), TypeError, "CudaArray, a MipmappedArray or a DeviceArray"),
    "filter": (lambda: cs.Texture(cs.CudaArray(3), filter="cubic"), ValueError, "'point', 'linear'"),
    "address": (lambda: cs.Texture(cs.CudaArray(3), address="repeat"), ValueError, "'wrap', 'clamp'"),
    "address of 4 axes": (lambda: cs.Texture(cs.CudaArray(3), address=("clamp",) * 4), ValueError, "3 axes"),
    "address of a number": (lambda: cs.Texture(cs.CudaArray(3), address=1), TypeError, "'mirror'"),
    "wrap of elements": (
        lambda: cs.Texture(cs.CudaArray(3), address="wrap"),
        ValueError,
        "normalized_coordinates",
    ),
    "border of text": (lambda: cs.Texture(cs.CudaArray(3), border="red"), TypeError, "border"),
    "border of 5": (lambda: cs.Texture(cs.CudaArray(3), border=(1, 2, 3, 4, 5)), ValueError, "5 values"),
    "border of ints": (lambda: cs.Texture(cs.CudaArray(3, np.int8), border=1.5), ValueError, "1.5"),
    "filtered ints": (
        lambda: cs.Texture(cs.CudaArray(3, np.int8), filter="linear"),
        ValueError,
        "normalized_reads",
    ),
    "normalized floats": (lambda: cs.Texture(cs.CudaArray(3), normalized_reads=True), ValueError, "8 and 16"),
    "srgb": (lambda: cs.Texture(cs.CudaArray(3), srgb=True), ValueError, "uint8"),
    "channels of an array": (
        lambda: cs.Texture(cs.CudaArray(3), channels=2),
        ValueError,
        "2; the array has 1",
    ),
    "channels of memory": (lambda: cs.Texture(cs.zeros((4, 3)), channels=4), ValueError, "last axis"),
    "filtered memory": (lambda: cs.Texture(cs.zeros(9), filter="linear"), ValueError, "tex1Dfetch"),
    "steps": (lambda: cs.Texture(cs.zeros(9)[::2]), ValueError, "contiguous"),
    "a volume": (lambda: cs.Texture(cs.zeros((2, 2, 2))), ValueError, "CudaArray"),
    "unaligned": (lambda: cs.Texture(cs.zeros(9)[1:]), ValueError, r"copy\(\)"),
    "unpitched": (lambda: cs.Texture(cs.zeros((3, 7))), ValueError, "empty_pitched"),
    "surface of memory": (lambda: cs.Surface(cs.zeros(3)), TypeError, "CudaArray"),
    "surface of an array": (lambda: cs.Surface(cs.CudaArray(3)), ValueError, "surface=True"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals_name_the_fix(device, contract, what):
    use, error, text = REFUSED[what]
    with pytest.raises(error, match=text):
        use()
    assert contract.peek_at_last_error() == "cudaSuccess"
