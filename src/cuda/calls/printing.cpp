#include "cuda/calls/printing.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>

#include "runtime/process.hpp"

namespace cuscope::cuda {
namespace {

std::atomic<bool> prints{false};

// Held by the thread that has redirected the standard output. Never destroyed: a thread may hold it at exit.
std::mutex& turned_away() {
    static auto* const mutex = new std::mutex;
    return *mutex;
}

}  // namespace

void note_image(std::string_view image) {
    if (!prints.load() && image.find("vprintf") != std::string_view::npos) prints.store(true);
}

PrintCapture::PrintCapture() {
    if (!prints.load() || !has_kernel_output() || forked_after_use()) return;
    turned_away().lock();
    std::fflush(stdout);
    file_ = memfd_create("cuscope-printed", MFD_CLOEXEC);
    saved_ = file_ < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (saved_ >= 0 && dup2(file_, STDOUT_FILENO) >= 0) return;
    if (saved_ >= 0) close(saved_);
    if (file_ >= 0) close(file_);
    saved_ = file_ = -1;
    turned_away().unlock();
}

PrintCapture::~PrintCapture() {
    if (saved_ < 0) return;
    std::fflush(stdout);
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
    std::string text;
    const off_t bytes = lseek(file_, 0, SEEK_END);
    if (bytes > 0) {
        text.resize(static_cast<std::size_t>(bytes));
        const ssize_t got = pread(file_, text.data(), text.size(), 0);
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    }
    close(file_);
    turned_away().unlock();
    if (!text.empty()) write_kernel_output(text);
}

}  // namespace cuscope::cuda
