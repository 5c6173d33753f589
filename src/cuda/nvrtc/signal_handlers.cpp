#include "cuda/nvrtc/signal_handlers.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cuscope::cuda::nvrtc {
namespace {

using Handler = void (*)(int);

thread_local bool handlers_kept = false;

Handler signal_of_nvrtc(int number, Handler handler) {
    if (!handlers_kept) return ::signal(number, handler);
    struct sigaction now {};
    return ::sigaction(number, nullptr, &now) == 0 ? now.sa_handler : SIG_ERR;
}

// The parts of a loaded library that tell where its pointers to imported functions are.
struct Imports {
    explicit Imports(const link_map& library) : base(library.l_addr) {
        for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
            switch (entry->d_tag) {
                case DT_STRTAB:
                    names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
                    break;
                case DT_SYMTAB:
                    symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
                    break;
                case DT_JMPREL:
                    entries = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
                    break;
                case DT_PLTRELSZ:
                    count = entry->d_un.d_val / sizeof(ElfW(Rela));
                    break;
                default:
                    break;
            }
        }
        if (names == nullptr || symbols == nullptr || entries == nullptr) count = 0;
    }

    std::atomic<void*>* pointer_to(const char* function) const {
        for (std::size_t i = 0; i < count; ++i) {
            const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(entries[i].r_info)];
            if (std::strcmp(names + symbol.st_name, function) == 0)
                return reinterpret_cast<std::atomic<void*>*>(base + entries[i].r_offset);
        }
        return nullptr;
    }

    std::uintptr_t base;
    const char* names = nullptr;
    const ElfW(Sym) * symbols = nullptr;
    const ElfW(Rela) * entries = nullptr;
    std::size_t count = 0;
};

// False if the page that holds the pointer cannot be made writable. Libraries that are bound when they are
// loaded have it read-only.
bool make_writable(const void* pointer) {
    const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(pointer) / size * size;
    return ::mprotect(reinterpret_cast<void*>(page), size, PROT_READ | PROT_WRITE) == 0;
}

}  // namespace

void redirect_signal_calls(void* handle) {
    link_map* library = nullptr;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, &library) != 0) return;
    std::atomic<void*>* const pointer = Imports(*library).pointer_to("signal");
    // Another thread may be calling through this pointer, so the store is atomic.
    if (pointer != nullptr && make_writable(pointer))
        pointer->store(reinterpret_cast<void*>(&signal_of_nvrtc), std::memory_order_release);
}

HandlersKept::HandlersKept() { handlers_kept = true; }

HandlersKept::~HandlersKept() { handlers_kept = false; }

}  // namespace cuscope::cuda::nvrtc
