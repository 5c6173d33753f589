"""Times, sizes and shares as text."""

import pytest

from cuscope.tracing.units import bytes_text, count_text, percent_text, rate_text, time_text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1000, "1 us"),
        (3150, "3.15 us"),
        (999_499, "999 us"),
        (999_500, "1 ms"),
        (12_340_000, "12.3 ms"),
        (120_000_000, "120 ms"),
        (3_600_000_000_000, "3600 s"),
    ],
)
def test_a_time_has_three_digits_and_the_unit_that_fits(nanoseconds, text):
    assert time_text(nanoseconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "1 byte"), (2, "2 bytes"), (4096, "4 KiB"), (1 << 20, "1 MiB"), (3 << 29, "1.5 GiB")],
)
def test_a_size_has_binary_units(count, text):
    assert bytes_text(count) == text


def test_rates_and_shares():
    assert rate_text(55.83) == "55.8 GB/s"
    assert percent_text(0.384) == "38 %"


def test_a_count_has_its_noun():
    assert count_text(1, "block") == "1 block"
    assert count_text(0, "block") == "0 blocks"
