"""The levels of a mipmapped texture that tex1DGrad, tex2DGrad and tex3DGrad read: the same as GPUs read."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

SOURCE = r"""
__global__ void levels(cudaTextureObject_t t, int axes, const float* slope, float* out) {
    int i = threadIdx.x;
    const float *x = slope + 2 * axes * i, *y = x + axes;
    out[i] = axes == 1   ? tex1DGrad<float>(t, 0.5f, x[0], y[0])
             : axes == 2 ? tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(x[0], x[1]), make_float2(y[0], y[1]))
                         : tex3DGrad<float>(t, 0.5f, 0.5f, 0.5f, make_float4(x[0], x[1], x[2], 0),
                                            make_float4(y[0], y[1], y[2], 0));
}
"""


def numbered(axes: int, size: int, **arguments) -> cs.Texture:
    """A texture whose levels have the elements 0, 256, 512 and so on."""
    array = cs.MipmappedArray((size,) * axes)
    for i in range(array.levels):
        level = array.level(i)
        level.copy_from(np.full(level.shape, 256 * i, np.float32))
    return cs.Texture(array, normalized_coordinates=True, **{"mipmap_filter": "linear", **arguments})


def read(device, texture, axes: int, slopes) -> list[float]:
    out = cs.zeros(len(slopes))
    given = cs.to_device(np.array(slopes, np.float32).ravel())
    module(device, SOURCE).levels[1, len(slopes)](texture, axes, given, out)
    return out.to_host().tolist()


# Slopes (dx.x, dx.y, dy.x, dy.y) and the level, times 256, that an H100 reads.
LEVELS_OF_SLOPES = [
    ((0, 0, 0, 0), 0),
    ((1 / 8, 0, 0, 0), 0),
    ((1 / 4, 0, 0, 1 / 4), 256),
    ((1 / 4, 1 / 4, 0, 0), 366),
    ((0.3, 0, 0, 0), 324),
    ((0.3, 0.4, 0, 0), 514),
    ((0.2, 0.1, 0.1, 0.2), 294),
    ((1, 0, 0, 1 / 8), 768),
    ((-1 / 4, 0, 0, 0), 256),
    ((np.nan, 0, 0, 0), 0),
    ((np.inf, 0, 0, 0), 768),
]


@pytest.mark.parametrize("mipmap_filter", ["point", "linear"])
def test_slopes_of_planes_choose_the_levels_of_a_gpu(device, mipmap_filter):
    texture = numbered(2, 8, mipmap_filter=mipmap_filter)
    slopes, levels = zip(*LEVELS_OF_SLOPES, strict=True)

    got = read(device, texture, 2, slopes)

    expected = [256 * round(level / 256) for level in levels] if mipmap_filter == "point" else list(levels)
    assert got == expected


# Slopes in elements of level 0, and the level, times 256, that an H200 reads. The formula of simulated devices
# gives the same.
LEVELS_OF_SLOPES_IN_ELEMENTS = {
    1: [
        ((4, 0), 512),
        ((4, 1.75), 512),
        ((4, 1.875), 516),
        ((4, 2), 524),
        ((4, 3), 581),
        ((4, 4), 630),
    ],
    2: [
        ((4.0625, 0, 0, 0), 518),
        ((5.6875, 0, 0, 0), 642),
        ((5.8125, 0, 0, 0), 650),
        ((7.9375, 0, 0, 0), 765),
        ((8, 0, 0, 0), 768),
        ((4.01171875, 0, 0, 0), 512),
        ((4.015625, 0, 0, 0), 514),
        ((4.03125, 0, 0, 0), 516),
        ((4.078125, 0, 0, 0), 520),
        ((4, 0.125, 0, 0), 516),
        ((4, 2, 0, 0), 571),
        ((4, 3.875, 0, 0), 618),
    ],
    3: [
        ((4, 0.5, 0.5, 0, 0, 0), 539),
        ((4, 0.5, 1, 0, 0, 0), 554),
        ((4, 1, 0.5, 0, 0, 0), 554),
        ((4, 2, 4, 0, 0, 0), 654),
        ((4, 4, 4, 0, 0, 0), 685),
    ],
}


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_slopes_along_each_axis_choose_the_levels_of_a_gpu(device, axes):
    slopes, levels = zip(*LEVELS_OF_SLOPES_IN_ELEMENTS[axes], strict=True)

    assert read(device, numbered(axes, 16), axes, np.array(slopes) / 16) == list(levels)


# The same for slopes of random components between -8 and 8 elements.
LEVELS_OF_RANDOM_SLOPES_OF_PLANES = """
710 781 874 859 767 813 802 946 643 798 666 582 942 873 628 645 736 776 753 822 704 741 806 913 825 813 696
790 837 682 776 600 860 861 704 795 713 747 730 743 767 494 587 873 792 836 796 387 786 674 826 872 820 836
631 806 761 693 861 831 887 825 838 826 788 745 637 751 727 693 874 676 737 826 868 796 802 862 945 798 820
818 730 587 795 790 885 721 504 862 777 844 823 757 754 888 816 826 576 804 708 857 804 768 790 831 693 880
740 826 595 840 719 847 675 923 796 849 858 867 676 768 865 694 626 674 678 772 404 798 677 704 817 520 758
874 721 871 717 802 857 787 663 895 932 783 845 745 695 661 551 879 749 870 813 875 781 866 825 613 717 852
759 788 474 565 731 843 709 655 850 905 690 787 576 910 716 794 737 786 879 468 828 749 847 800 896 550 802
795 821 817 899 623 658 799 794 734 781 833 887 833 900 871 617 786 816 883 796 619 815 811 628 726 704 739
741 714 812 783 803 813 817 589 779 831 831 854 816 627 837 738 578 708 817 813 892 749 712 947 772 831 900
842 665 828 795 732 693 887 908 854 752 804 698 822
"""
LEVELS_OF_RANDOM_SLOPES_OF_BOXES = """
842 808 776 898 804 881 956 875 966 839 905 918 893 715 927 757 800 859 970 804 836 815 804 967 926 828 820
914 851 878 879 868 799 807 844 834 690 750 843 817 873 884 831 880 893 891 816 748 673 790 724 845 777 692
832 860 828 849 892 721 807 882 747 938
"""


def test_random_slopes_choose_the_levels_of_a_gpu_or_nearly(device):
    rng = np.random.default_rng(5)
    differences = []
    for axes, given in (2, LEVELS_OF_RANDOM_SLOPES_OF_PLANES), (3, LEVELS_OF_RANDOM_SLOPES_OF_BOXES):
        levels = np.array(given.split(), int)
        slopes = rng.uniform(-8, 8, (len(levels), 2 * axes)) / 16

        got = read(device, numbered(axes, 16), axes, slopes)

        differences += (np.array(got) - levels).tolist()

    assert max(map(abs, differences)) <= 2
    assert sum(difference == 0 for difference in differences) >= 300


@pytest.mark.parametrize(("bias", "expected"), [(0.5, 640), (-0.5, 384)])
def test_bias_is_added_to_the_level_of_slopes(device, bias, expected):
    texture = numbered(2, 8, mipmap_level_bias=bias)

    assert read(device, texture, 2, [[4 / 8, 0, 0, 0]]) == [expected]
