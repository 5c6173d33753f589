"""The addresses of the memory of simulated devices."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("words", [1, 3])
def test_an_index_of_a_large_power_of_two_reaches_no_other_device(run_python, words):
    done = run_python(
        f"""
        import numpy as np
        import cuscope as cs
        SOURCE = "__global__ void k(int* p, long long i) {{ p[i] = 1; }}"
        arrays = []
        for _ in range(20):
            with cs.add_host_device("h200"):
                arrays.append(cs.zeros(4, np.int32))
        for array, power in zip(arrays, range(36, 43)):
            with array.device:
                try:
                    cs.Module(SOURCE).k[1, 1](array, {words} << power)
                    cs.synchronize()
                except cs.CudaError as error:
                    print(error.name)
        print([a.to_host().tolist() for a in arrays[7:]] == [[0] * 4] * 13)
        """
    )

    assert done.stdout.split() == ["cudaErrorIllegalAddress"] * 7 + ["True"], done.stderr
