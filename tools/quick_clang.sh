#!/bin/sh
# clang++ without optimisation of kernels, as CUSCOPE_CXX for tests under sanitizers. The tests launch most kernels once,
# on few elements, so optimising them took longer than running them. Images that count, time or check are optimised as
# ever, because tests compare their instructions and lines.
level=
for argument; do
    case $argument in
    c++-cpp-output) level=-O0 ;;
    -fsanitize=thread) exec clang++ "$@" ;;
    esac
done
exec clang++ "$@" $level
