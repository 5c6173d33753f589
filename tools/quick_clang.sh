#!/bin/sh
# clang++ with less optimisation of kernels, as CUSCOPE_CXX for tests under sanitizers. The tests launch most kernels
# once, on few elements, so -O2 takes longer than it saves. (With -O0, the matrix products take three times as long.)
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
