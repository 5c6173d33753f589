"""The toolkit's generators of random numbers in kernels: <curand_kernel.h>."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

SOURCE = """
#include <curand_kernel.h>

__global__ void words(unsigned long long seed, uint4* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, i, 0, &state);
    out[i] = curand4(&state);
}

__global__ void start(curandState* states, unsigned long long seed) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, i, 0, &states[i]);
}

__global__ void numbers(curandState* states, float* uniform, float* normal, double* wide, int each) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    curandState state = states[i];
    for (int k = 0; k < each; ++k) {
        uniform[k * threads + i] = curand_uniform(&state);
        normal[k * threads + i] = curand_normal(&state);
        wide[k * threads + i] = curand_uniform_double(&state);
    }
    states[i] = state;
}
"""


@pytest.fixture
def generators(device) -> cs.Module:
    try:
        return module(device, SOURCE)
    except cs.CompileError as error:
        if "which is not on this machine" in error.log:
            pytest.skip("the toolkit's <curand_kernel.h> is not on this machine")
        raise


def philox(seed: int, subsequence: int) -> list[int]:
    """The first four words of a subsequence, after Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"."""
    mask = 0xFFFFFFFF
    counter, key = [0, 0, subsequence, 0], [seed & mask, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(b >> 32) ^ counter[1] ^ key[0], b & mask, (a >> 32) ^ counter[3] ^ key[1], a & mask]
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    return counter


def test_philox_gives_the_words_of_its_definition(generators):
    out = cs.zeros((64, 4), np.uint32)
    generators.words[2, 32](0x123456789ABCDEF, out)

    assert out.to_host().tolist() == [philox(0x123456789ABCDEF, i) for i in range(64)]


def test_random_numbers_have_the_mean_and_variance_of_their_distribution(generators):
    threads, each = 256, 40
    states = cs.zeros(threads * 64, np.uint8)
    generators.start[4, 64](states, 1234)
    uniform, normal = cs.zeros((each, threads)), cs.zeros((each, threads))
    wide = cs.zeros((each, threads), np.float64)
    generators.numbers[4, 64](states, uniform, normal, wide, each)

    u, n, w = uniform.to_host(), normal.to_host(), wide.to_host()
    for x in (u, w):
        assert ((x > 0) & (x <= 1)).all()
        assert x.mean() == pytest.approx(0.5, abs=0.02)
        assert x.std() == pytest.approx(12**-0.5, abs=0.02)
    assert n.mean() == pytest.approx(0, abs=0.05)
    assert n.std() == pytest.approx(1, abs=0.05)
    assert len(np.unique(w)) == w.size

    generators.numbers[4, 64](states, uniform, normal, wide, each)
    assert not (wide.to_host() == w).any()
