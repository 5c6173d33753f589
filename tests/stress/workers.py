"""Threads of the stress test: the objects of one thread, and the objects that all threads share."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import cuscope as cs

KERNELS = """
__global__ void add(int* x, int v) { x[threadIdx.x] += v; }
__global__ void dynamic(int* x) { extern __shared__ int s[]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads();
                                  x[threadIdx.x] = s[31 - threadIdx.x]; }
__global__ void choose(cudaGraphConditionalHandle h) { cudaGraphSetConditional(h, 0); }
__device__ int variable[32];
"""
LENGTH = 32


@dataclass
class Objects:
    """The objects that threads use: of one thread alone, or shared by all."""

    streams: list[cs.Stream] = field(
        default_factory=lambda: [cs.Stream(non_blocking=i > 1) for i in range(4)]
    )
    arrays: list[cs.DeviceArray] = field(
        default_factory=lambda: [cs.zeros(LENGTH, np.int32) for _ in range(4)]
    )
    plain: list[cs.DeviceArray] = field(
        default_factory=lambda: [cs.empty_plain(LENGTH, np.int32) for _ in range(2)]
    )
    managed: list[cs.DeviceArray] = field(default_factory=lambda: [cs.empty_managed(LENGTH, np.int32)])
    pinned: list[np.ndarray] = field(
        default_factory=lambda: [cs.pinned_empty(LENGTH, np.int32) for _ in range(2)]
    )
    events: list[cs.Event] = field(default_factory=lambda: [cs.Event() for _ in range(4)])
    pools: list[cs.MemoryPool] = field(default_factory=lambda: [cs.MemoryPool(limit=64 << 20)])
    cuda_arrays: list[cs.CudaArray] = field(
        default_factory=lambda: [cs.CudaArray(LENGTH, np.int32, surface=True) for _ in range(2)]
    )
    mipmapped: list[cs.MipmappedArray] = field(
        default_factory=lambda: [cs.MipmappedArray(LENGTH, np.int32, surface=True)]
    )
    graphs: list[cs.Graph] = field(default_factory=list)
    executables: list[cs.GraphExec] = field(default_factory=list)
    modules: list[cs.Module] = field(default_factory=lambda: [cs.Module(KERNELS)])


class Worker:
    """A thread: its random numbers, its own objects, and the shared objects."""

    def __init__(self, seed: int, shared: Objects, device: cs.Device) -> None:
        self.random = random.Random(seed)
        self.shared, self.own, self.device = shared, Objects(), device

    def objects(self) -> Objects:
        return self.shared if self.random.random() < 0.6 else self.own

    def pick(self, kind: str) -> Any:
        return self.random.choice(getattr(self.objects(), kind))

    @property
    def stream(self) -> cs.Stream:
        return self.pick("streams")

    @property
    def array(self) -> cs.DeviceArray:
        return self.pick("arrays")

    @property
    def event(self) -> cs.Event:
        return self.pick("events")

    @property
    def module(self) -> cs.Module:
        return self.pick("modules")

    def replace(self, kind: str, made: Any, keep: int = 0) -> Any:
        """Puts an object in the place of another one, or beside the others while they are few; returns the old one."""
        objects = getattr(self.objects(), kind)
        if len(objects) < keep:
            objects.append(made)
            return None
        index = self.random.randrange(len(objects))
        before, objects[index] = objects[index], made
        return before
