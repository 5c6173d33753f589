#include "host/executor/image.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "host/compiler/symbols.hpp"
#include "host/compiler/temporary_directory.hpp"
#include "host/executor/fiber.hpp"
#include "runtime/compile/sha256.hpp"
#include "runtime/compile/signature.hpp"
#include "runtime/process.hpp"

namespace cuscope::simt {
namespace {

// Limit on the __shared__ variables of a kernel, all together: the same on every GPU.
constexpr std::uint64_t most_shared_bytes = 48 << 10;

constexpr std::string_view seal_mark = "\ncuscope host image ";
constexpr std::size_t digest_length = 64;

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(file, bytes.data(), bytes.size());
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

// A path of the file that no earlier call has used. For a known path, the loader returns the object that it
// loaded under this path before, even if the path names another file now.
std::string unique_path(int file) {
    static std::atomic<unsigned> calls{0};
    std::string path = "/proc/self/fd";
    for (unsigned rest = ++calls; rest != 0; rest /= 2) path += rest % 2 == 0 ? "/" : "/.";
    return path + "/" + std::to_string(file);
}

// Each call loads its own instance.
void* open_bytes(std::string_view bytes, std::string* detail) {
    const auto open = [detail](const std::string& path) {
        void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            const char* reason = dlerror();
            *detail = reason == nullptr ? "dlopen failed" : reason;
        }
        return handle;
    };
    if (const int file = memfd_create("cuscope-image", MFD_CLOEXEC); file >= 0) {
        void* handle = nullptr;
        if (write_all(file, bytes)) handle = open(unique_path(file));
        close(file);
        if (handle != nullptr) return handle;
    }
    // There is no memfd or /proc, or the loader accepts neither.
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/image.so";
    if (directory.path().empty() || !write_file(path, std::string(bytes))) {
        if (detail->empty()) *detail = "cannot write a temporary file";
        return nullptr;
    }
    return open(path);
}

// The mangled name of a function's __shared__ variable: "_ZZ" <function> "E" <name>.
std::string shared_prefix(const std::string& function) {
    if (function.rfind("_Z", 0) == 0) return "_ZZ" + function.substr(2) + "E";
    return "_ZZ" + std::to_string(function.size()) + function + "E";  // extern "C"
}

// The symbol of "s" in "kernel(int*)" is "_ZZ6kernelPiE1s".
SharedVariable shared_variable(const Symbol& symbol) {
    const std::string readable = demangle(std::string(symbol.name).c_str());
    const std::size_t colon = readable.rfind("::");
    const bool is_local = symbol.name.rfind("_ZZ", 0) == 0 && colon != std::string::npos;
    return {colon == std::string::npos ? readable : readable.substr(colon + 2),
            static_cast<std::size_t>(symbol.value),
            symbol.size,
            is_local ? readable.substr(0, colon) : readable,
            false,
            symbol.name.rfind("_ZGV", 0) == 0};
}

struct Search {
    const void* address;
    ImageFacts facts;
};

int examine_object(dl_phdr_info* object, std::size_t, void* argument) {
    auto* search = static_cast<Search*>(argument);
    const auto address = reinterpret_cast<std::uintptr_t>(search->address);
    bool found = false;
    ImageFacts facts;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = object->dlpi_phdr[i];
        const std::uintptr_t begin = object->dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_LOAD) {
            if (address >= begin && address < begin + header.p_memsz) found = true;
            // Segments are in the order of their addresses.
            if (facts.image_begin == nullptr) facts.image_begin = reinterpret_cast<const char*>(begin);
            facts.image_end = reinterpret_cast<const char*>(begin) + header.p_memsz;
            if (header.p_flags & PF_X) {
                facts.code_begin = reinterpret_cast<const char*>(begin);
                facts.code_end = facts.code_begin + header.p_memsz;
            }
        } else if (header.p_type == PT_TLS) {
            facts.tls_module = object->dlpi_tls_modid;
            facts.tls_bytes = header.p_memsz;
            facts.tls_alignment = std::max<std::size_t>(1, header.p_align);
        }
    }
    if (!found) return 0;
    search->facts = facts;
    return 1;
}

// Closes the guard pages behind an image's variables. The guard before the variables is the loader's gap
// between writable and read-only memory (see link_flags).
void close_guard(const cuscope_simt::ImageTable& table) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(table.guard) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(table.guard) + table.guard_bytes) / page * page;
    if (begin < end) mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_NONE);
}

}  // namespace

std::string seal_image(std::string shared_object) {
    const std::string digest = hex(sha256(shared_object));
    return std::move(shared_object) + std::string(seal_mark) + digest;
}

Status Image::load(std::string_view bytes, std::shared_ptr<Image>* image, std::string* detail) {
    image->reset();
    detail->clear();
    const std::size_t seal = seal_mark.size() + digest_length;
    if (bytes.size() < seal || bytes.substr(bytes.size() - seal, seal_mark.size()) != seal_mark) {
        *detail = "the bytes are no image that was compiled for the host runtime";
        return Status::invalid_kernel_image;
    }
    const std::string_view object = bytes.substr(0, bytes.size() - seal);
    if (hex(sha256(object)) != bytes.substr(bytes.size() - digest_length)) {
        *detail = "the image is damaged: its bytes are not those that were compiled";
        return Status::invalid_kernel_image;
    }
    std::vector<Symbol> symbols;
    if (!read_symbols(object, &symbols)) {
        *detail = "the image was compiled for another kind of machine";
        return Status::invalid_kernel_image;
    }
    std::string loadable(object);
    InitializerTable initializers;
    if (!take_initializers(&loadable, &initializers)) {
        *detail = "the image is no shared object";
        return Status::invalid_kernel_image;
    }
    void* handle = open_bytes(loadable, detail);
    if (handle == nullptr) return Status::invalid_kernel_image;
    const std::shared_ptr<Image> loaded(new Image(handle));
    const auto* table = static_cast<const cuscope_simt::ImageTable*>(dlsym(handle, "cuscope_image"));
    link_map* place = nullptr;
    if (table == nullptr || dlinfo(handle, RTLD_DI_LINKMAP, &place) != 0) {
        *detail = "the image has no table of kernels";
        return Status::invalid_kernel_image;
    }
    if (table->abi != cuscope_simt::abi_version) {
        *detail = "the image was compiled by another version of cuscope (its interface is " +
                  std::to_string(table->abi) + ", this one's is " +
                  std::to_string(cuscope_simt::abi_version) + "); compile it again";
        return Status::invalid_kernel_image;
    }
    Search search{table, {}};
    dl_iterate_phdr(examine_object, &search);
    loaded->facts_ = search.facts;
    loaded->lines_ = SourceLines(object);
    loaded->loaded_at_ = static_cast<std::uintptr_t>(place->l_addr);
    close_guard(*table);
    loaded->reserve_below();
    if (initializers.bytes != 0) {
        const auto begin = static_cast<std::uintptr_t>(place->l_addr) + initializers.value;
        loaded->initializers_begin_ = reinterpret_cast<const void* const*>(begin);
        loaded->initializers_end_ = loaded->initializers_begin_ + initializers.bytes / sizeof(void*);
    }

    loaded->kernels_.resize(table->kernel_count);
    loaded->globals_.resize(table->global_count);
    table->describe(loaded->kernels_.data(), loaded->globals_.data());
    loaded->names_.resize(table->kernel_count);
    std::uint64_t unowned = 0;  // bytes of functions that kernels call, and of no function
    std::vector<std::uint64_t> owned(table->kernel_count, 0);
    for (unsigned i = 0; i < table->kernel_count; ++i) {
        const std::uint64_t value = reinterpret_cast<std::uintptr_t>(loaded->kernels_[i].function) -
                                    static_cast<std::uintptr_t>(place->l_addr);
        for (const Symbol& symbol : symbols)
            if (symbol.is_function && symbol.value == value) loaded->names_[i] = symbol.name;
    }
    for (const Symbol& symbol : symbols) {
        if (!symbol.is_thread_local || symbol.name.find("cuscope_fiber") != std::string_view::npos) continue;
        bool found = false;
        for (unsigned i = 0; i < table->kernel_count && !found; ++i) {
            found = symbol.name.rfind(shared_prefix(loaded->names_[i]), 0) == 0;
            if (found) owned[i] += symbol.size;
        }
        if (!found) unowned += symbol.size;
        loaded->shared_variables_.push_back(shared_variable(symbol));
        loaded->shared_variables_.back().of_kernel = found;
    }
    for (unsigned i = 0; i < table->kernel_count; ++i) {
        loaded->kernels_[i].lowered = loaded->names_[i].c_str();
        loaded->kernels_[i].static_shared_bytes = static_cast<unsigned>(owned[i] + unowned);
    }
    loaded->table_ = *table;
    *image = loaded;
    return Status::success;
}

// The read-only part of the image lies before its variables. Before that part lies whatever the system mapped
// there. If that place is still free, it is reserved, so that nothing else is mapped there.
void Image::reserve_below() {
#if defined(MAP_FIXED_NOREPLACE)
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto* const end =
        reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(facts_.image_begin) / page * page);
    for (std::size_t bytes = GuardedMemory::guard_bytes; bytes >= page; bytes /= 2) {
        char* const begin = end - bytes;
        constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
        void* const got = mmap(begin, bytes, PROT_NONE, flags, -1, 0);
        if (got == begin) {
            below_ = begin;
            below_bytes_ = bytes;
            return;
        }
        if (got != MAP_FAILED) munmap(got, bytes);  // a Linux kernel that does not know the flag
    }
#endif
}

Image::~Image() {
    if (process_exiting()) return;
    dlclose(handle_);
    if (below_ != nullptr) munmap(below_, below_bytes_);
}

bool Image::is_call_of([[maybe_unused]] const void* return_address,
                       [[maybe_unused]] const void* instruction) const {
#if defined(__x86_64__)
    constexpr int call_bytes = 5, longest_function = 256;
    constexpr unsigned char call = 0xe8;  // of an address 4 bytes from here
    const auto* const behind = static_cast<const unsigned char*>(return_address);
    if (!holds_code(return_address) || !holds_code(behind - call_bytes) || behind[-call_bytes] != call)
        return false;
    std::int32_t distance = 0;
    std::memcpy(&distance, behind - 4, sizeof distance);
    const auto* const function = behind + distance;
    const auto* const at = static_cast<const unsigned char*>(instruction);
    return function <= at && at - function < longest_function;
#else
    return false;
#endif
}

std::string Image::source_line(const void* instruction) const {
    if (!holds_code(instruction)) return "";
    return lines_.at(reinterpret_cast<std::uintptr_t>(instruction) - loaded_at_);
}

// The image does not say which kernels call a function with such variables, so each function is checked by
// itself.
std::string Image::shared_problem() const {
    std::map<std::string, std::uint64_t> bytes;
    for (const SharedVariable& variable : shared_variables_) bytes[variable.function] += variable.bytes;
    for (const SharedVariable& variable : shared_variables_) {
        const std::uint64_t taken = bytes[variable.function];
        if (taken <= most_shared_bytes) continue;
        char numbers[64];
        std::snprintf(numbers, sizeof numbers, "(0x%llx bytes, 0x%llx max)",
                      static_cast<unsigned long long>(taken),
                      static_cast<unsigned long long>(most_shared_bytes));
        return (variable.of_kernel ? "kernel '" : "'") + variable.function + "' uses too much shared data " +
               numbers +
               ": the __shared__ variables of a kernel may take 48 KiB; a launch can give it more as dynamic "
               "shared memory: extern __shared__ float name[];";
    }
    return "";
}

const cuscope_simt::KernelEntry* Image::kernel(std::string_view lowered) const {
    for (const cuscope_simt::KernelEntry& entry : kernels_)
        if (entry.lowered == lowered) return &entry;
    return nullptr;
}

const cuscope_simt::GlobalEntry* Image::global(std::string_view name) const {
    for (const cuscope_simt::GlobalEntry& entry : globals_)
        if (entry.name == name) return &entry;
    return nullptr;
}

}  // namespace cuscope::simt
