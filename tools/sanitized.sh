#!/usr/bin/env bash
# Runs a command under a sanitizer: tools/sanitized.sh address|thread COMMAND...
# COMMAND is a Python that has the package built with CUSCOPE_SANITIZE=address or thread, or a program of tests/cpp.
# Python itself is not instrumented, so the sanitizer's library is loaded before it.
set -euo pipefail
kind=$1
shift
case $kind in
address)
    # Python keeps memory on purpose, so the tests count leaks themselves; for this the sanitizer may not keep freed
    # memory for long. The runtime and Python handle signals themselves. Tests ask for too much memory on purpose, too.
    export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0:allocator_may_return_null=1
    ASAN_OPTIONS+=:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0
    ASAN_OPTIONS+=:quarantine_size_mb=4:thread_local_quarantine_size_kb=64
    export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    # pytest keeps what a test writes to stderr, and a report ends the process before pytest can print it. So reports
    # go to files, which are printed in the end.
    reports=$(mktemp -d)
    ASAN_OPTIONS+=:log_path=$reports/report
    UBSAN_OPTIONS+=:log_path=$reports/report
    # The runtime of the compiler that built the package: $CXX, else g++.
    cxx=${CXX:-g++}
    runtime=libasan.so
    [[ $cxx != *clang* ]] || runtime=libclang_rt.asan-$(uname -m).so
    # libstdc++ too, so that exceptions are intercepted.
    set -- env LD_PRELOAD="$("$cxx" -print-file-name=$runtime) $("$cxx" -print-file-name=libstdc++.so)" "$@"
    status=0
    "$@" || status=$?
    ((status == 0)) || cat /dev/null $(find "$reports" -type f) >&2
    rm -r "$reports"
    exit $status
    ;;
thread)
    export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
    TSAN_OPTIONS+=:suppressions=$(realpath "$(dirname "$0")/thread_sanitizer.txt")
    # `env` sets LD_PRELOAD only after setarch: setarch itself cannot run under the sanitizer.
    set -- env LD_PRELOAD="$(g++ -print-file-name=libtsan.so)" "$@"
    # The sanitizer expects fixed ranges of addresses; newer Linux kernels randomise them too much.
    if setarch -R true 2>/dev/null; then set -- setarch -R "$@"; fi
    ;;
*)
    echo "tools/sanitized.sh: '$kind' is neither address nor thread" >&2
    exit 2
    ;;
esac
exec "$@"
