#!/bin/sh
# clang++ with less optimisation of kernels, as CUSCOPE_CXX for tests under sanitizers. The tests launch most kernels
# once, on few elements, so -O2 takes longer than it saves. With -O0, the tests of matrix products of 8-bit floats take
# 2.6 times as long as with -O1.
# Images that count, time or check are optimised as ever, because tests compare their instructions and lines.
level=
for argument; do
    case $argument in
    c++-cpp-output) level=-O1 ;;
    -O0) level= ;; # a kernel for debugging
    -fsanitize=thread) exec clang++ "$@" ;;
    esac
done
exec clang++ "$@" $level
