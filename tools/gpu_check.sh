#!/usr/bin/env bash
# Checks cuscope on a machine with a GPU. `install` builds and installs the package, `tests` runs the whole suite,
# `counted_checks`, `checks` and `initchecks` run the memory and race checkers over the tests that count memory and over
# the others, `benchmarks` runs the benchmarks; without an argument all six run. The script writes
# docs/gpu-report.md with the results (and copies it to $OUT if that is set). $STEPS is a folder that keeps the results of
# one part for the next. No network is needed: pybind11 and scikit-build-core are installed, or are wheels in the folder
# $WHEELS. $WHEEL is a wheel of cuscope for this Python, to be installed without a build. A step that fails or takes too
# long does not end the other steps. $PARTS names parts of the tests for `checks` and `initchecks`; by default they run
# all. $ONLY names steps; the other steps keep the results that $STEPS has. $COMMIT names the commit if there is no .git. A
# call takes at most $LIMIT seconds.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
steps=${STEPS:-$work/steps}
mkdir -p "$steps"
export PYTHONUNBUFFERED=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export CUSCOPE_CACHE_DIR=$work/cache
python=${PYTHON:-python3}
export PATH=$PATH:/usr/local/cuda/bin
began=$SECONDS
limit=${LIMIT:-1500}
export COMMIT=${COMMIT:-$(git describe --always --dirty --abbrev=40 2>/dev/null || echo unknown)}

# step NAME SECONDS COMMAND...: runs it, keeps its output, exit code and time.
step() {
    local name=$1 seconds=$2 left=$((limit - (SECONDS - began))) from=$SECONDS code
    [[ -z ${ONLY:-} || " $ONLY " == *" $name "* ]] || return 0
    shift 2
    [ "$seconds" -le "$left" ] || seconds=$left
    printf '\n===== %s =====\n' "$name"
    if [ "$seconds" -lt 5 ]; then
        echo "no time left" | tee "$steps/$name.log"
        code=124
    else
        timeout -k 5 "$seconds" "$@" 2>&1 | tee "$steps/$name.log"
        code=${PIPESTATUS[0]}
    fi
    printf '%s %s %s\n' "$code" $((SECONDS - from)) "$COMMIT" >"$steps/$name.result"
    keep
}

# Copies the results so far to $OUT, because the script may be ended from outside.
keep() {
    [ -z "${OUT:-}" ] && return
    local made
    made=$(mktemp "$work/logs.XXXXXX")
    tar -czf "$made" -C "$steps" . 2>/dev/null && mv "$made" "$OUT/logs.tar.gz"
}

build() {
    if [ -n "${WHEEL:-}" ]; then
        "$python" -m pip install --no-index --no-deps --force-reinstall "$WHEEL"
        return
    fi
    if [ -n "${WHEELS:-}" ]; then
        "$python" -m pip install -q --no-index --no-deps "$WHEELS"/*.whl || return
    fi
    CUSCOPE_CUDA=ON "$python" -m pip install -v --no-build-isolation --no-deps --no-index -Cbuild-dir="$work/build" .
}
# Tests on the GPU mostly wait for it, so a few processes can share it.
distribute=() distribute_cuda=()
"$python" -c 'import xdist' 2>/dev/null && distribute=(-n 8 --dist loadfile) distribute_cuda=(-n 5 --dist loadfile)
# A test that hangs prints its traceback, and ends only its own process.
pytest=("$python" -m pytest -v -p no:cacheprovider -p no:benchmark --timeout 90 -o faulthandler_timeout=75)

# check NAME "TOOL AND ITS OPTIONS" MARKED [ARGUMENT...]: runs tests on the GPU under compute-sanitizer. It checks this
# process, but no processes that tests start. $scale multiplies the numbers of random examples.
check() {
    local name=$1 tool marked="not no_sanitizer and not own_process and $3"
    read -ra tool <<<"$2"
    shift 3
    step "$name" 330 env CUSCOPE_TEST_SCALE="${scale:-0.1}" compute-sanitizer --target-processes application-only \
        --error-exitcode 9 --print-limit 2000 --tool "${tool[@]}" "${pytest[@]}" -q -k "cuda:0" -m "$marked" "$@"
}
memcheck="memcheck --report-api-errors no"
# The files of the tests that count memory: pytest collects these alone, because collecting all tests takes 12 seconds.
mapfile -t counting < <(grep -rl --include='test_*.py' counts_memory tests)
export -f build
export python work steps

install() {
    step gpu 30 nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total --format=csv,noheader
    step build 200 bash -c build
    step info 30 "$python" -m cuscope info --json
    step doctor 60 "$python" -m cuscope doctor
    step demo 60 "$python" -m cuscope demo --device cuda:0 --json
}

tests() {
    # A machine that has just started reads NVRTC and all that the tests import from its disk. These two steps do so first,
    # because the time limits of the other steps are made for the tests alone.
    step compile 120 "$python" -c 'import cuscope as cs; cs.Module("__global__ void nothing() {}")'
    step collect 240 bash -c '"$python" -m pytest --collect-only -q -p no:cacheprovider -p no:benchmark | tail -n 3'
    step pytest_cuda_memory 120 "${pytest[@]}" -k "cuda:0" -m counts_memory "${counting[@]}" --junitxml="$steps/junit_cuda_memory.xml"
    # In another process, because CUPTI takes memory of the GPU.
    step pytest_cuda_times 60 "${pytest[@]}" -k "cuda:0" -m measures_time tests/tracing \
        --junitxml="$steps/junit_cuda_times.xml"
    # The tests that need the GPU alone have run: the other tests may share it and the processors.
    step pytest_cuda 400 "${pytest[@]}" -k "cuda:0" -m "not counts_memory and not measures_time" \
        "${distribute_cuda[@]}" \
        --junitxml="$steps/junit_cuda.xml" >/dev/null &
    step pytest_rest 400 "${pytest[@]}" -k "not cuda:0" "${distribute[@]}" --junitxml="$steps/junit_rest.xml" >/dev/null &
    wait
    cat "$steps"/pytest_{cuda_times,cuda,rest}.log
}

# One after the other, because the tests look at the free memory of the GPU.
counted_checks() {
    check memcheck_counted "$memcheck" counts_memory "${counting[@]}"
    check initcheck_counted initcheck "counts_memory and not no_initcheck" "${counting[@]}"
}

# Each part of the tests has a process of its own: a checker uses one processor, and makes the tests several times as
# slow.
declare -A parts=(
    [kernels]="tests/operations"
    [executor]="tests/executor"
    [arrays]="tests/arrays tests/textures tests/interop"
    [memory]="tests/memory"
    [streams]="tests/streams"
    [launching]="tests/launching tests/modules"
    [graphs]="tests/graphs"
    [semantics]="tests/semantics tests/faults"
    [package]="tests/package"
)

checks() {
    local part
    for part in ${PARTS:-${!parts[@]}}; do
        # shellcheck disable=SC2086  # several folders
        check "memcheck_$part" "$memcheck" "not counts_memory" ${parts[$part]} >/dev/null &
    done
    scale=1 check racecheck racecheck "not counts_memory and not no_racecheck" tests/modules tests/executor >/dev/null &
    check racecheck_matmul racecheck "not counts_memory and not no_racecheck" tests/operations/test_matmul*.py >/dev/null &
    check racecheck_kernels racecheck "not counts_memory and not no_racecheck" tests/operations \
        --ignore-glob='*test_matmul*' >/dev/null &
    check synccheck_kernels synccheck "not counts_memory" tests/operations >/dev/null &
    wait
    cat "$steps"/{memcheck,racecheck,synccheck}*.log
}

# Apart from the others: beside many processes, initcheck reports copies of memory that kernels have written.
initchecks() {
    local part
    for part in ${PARTS:-${!parts[@]}}; do
        # shellcheck disable=SC2086  # several folders
        [ "$part" = executor ] ||
            check "initcheck_$part" initcheck "not counts_memory and not no_initcheck" ${parts[$part]} >/dev/null &
    done
    wait
    cat "$steps"/initcheck*.log
}

benchmarks() {
    local compile=(nvcc -O3 -std=c++20 -arch=native)
    step call_costs_build 90 "${compile[@]}" -o "$work/call_costs" benchmarks/cpp/call_costs.cu &
    step graph_costs_build 90 "${compile[@]}" -o "$work/graph_costs" benchmarks/cpp/graph_costs.cu &
    step copy_rates_build 90 "${compile[@]}" -o "$work/copy_rates" benchmarks/cpp/copy_rates.cu &
    step reductions_build 90 "${compile[@]}" -o "$work/reductions" benchmarks/cpp/reductions.cu &
    wait
    step calls 60 "$python" benchmarks/calls.py --cpp "$work/call_costs"
    step pieces 90 "$python" benchmarks/pieces.py --cpp "$work/call_costs"
    step graphs 180 "$python" benchmarks/graphs.py --cpp "$work/graph_costs"
    step operations 100 "$python" benchmarks/operations.py --seconds 60
    step reduction_shapes 90 "$python" benchmarks/reductions.py
    step copies 150 "$python" benchmarks/copies.py --cpp "$work/copy_rates"
    step reductions 60 "$work/reductions"
    step bench_matmul 60 "$python" -m cuscope bench matmul --seconds 12 --sizes 512,1024,2048,4096,8192
    step bench_reduce 60 "$python" -m cuscope bench reduce --seconds 8
    step host_benchmark 60 "$python" benchmarks/host.py
}

for part in "${@:-install tests counted_checks checks initchecks benchmarks}"; do
    for name in $part; do "$name"; done
done

for name in ${ONLY:-}; do
    [ -e "$steps/$name.result" ] || { echo "ONLY=$name: these parts have no such step" >&2; exit 2; }
done

"$python" tools/gpu_report.py "$steps" >"$work/report.md" && cp "$work/report.md" docs/gpu-report.md
code=$?
if [ -n "${OUT:-}" ]; then
    mkdir -p "$OUT"
    cp docs/gpu-report.md "$OUT/"
    keep
fi
printf '\n'
cat docs/gpu-report.md
for result in "$steps"/*.result; do
    read -r status _ <"$result"
    [ "$status" -eq 0 ] || code=1
done
exit "$code"
