// A block's shared memory: its place, its content when a block starts, and a check for writes beside it.
#include <algorithm>
#include <cstring>

#include "host/executor/block.hpp"
#include "host/executor/grid.hpp"

// The C library's function that finds the thread-local variables of a loaded object.
struct TlsIndex {
    std::size_t module, offset;
};
extern "C" void* __tls_get_addr(TlsIndex* index);

namespace cuscope_simt {

using cuscope::simt::GuardedMemory;

namespace {

// The content of shared memory when a block starts: not a number, minus one, and no valid address.
constexpr int shared_pattern = 0xff;
constexpr std::size_t most_margin = 64;
constexpr std::size_t dynamic_alignment = 1024;

std::size_t align_up(std::size_t value, std::size_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

// Images that keep no Fiber in a register find their shared memory by this key.
pthread_key_t shared_memory_key() {
    struct Key {
        Key() { pthread_key_create(&value, nullptr); }
        pthread_key_t value{};
    };
    static const Key key;
    return key.value;
}

}  // namespace

// Static shared memory ends as close to the guard as its alignment allows.
void Block::place_static_shared() {
    const cuscope::simt::Image& image = *image_;
    const cuscope::simt::ImageFacts& facts = image.facts();
    static_shared_ = nullptr;
    static_shared_bytes_ = 0;
    static_below_ = static_above_ = {};
    prototype_.static_shared = nullptr;
    if (facts.tls_bytes == 0) return;
    if (!image.table().places_shared) {
        TlsIndex index{facts.tls_module, 0};
        static_shared_ = static_cast<char*>(__tls_get_addr(&index));
    } else {
        const std::size_t needed = align_up(facts.tls_bytes, facts.tls_alignment) + facts.tls_alignment;
        if (static_memory_.bytes() < needed) static_memory_ = GuardedMemory(needed);
        if (!static_memory_) return;
        const std::size_t above =
            reinterpret_cast<std::uintptr_t>(static_memory_.end() - facts.tls_bytes) % facts.tls_alignment;
        static_shared_ = static_memory_.end() - facts.tls_bytes - above;
        char* const end = static_shared_ + facts.tls_bytes;
        const std::size_t below =
            std::min(most_margin, static_cast<std::size_t>(static_shared_ - static_memory_.begin()));
        static_below_ = {static_shared_ - below, below};
        static_above_ = {end, std::min(most_margin, above)};
        static_below_.fill();
        static_above_.fill();
        if (image.table().shared_key != nullptr) {
            const pthread_key_t key = shared_memory_key();
            *image.table().shared_key = key;
            pthread_setspecific(key, static_shared_);
        }
    }
    prototype_.static_shared = static_shared_;
    if (entry_->static_shared_bytes != 0) static_shared_bytes_ = facts.tls_bytes;
}

void Block::place_dynamic_shared() {
    const std::size_t bytes = grid->launch().dynamic_shared_bytes;
    char* dynamic = nullptr;
    dynamic_above_ = {};
    if (bytes != 0) {
        const std::size_t needed = align_up(bytes, dynamic_alignment);
        if (dynamic_memory_.bytes() < needed) dynamic_memory_ = GuardedMemory(needed);
        if (dynamic_memory_) {
            dynamic = dynamic_memory_.end() - needed;
            dynamic_above_ = {dynamic + bytes, std::min(most_margin, needed - bytes)};
            dynamic_above_.fill();
        }
    }
    prototype_.dynamic_shared = dynamic;
    prototype_.dynamic_shared_bytes = bytes;
}

void Block::fill_shared() {
    if (static_shared_bytes_ != 0) std::memset(static_shared_, shared_pattern, static_shared_bytes_);
    if (prototype_.dynamic_shared != nullptr && prototype_.dynamic_shared_bytes != 0)
        std::memset(prototype_.dynamic_shared, shared_pattern, prototype_.dynamic_shared_bytes);
}

bool Block::shared_is_intact() {
    // The compiler chooses the order of the variables' addresses. A message names the outermost variables.
    const auto name = [&](bool first) {
        const auto& variables = image_->shared_variables();
        const cuscope::simt::SharedVariable* found = nullptr;
        for (const auto& variable : variables) {
            const bool nearer = found == nullptr ||
                                (first ? variable.offset < found->offset : variable.offset > found->offset);
            if (nearer) found = &variable;
        }
        return found == nullptr ? std::string() : " '" + found->name + "'";
    };
    if (!static_below_.intact()) {
        describe_overrun("before its __shared__ variables, of which the first is" + name(true));
        static_below_.fill();
    } else if (!static_above_.intact()) {
        describe_overrun("behind its __shared__ variables, of which the last is" + name(false));
        static_above_.fill();
    } else if (!dynamic_above_.intact()) {
        describe_overrun("behind its " + std::to_string(prototype_.dynamic_shared_bytes) +
                         " bytes of dynamic shared memory");
        dynamic_above_.fill();
    } else {
        return true;
    }
    return false;
}

}  // namespace cuscope_simt
