"""Instructions of inline PTX that compute: arithmetic, logic, conversions, comparisons, and exchange within a warp."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import pytest

import cuscope as cs

TYPES = {  # the constraint of a type of PTX, the type of C++ in a register, and NumPy's
    "u16": ("h", "unsigned short", np.uint16),
    "s16": ("h", "short", np.int16),
    "u32": ("r", "unsigned", np.uint32),
    "s32": ("r", "int", np.int32),
    "u64": ("l", "unsigned long long", np.uint64),
    "s64": ("l", "long long", np.int64),
    "f32": ("f", "float", np.float32),
    "f64": ("d", "double", np.float64),
}
VALUES = {
    "u16": [0, 1, 7, 0x00FF, 0x1234, 0x7FFF, 0x8000, 0xFFFF],
    "s16": [0, 1, -1, 7, -300, 0x1234, 0x7FFF, -0x8000],
    "u32": [0, 1, 7, 31, 0xFF, 0x12345678, 0x7FFFFFFF, 0x80000000, 0xDEADBEEF, 0xFFFFFFFF],
    "s32": [0, 1, -1, 7, 31, -100, 0x12345678, 0x7FFFFFFF, -0x80000000],
    "u64": [0, 1, 7, 63, 0xFFFFFFFF, 0x123456789ABCDEF0, 1 << 63, (1 << 64) - 1],
    "s64": [0, 1, -1, 63, -(1 << 40), 0x123456789ABCDEF0, (1 << 63) - 1, -(1 << 63)],
    "f32": [0.0, -0.0, 1.0, -1.5, 0.1, 2.5, 3.5, -2.5, 1e-40, 3e38, 7e9, -7e9, math.inf, -math.inf, math.nan],
    "f64": [0.0, -0.0, 1.0, -1.5, 0.1, 2.5, -2.5, 1e-310, 1e300, 1e19, -1e19, math.inf, -math.inf, math.nan],
}


def bits(name: str) -> int:
    return int(name[1:])


def wrap(name: str, value: int) -> int:
    """The value as a number of the type: its low bits."""
    value &= (1 << bits(name)) - 1
    return value - (1 << bits(name)) if name[0] == "s" and value >> (bits(name) - 1) else value


def clamp(name: str, value: int) -> int:
    low, high = (
        (-(1 << bits(name) - 1), (1 << bits(name) - 1) - 1) if name[0] == "s" else (0, (1 << bits(name)) - 1)
    )
    return min(max(value, low), high)


def pattern(name: str, value: int) -> int:
    return value & ((1 << bits(name)) - 1)


def field(name: str, a: int, start: int, length: int) -> int:
    width = bits(name)
    if (
        width == 32
    ):  # A GPU takes 8 bits of both there, and all bits where it has to compute 64 bits by shifts.
        start, length = start & 255, length & 255
    start = min(start, width)
    last = min(start + length - 1, width - 1)
    sign = name[0] == "s" and length != 0 and pattern(name, a) >> last & 1
    places = [
        (pattern(name, a) >> i & 1) if i < min(start + length, width) else sign
        for i in range(start, start + width)
    ]
    return wrap(name, sum(int(bit) << i for i, bit in enumerate(places)))


def inserted(name: str, a: int, b: int, start: int, length: int) -> int:
    start, length = start & 255, length & 255
    result = pattern(name, b)
    for i in range(min(length, max(0, bits(name) - start))):
        result = result & ~(1 << start + i) | (pattern(name, a) >> i & 1) << start + i
    return wrap(name, result)


def found(name: str, a: int) -> int:
    """The place of the highest bit that differs from the sign."""
    return (pattern(name, ~a if a < 0 else a)).bit_length() - 1


def low24(name: str, x: int) -> int:
    return wrap("s32", x << 8) >> 8 if name[0] == "s" else x & 0xFFFFFF


def integer_cases() -> list[tuple[str, str, tuple[str, ...], Callable[..., int]]]:
    cases: list[tuple[str, str, tuple[str, ...], Callable[..., int]]] = []
    for t in ("u16", "s16", "u32", "s32", "u64", "s64"):
        b = "b" + t[1:]
        twice = t[0] + str(2 * bits(t))

        def add(
            ptx: str, inputs: tuple[str, ...], work: Callable[..., int], output: str = t, t: str = t
        ) -> None:
            cases.append((ptx, output, inputs, lambda *values, o=output: wrap(o, work(t, *values))))

        add(f"add.{t}", (t, t), lambda t, x, y: x + y)
        add(f"sub.{t}", (t, t), lambda t, x, y: x - y)
        add(f"mul.lo.{t}", (t, t), lambda t, x, y: x * y)
        add(f"mul.hi.{t}", (t, t), lambda t, x, y: x * y >> bits(t))
        add(f"mad.lo.{t}", (t, t, t), lambda t, x, y, z: x * y + z)
        add(f"mad.hi.{t}", (t, t, t), lambda t, x, y, z: (x * y >> bits(t)) + z)
        add(f"min.{t}", (t, t), lambda t, x, y: min(x, y))
        add(f"max.{t}", (t, t), lambda t, x, y: max(x, y))
        add(f"sad.{t}", (t, t, t), lambda t, x, y, z: z + abs(x - y))
        add(f"and.{b}", (t, t), lambda t, x, y: x & y)
        add(f"or.{b}", (t, t), lambda t, x, y: x | y)
        add(f"xor.{b}", (t, t), lambda t, x, y: x ^ y)
        add(f"not.{b}", (t,), lambda t, x: ~x)
        add(f"cnot.{b}", (t,), lambda t, x: x == 0)
        add(f"shl.{b}", (t, "u32"), lambda t, x, y: x << y if y < bits(t) else 0)
        add(f"shr.{t}", (t, "u32"), lambda t, x, y: x >> min(y, bits(t)))
        if t[0] == "s":
            add(f"neg.{t}", (t,), lambda t, x: -x)
            add(f"abs.{t}", (t,), lambda t, x: abs(x))
        if t[1:] != "64":
            add(f"mul.wide.{t}", (t, t), lambda t, x, y: x * y, twice)
            add(f"mad.wide.{t}", (t, t, twice), lambda t, x, y, z: x * y + z, twice)
        if t[1:] != "16":
            add(f"popc.{b}", (t,), lambda t, x: pattern(t, x).bit_count(), "u32")
            add(f"clz.{b}", (t,), lambda t, x: bits(t) - pattern(t, x).bit_length(), "u32")
            add(f"brev.{b}", (t,), lambda t, x: int(f"{pattern(t, x):0{bits(t)}b}"[::-1], 2))
            add(f"bfind.{t}", (t,), found, "u32")
            add(
                f"bfind.shiftamt.{t}",
                (t,),
                lambda t, x: -1 if found(t, x) < 0 else bits(t) - 1 - found(t, x),
                "u32",
            )
            add(f"bfe.{t}", (t, "u32", "u32"), field)
            add(f"bfi.{b}", (t, t, "u32", "u32"), inserted)
    for t in ("u32", "s32"):
        cases.append((f"mul24.lo.{t}", t, (t, t), lambda x, y, t=t: wrap(t, low24(t, x) * low24(t, y))))
        cases.append((f"mul24.hi.{t}", t, (t, t), lambda x, y, t=t: wrap(t, low24(t, x) * low24(t, y) >> 16)))
    cases.append(("add.sat.s32", "s32", ("s32", "s32"), lambda x, y: clamp("s32", x + y)))
    cases.append(("sub.sat.s32", "s32", ("s32", "s32"), lambda x, y: clamp("s32", x - y)))
    for to in ("u16", "s16", "u32", "s32", "u64", "s64"):
        for of in ("u16", "s16", "u32", "s32", "u64", "s64"):
            if to != of:
                cases.append((f"cvt.{to}.{of}", to, (of,), lambda x, to=to: wrap(to, x)))
    cases.append(("cvt.sat.u16.s32", "u16", ("s32",), lambda x: clamp("u16", x)))
    cases.append(("cvt.sat.s32.s64", "s32", ("s64",), lambda x: clamp("s32", x)))
    return cases


def integral(x: float, how: str) -> float:
    if not math.isfinite(x):
        return x
    return float({"n": round, "z": math.trunc, "m": math.floor, "p": math.ceil}[how](x))


def to_integer(name: str, x: float, how: str, of: str) -> int:
    if math.isnan(x):  # zero only where no type has 64 bits, as GPUs answer
        return 0 if bits(name) < 64 and of != "f64" else wrap(name, 1 << bits(name) - 1)
    if math.isinf(x):
        return clamp(name, (1 << 70) * (1 if x > 0 else -1))
    return clamp(name, int(integral(x, how)))


def with_nan(least: Callable[..., float], x: float, y: float) -> float:
    return (
        y
        if math.isnan(x)
        else x
        if math.isnan(y)
        else least((x, math.copysign(1, x)), (y, math.copysign(1, y)))[0]
    )


def flushed(x: np.floating) -> np.floating:
    return np.copysign(type(x)(0), x) if abs(x) < 2.0**-126 else x


def float_cases() -> list[tuple[str, str, tuple[str, ...], Callable[..., object]]]:
    cases: list[tuple[str, str, tuple[str, ...], Callable[..., object]]] = []
    for t in ("f32", "f64"):
        n = TYPES[t][2]
        cases += [
            (f"add.{t}", t, (t, t), lambda x, y: x + y),
            (f"sub.rn.{t}", t, (t, t), lambda x, y: x - y),
            (f"mul.{t}", t, (t, t), lambda x, y: x * y),
            (f"div.rn.{t}", t, (t, t), lambda x, y: x / y),
            (f"rcp.rn.{t}", t, (t,), lambda x, n=n: n(1) / x),
            (f"sqrt.rn.{t}", t, (t,), lambda x: np.sqrt(x)),
            (f"neg.{t}", t, (t,), lambda x: -x),
            (f"abs.{t}", t, (t,), lambda x: abs(x)),
            (f"min.{t}", t, (t, t), lambda x, y: with_nan(min, x, y)),
            (f"max.{t}", t, (t, t), lambda x, y: with_nan(max, x, y)),
            (f"copysign.{t}", t, (t, t), lambda x, y: np.copysign(y, x)),
            (f"cvt.rni.{t}.{t}", t, (t,), lambda x, n=n: np.rint(x)),
            (f"cvt.rzi.{t}.{t}", t, (t,), lambda x: np.trunc(x)),
        ]
        for to in ("u32", "s32", "u64", "s64"):
            for how in "nzmp":
                cases.append(
                    (
                        f"cvt.r{how}i.{to}.{t}",
                        to,
                        (t,),
                        lambda x, to=to, how=how, of=t: to_integer(to, float(x), how, of),
                    )
                )
            cases.append((f"cvt.rn.{t}.{to}", t, (to,), lambda x, n=n: n(int(x))))
    cases += [
        ("cvt.f64.f32", "f64", ("f32",), lambda x: np.float64(x)),
        ("cvt.rn.f32.f64", "f32", ("f64",), lambda x: np.float32(x)),
        (
            "add.sat.f32",
            "f32",
            ("f32", "f32"),
            lambda x, y: np.float32(min(max(x + y, 0), 1) if x + y == x + y else 0),
        ),
        ("add.ftz.f32", "f32", ("f32", "f32"), lambda x, y: flushed(flushed(x) + flushed(y))),
        ("mul.ftz.f32", "f32", ("f32", "f32"), lambda x, y: flushed(flushed(x) * flushed(y))),
    ]
    return cases


CASES = [*integer_cases(), *float_cases()]


def operands(inputs: tuple[str, ...]) -> list[np.ndarray]:
    """Every pair of values for the first two operands; the others take values in turn."""
    lists = [VALUES[name] for name in inputs]
    pairs = [(x, y) for x in lists[0] for y in (lists[1] if len(lists) > 1 else [0])]
    columns: list[list] = [[pair[i] for pair in pairs] for i in range(min(2, len(lists)))]
    columns += [
        [values[(i + i // len(values)) % len(values)] for i in range(len(pairs))] for values in lists[2:]
    ]
    return [np.array(column, TYPES[name][2]) for column, name in zip(columns, inputs, strict=True)]


def statement(number: int, ptx: str, output: str, inputs: tuple[str, ...]) -> str:
    registers = ", ".join(f"%{i}" for i in range(len(inputs) + 1))
    arguments = ", ".join(
        f'"{TYPES[t][0]}"(static_cast<const {TYPES[t][1]}*>({name})[i])'
        for name, t in zip("abcd", inputs, strict=False)
    )
    constraint, c_type, _ = TYPES[output]
    return f"""case {number}: {{
        {c_type} result;
        asm("{ptx} {registers};" : "={constraint}"(result) : {arguments});
        static_cast<{c_type}*>(out)[i] = result;
    }} break;"""


@functools.cache
def module(device: cs.Device) -> cs.Module:
    # One kernel for all, because each kernel takes time to compile.
    statements = "\n".join(statement(i, *case[:3]) for i, case in enumerate(CASES))
    return cs.Module(
        f"""__global__ void run(int which, void* out, const void* a, const void* b, const void* c, const void* d) {{
            const int i = threadIdx.x;
            switch (which) {{ {statements} }}
        }}""",
        device=device,
    )


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: CASES[number][0])
def test_instruction_computes_as_ptx_says(device, number):
    _, output, inputs, work = CASES[number]
    columns = operands(inputs)
    out = cs.zeros(columns[0].size, TYPES[output][2])

    arrays = [cs.to_device(column) for column in columns]
    module(device).run[1, columns[0].size](number, out, *arrays, *[None] * (4 - len(arrays)))

    values = [column.tolist() if inputs[i][0] != "f" else list(column) for i, column in enumerate(columns)]
    with np.errstate(all="ignore"):
        expected = np.array([work(*row) for row in zip(*values, strict=True)], out.dtype)
    np.testing.assert_array_equal(out.to_host(), expected)
    if output[0] == "f" and ".sat" not in CASES[number][0]:
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(out.to_host())[numbers], np.signbit(expected)[numbers])


def run(device: cs.Device, body: str, count: int, *arguments: object, threads: int = 1) -> list[int]:
    out = cs.zeros(count, np.uint32)
    source = f"__global__ void f(unsigned* out, unsigned a, unsigned b) {{ {body} }}"
    cs.Module(source, device=device).f[1, threads](out, *arguments)
    return out.to_host().tolist()


def test_carry_goes_from_instruction_to_instruction(device):
    # 0xFFFFFFFF_FFFFFFFF + a + b * 2^32 in two words, and the carry; then a - b in two words.
    answer = run(
        device,
        """asm("add.cc.u32 %0, %3, -1; addc.cc.u32 %1, %4, -1; addc.u32 %2, 0, 0;"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]) : "r"(a), "r"(b));
           asm("sub.cc.u32 %0, %2, %3; subc.u32 %1, 10, 0;" : "=r"(out[3]), "=r"(out[4]) : "r"(a), "r"(b));
           asm("mad.lo.cc.u32 %0, %2, %3, -1; madc.hi.u32 %1, %2, %3, 0;"
               : "=r"(out[5]), "=r"(out[6]) : "r"(a), "r"(b));""",
        7,
        5,
        9,
    )

    assert answer == [4, 9, 1, 2**32 - 4, 9, 44, 1]


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [("lt.u32", 1), ("lt.s32", 0), ("hs.u32", 0), ("ne.s32", 1), ("lt.and.u32", 0), ("gt.or.u32", 1)],
)
def test_predicates_choose(device, comparison, expected):
    last = (
        ", !q"
        if comparison.count(".") == 2 and "and" in comparison
        else ", q"
        if comparison.count(".") == 2
        else ""
    )
    answer = run(
        device,
        f"""asm("{{ .reg .pred p, q; setp.eq.u32 q, %1, 5; setp.{comparison} p, %1, %2{last}; selp.u32 %0, 1, 0, p; }}"
               : "=r"(out[0]) : "r"(a), "r"(b));""",
        1,
        5,
        0xFFFFFFFF,
    )

    assert answer == [expected]


def test_both_predicates_of_a_comparison_are_set(device):
    answer = run(
        device,
        """asm("{ .reg .pred p, q, r; setp.lt.u32 p|q, %2, %3; and.pred r, p, q; not.pred r, r;"
               "selp.u32 %0, 1, 0, q; @r add.u32 %0, %0, 10; mov.u32 %1, 3; @!p mov.u32 %1, 4; }"
               : "=r"(out[0]), "=r"(out[1]) : "r"(a), "r"(b));""",
        2,
        5,
        9,
    )

    assert answer == [10, 3]


def test_words_are_packed_and_unpacked(device):
    answer = run(
        device,
        """unsigned long long wide; unsigned low, high;
           asm("mov.b64 %0, {%1, %2};" : "=l"(wide) : "r"(a), "r"(b));
           asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(wide + 1));
           asm("{ .reg .b16 x, y; mov.b32 {x, y}, %1; mov.b32 %0, {y, x}; }" : "=r"(out[2]) : "r"(0x12345678));
           out[0] = low; out[1] = high;""",
        3,
        5,
        9,
    )

    assert answer == [6, 9, 0x56781234]


@pytest.mark.parametrize(
    ("ptx", "source"),
    [
        ("up.b32 %0|p, %2, 3, 0", lambda lane: lane - 3 if lane >= 3 else None),
        ("down.b32 %0|p, %2, 3, 0x1f", lambda lane: lane + 3 if lane + 3 < 32 else None),
        ("bfly.b32 %0|p, %2, 5, 0x1f", lambda lane: lane ^ 5),
        ("idx.b32 %0|p, %2, 2, 0x181f", lambda lane: lane // 8 * 8 + 2),
        ("down.b32 %0|p, %2, 1, 0x1c03", lambda lane: lane + 1 if lane % 4 < 3 else None),
    ],
)
def test_lanes_exchange_registers(device, ptx, source):
    answer = run(
        device,
        f"""unsigned got, inside;
           asm volatile("{{ .reg .pred p; shfl.sync.{ptx}, 0xffffffff; selp.u32 %1, 1, 0, p; }}"
               : "=r"(got), "=r"(inside) : "r"(threadIdx.x * a));
           out[2 * threadIdx.x] = got; out[2 * threadIdx.x + 1] = inside;""",
        64,
        7,
        0,
        threads=32,
    )

    sources = [source(lane) for lane in range(32)]
    assert answer[0::2] == [7 * (lane if of is None else of) for lane, of in enumerate(sources)]
    assert answer[1::2] == [of is not None for of in sources]


def test_lanes_vote_and_add(device):
    answer = run(
        device,
        """unsigned ballot, sum, least, same, active, all, any;
           asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 29; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(ballot) : "r"(threadIdx.x));
           asm volatile("{ .reg .pred p, q; setp.gt.u32 p, %2, 29; vote.sync.all.pred q, p, -1; selp.u32 %0, 1, 0, q;"
               "vote.sync.any.pred p, p, -1; selp.u32 %1, 1, 0, p; }" : "=r"(all), "=r"(any) : "r"(threadIdx.x));
           asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(threadIdx.x));
           asm volatile("redux.sync.min.s32 %0, %1, 0xffffffff;" : "=r"(least) : "r"(threadIdx.x - 5));
           asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(same) : "r"(threadIdx.x % 8));
           asm volatile("activemask.b32 %0;" : "=r"(active));
           if (threadIdx.x == 1) {
               out[0] = ballot; out[1] = all; out[2] = any; out[3] = sum; out[4] = least; out[5] = same; out[6] = active;
           }""",
        7,
        0,
        0,
        threads=32,
    )

    assert answer == [0xC0000000, 0, 1, 496, 2**32 - 5, 0x02020202, 0xFFFFFFFF]


def test_atomics_of_all_kinds(device):
    names = ("add", "min", "max", "and", "or", "xor", "exch", "inc", "dec")
    types = {"and": "b32", "or": "b32", "xor": "b32", "exch": "b32"}
    statements = "\n".join(
        f'asm volatile("atom.global.{name}.{types.get(name, "u32")} %0, [%1], %2;" '
        f': "=r"(out[{i}]) : "l"(out + {16 + i}), "r"(b) : "memory");'
        for i, name in enumerate(names)
    )
    first = "".join(f"out[{16 + i}] = a;" for i in range(10))
    answer = run(
        device,
        f"""{first} {statements}
           asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(out[9]) : "l"(out + 25), "r"(a), "r"(b) : "memory");
           asm volatile("red.global.max.u32 [%0], 77;" :: "l"(out + 25) : "memory");""",
        26,
        12,
        10,
    )

    assert answer[:10] == [12] * 10
    assert answer[16:] == [22, 10, 12, 8, 14, 6, 10, 0, 10, 77]


def test_halves_are_added_in_pairs(device):
    x, y = np.array([1.5, -2.25], np.float16), np.array([0.125, 4.5], np.float16)
    a, b = int(x.view(np.uint32)[0]), int(y.view(np.uint32)[0])
    answer = run(
        device,
        """asm("add.f16x2 %0, %1, %2;" : "=r"(out[0]) : "r"(a), "r"(b));
           asm("fma.rn.f16x2 %0, %1, %2, %1;" : "=r"(out[1]) : "r"(a), "r"(b));
           asm("max.f16x2 %0, %1, %2;" : "=r"(out[2]) : "r"(a), "r"(b));
           float f; unsigned short h;
           asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"((unsigned short)a));
           asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f * 3));
           out[3] = h;""",
        4,
        a,
        b,
    )

    result = np.array(answer[:3], np.uint32).view(np.float16).reshape(3, 2)
    np.testing.assert_array_equal(result, [x + y, x * y + x, np.maximum(x, y)])
    assert answer[3] == int(np.float16(4.5).view(np.uint16))


@pytest.mark.parametrize(("mode", "up", "down"), [("rn", 0, 0), ("rz", 0, 0), ("rp", 1, 0), ("rm", 0, 1)])
def test_sums_are_rounded_as_the_mode_says(device, mode, up, down):
    # 1 + 2^-30 and -1 - 2^-30, between two floats; the last bit of the result.
    answer = run(
        device,
        f"""float x, y;
           asm("add.{mode}.f32 %0, %1, %2;" : "=f"(x) : "f"(1.0f), "f"(0x1p-30f));
           asm("fma.{mode}.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(-1.0f), "f"(0x1p-30f), "f"(-1.0f));
           out[0] = __float_as_uint(x) - __float_as_uint(1.0f); out[1] = __float_as_uint(y) - __float_as_uint(-1.0f);""",
        2,
        0,
        0,
    )

    assert answer == [up, down]


def test_kinds_of_floats_are_tested(device):
    kinds = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    statements = "\n".join(
        f'asm("{{ .reg .pred p; testp.{kind}.f32 p, %1; selp.u32 %0, 1, 0, p; }}" '
        f': "=r"(out[{i} + 6 * threadIdx.x]) : "f"(x));'
        for i, kind in enumerate(kinds)
    )
    values = "{1.5f, 1e-40f, INFINITY, NAN}"
    answer = run(
        device,
        f"const float of[] = {values}; const float x = of[threadIdx.x]; {statements}",
        24,
        0,
        0,
        threads=4,
    )

    assert np.array(answer).reshape(4, 6).tolist() == [
        [1, 0, 1, 0, 1, 0],
        [1, 0, 1, 0, 0, 1],
        [0, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0],
    ]


def test_bytes_are_multiplied_and_added(device):
    answer = run(
        device,
        """asm("dp4a.u32.u32 %0, %1, %2, 7;" : "=r"(out[0]) : "r"(a), "r"(b));
           asm("dp4a.s32.s32 %0, %1, %2, 7;" : "=r"(out[1]) : "r"(a), "r"(b));
           asm("dp4a.s32.u32 %0, %1, %2, 7;" : "=r"(out[2]) : "r"(a), "r"(b));""",
        3,
        0x01FF0302,
        0x04020AFE,
    )

    assert answer == [7 + 4 + 510 + 30 + 508, 7 + 4 - 2 + 30 - 4, 7 + 4 - 2 + 30 + 508]


@pytest.mark.host_only("a GPU has every instruction")
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(
    "ptx",
    [
        "add.rn.u32 %0, %1, %2",
        "addc.u32 %0, %1, %2",
        "add.cc.f16x2 %0, %1, %2",
        "mul.u32 %0, %1, %2",
        "add.u32 %0, %1",
        "add.b32 %0, %1, %2",
        "and.u32 %0, %1, %2",
        "abs.u32 %0, %1",
        "div.f32 %0, %1, %2",
        "min.rn.f32 %0, %1, %2",
        "cvt.f32.s32 %0, %1",
        "cvt.rn.f64.f32 %0, %1",
    ],
)
def test_what_is_no_instruction_is_refused(ptx):
    with pytest.raises(cs.CompileError, match="inline PTX"):
        cs.Module(
            f'__global__ void f(unsigned* out, unsigned a) {{ asm("{ptx};" : "=r"(*out) : "r"(a), "r"(a)); }}',
            device=cs.Device("host:0"),
        )


COMMENTS = r"""
__global__ void k(int* out) {
    asm("// begin of the part that profilers look for");
    asm volatile("/* two\n lines */" ::: "memory");
    int sum;
    asm("{ // a scope\n\t.reg .u32 t;\n\t/* t = a */ mov.u32 t, %1; // copied\n\tadd.u32 %0, t, 1;\n\t}" : "=r"(sum) : "r"(41));
    unsigned lane;
    asm("mov.u32 %0, %%laneid; // the lane" : "=r"(lane));
    out[threadIdx.x] = sum + lane;
}
"""


def test_comments_in_assembly_are_blanks(device):
    out = cs.zeros(3, np.int32)
    cs.Module(COMMENTS).k[1, 3](out)

    assert out.to_host().tolist() == [42, 43, 44]
