"""Numbers as text: times, sizes and rates with three digits in the unit that fits, shares, counts."""

from __future__ import annotations

__all__ = ["bytes_text", "count_text", "percent_text", "rate_text", "time_text"]


def _three_digits(value: float) -> str:
    """12.3 for 12.34, 1.5 for 1.50, 123 for 123.4."""
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text


def time_text(nanoseconds: float) -> str:
    """3150 is "3.15 us"."""
    for factor, unit in ((1, "ns"), (1e3, "us"), (1e6, "ms")):
        if nanoseconds < 999.5 * factor:
            return f"{_three_digits(nanoseconds / factor)} {unit}"
    return f"{_three_digits(nanoseconds / 1e9)} s"


def bytes_text(count: float) -> str:
    """4194304 is "4 MiB"."""
    if count == 1:
        return "1 byte"
    for factor, unit in ((1, "bytes"), (1 << 10, "KiB"), (1 << 20, "MiB")):
        if count < 1023.5 * factor:
            return f"{_three_digits(count / factor)} {unit}"
    return f"{_three_digits(count / (1 << 30))} GiB"


def rate_text(bytes_per_nanosecond: float) -> str:
    """55.83 is "55.8 GB/s"."""
    return f"{_three_digits(bytes_per_nanosecond)} GB/s"


def percent_text(share: float) -> str:
    """0.384 is "38 %"."""
    return f"{100 * share:.0f} %"


def count_text(count: int, noun: str) -> str:
    """1 is "1 block", 4 is "4 blocks"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
