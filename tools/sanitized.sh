#!/usr/bin/env bash
# Runs a command under a sanitizer: tools/sanitized.sh address|thread COMMAND...
# With `address`, COMMAND is a Python that has the package built with CUSCOPE_SANITIZE=address: the sanitizer's library
# must be loaded before Python, and libstdc++ with it, so that exceptions are intercepted.
set -euo pipefail
kind=$1
shift
case $kind in
address)
    # Python keeps memory on purpose, so leaks are counted by the tests instead. The runtime's own fault handler stays.
    export ASAN_OPTIONS=detect_leaks=0:allow_user_segv_handler=1:detect_stack_use_after_return=0:use_sigaltstack=0
    export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    export LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)"
    ;;
thread)
    export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
    # The sanitizer needs its addresses where it expects them; newer kernels randomise more than it allows for.
    if setarch -R true 2>/dev/null; then set -- setarch -R "$@"; fi
    ;;
*)
    echo "tools/sanitized.sh: '$kind' is neither address nor thread" >&2
    exit 2
    ;;
esac
exec "$@"
