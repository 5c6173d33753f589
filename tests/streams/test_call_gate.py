"""The gate that keeps calls of NVIDIA's driver apart, src/cuda/driver/call_gate.hpp, in a program without a driver."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="there is no g++ on this machine")

SOURCES = Path(__file__).resolve().parents[2] / "src"
PROGRAM = r"""
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>

#include "cuda/driver/call_gate.hpp"
#include "runtime/process.hpp"

using namespace cuscope::cuda;
using std::chrono::milliseconds;

std::mutex gil;
thread_local bool has_gil = false;
void take() { gil.lock(), has_gil = true; }
void let_go() { has_gil = false, gil.unlock(); }

int main() {
    cuscope::set_interpreter_lock(
        []() -> void* {
            if (!has_gil) return nullptr;
            let_go();
            return &gil;
        },
        [](void*) { take(); });
    std::atomic<bool> has_taken{false}, inside{false};
    std::optional<AloneInDriver> alone(std::in_place);
    std::thread other([&] {
        take();
        has_taken = true;
        const InsideDriver call;  // lets the GIL go, and waits
        inside = true;
        let_go();
    });
    while (!has_taken) std::this_thread::yield();
    take();  // once the other thread waits at the gate
    alone.reset();
    std::this_thread::sleep_for(milliseconds(700));  // the other thread waits for the GIL, in front of the open gate
    alone.emplace();
    let_go();
    std::this_thread::sleep_for(milliseconds(100));  // the other thread has the GIL, and finds the gate closed
    std::printf("%s\n", inside ? "together" : "apart");
    alone.reset();
    other.join();
    std::printf("%s\n", inside ? "inside" : "outside");
}
"""


def test_a_thread_that_waited_for_the_gil_does_not_enter_beside_a_thread_that_is_alone(tmp_path):
    source, program = tmp_path / "gate.cpp", tmp_path / "gate"
    source.write_text(PROGRAM)
    files = [source, SOURCES / "cuda/driver/call_gate.cpp", SOURCES / "runtime/process.cpp"]
    subprocess.run(["g++", "-std=c++20", "-pthread", f"-I{SOURCES}", *files, "-o", program], check=True)

    done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.split() == ["apart", "inside"]
