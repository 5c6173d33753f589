#!/usr/bin/env bash
# On a machine with a GPU: builds and installs, runs the whole suite, the memory and race checkers and the benchmarks, and writes
# docs/gpu-report.md of what it saw (and copies it to $OUT if that is set). Needs no network: pybind11 and
# scikit-build-core are there already, or lie as wheels in the folder $WHEELS. A step that fails or takes too long does
# not end the others. $COMMIT names the commit where there is no .git. Takes at most ten minutes.
set -uo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
steps=$work/steps
mkdir -p "$steps"
export PYTHONUNBUFFERED=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export CUSCOPE_CACHE_DIR=$work/cache
python=${PYTHON:-python3}
export PATH=$PATH:/usr/local/cuda/bin
began=$SECONDS
limit=585

# step NAME SECONDS COMMAND...: runs it, keeps its output, exit code and time.
step() {
    local name=$1 seconds=$2 left=$((limit - (SECONDS - began))) from=$SECONDS code
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
    printf '%s %s\n' "$code" $((SECONDS - from)) >"$steps/$name.result"
}

build() {
    if [ -n "${WHEELS:-}" ]; then
        "$python" -m pip install -q --no-index --no-deps "$WHEELS"/*.whl || return
    fi
    CUSCOPE_CUDA=ON "$python" -m pip install -v --no-build-isolation --no-deps --no-index -Cbuild-dir="$work/build" .
}
# What is not of the GPU may share the processors; what is has it for itself, so that its memory can be counted.
distribute=()
"$python" -c 'import xdist' 2>/dev/null && distribute=(-n 8 --dist loadfile)
# A test that hangs says where: it ends the step no more than the others do.
pytest=("$python" -m pytest -p no:cacheprovider -p no:benchmark --timeout 90 -o faulthandler_timeout=75)
# The sanitizers look into this one process, not into those that tests start.
marked="not no_sanitizer and not own_process"
checked=("${pytest[@]}" -q -k "cuda:0")
sanitizer=(compute-sanitizer --target-processes application-only --error-exitcode 9)
export -f build
export python work

step gpu 30 nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total --format=csv,noheader
step build 200 bash -c build
step info 30 "$python" -m cuscope info --json
step doctor 60 "$python" -m cuscope doctor
step demo 60 "$python" -m cuscope demo --device cuda:0 --json
step call_costs_build 60 nvcc -O2 -std=c++17 -arch=native -o "$work/call_costs" benchmarks/cpp/call_costs.cu
step calls 60 "$python" benchmarks/calls.py --cpp "$work/call_costs"
step copy_rates_build 60 nvcc -O2 -std=c++17 -arch=native -o "$work/copy_rates" benchmarks/cpp/copy_rates.cu
step copies 60 "$python" benchmarks/copies.py --cpp "$work/copy_rates"
step pytest_cuda 200 "${pytest[@]}" -k "cuda:0" --junitxml="$steps/junit_cuda.xml"
step pytest_rest 200 "${pytest[@]}" -k "not cuda:0" "${distribute[@]}" --junitxml="$steps/junit_rest.xml"
step memcheck 270 env CUSCOPE_TEST_SCALE=0.1 "${sanitizer[@]}" --tool memcheck --report-api-errors no "${checked[@]}" -m "$marked"
step racecheck 60 "${sanitizer[@]}" --tool racecheck "${checked[@]}" -m "$marked and not no_racecheck" \
    tests/test_module.py tests/executor
step initcheck 120 env CUSCOPE_TEST_SCALE=0.1 "${sanitizer[@]}" --tool initcheck "${checked[@]}" -m "$marked and not no_initcheck"
step host_benchmark 60 "$python" benchmarks/host.py

"$python" tools/gpu_report.py "$steps" >"$work/report.md" && cp "$work/report.md" docs/gpu-report.md
code=$?
if [ -n "${OUT:-}" ]; then
    mkdir -p "$OUT"
    cp docs/gpu-report.md "$OUT/"
    tar -czf "$OUT/logs.tar.gz" -C "$steps" .
fi
printf '\n'
cat docs/gpu-report.md
for result in "$steps"/*.result; do
    read -r status _ <"$result"
    [ "$status" -eq 0 ] || code=1
done
exit "$code"
