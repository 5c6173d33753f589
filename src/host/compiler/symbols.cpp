#include "host/compiler/symbols.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace cuscope::simt {
namespace {

#if defined(__x86_64__)
constexpr int machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int machine = EM_AARCH64;
#elif defined(__riscv)
constexpr int machine = EM_RISCV;
#elif defined(__powerpc64__)
constexpr int machine = EM_PPC64;
#elif defined(__s390x__)
constexpr int machine = EM_S390;
#else
#error "which ELF machine is this?"
#endif

// Copies a T from `offset`, which need not be aligned. False if the bytes end before it does.
template <class T>
bool read_at(std::string_view bytes, std::uint64_t offset, T* value) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
    std::memcpy(value, bytes.data() + offset, sizeof(T));
    return true;
}

std::string_view text_at(std::string_view bytes, const ElfW(Shdr) & strings, std::uint64_t offset) {
    if (strings.sh_offset > bytes.size() || bytes.size() - strings.sh_offset < strings.sh_size ||
        offset >= strings.sh_size)
        return {};
    const std::string_view rest = bytes.substr(strings.sh_offset + offset, strings.sh_size - offset);
    return rest.substr(0, rest.find('\0'));
}

}  // namespace

bool read_symbols(std::string_view object, std::vector<Symbol>* symbols) {
    symbols->clear();
    ElfW(Ehdr) header;
    if (!read_at(object, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header.e_machine != machine || header.e_type != ET_DYN)
        return false;
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        ElfW(Shdr) section, strings;
        if (!read_at(object, header.e_shoff + std::uint64_t{i} * sizeof section, &section)) return false;
        if (section.sh_type != SHT_SYMTAB) continue;
        if (!read_at(object, header.e_shoff + std::uint64_t{section.sh_link} * sizeof strings, &strings))
            return false;
        for (std::uint64_t at = 0; at + sizeof(ElfW(Sym)) <= section.sh_size; at += sizeof(ElfW(Sym))) {
            ElfW(Sym) symbol;
            if (!read_at(object, section.sh_offset + at, &symbol)) return false;
            if (symbol.st_shndx == SHN_UNDEF) continue;
            const int type = symbol.st_info & 0xf;
            symbols->push_back({text_at(object, strings, symbol.st_name), symbol.st_value, symbol.st_size,
                                type == STT_FUNC, type == STT_TLS});
        }
    }
    return !symbols->empty();
}

std::string_view read_section(std::string_view object, std::string_view name) {
    ElfW(Ehdr) header;
    ElfW(Shdr) names, section;
    const auto place = [&](unsigned index) { return header.e_shoff + std::uint64_t{index} * sizeof section; };
    if (!read_at(object, 0, &header) || !read_at(object, place(header.e_shstrndx), &names)) return {};
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        if (!read_at(object, place(i), &section)) return {};
        if (section.sh_type != SHT_PROGBITS || text_at(object, names, section.sh_name) != name) continue;
        if (section.sh_offset > object.size() || object.size() - section.sh_offset < section.sh_size)
            return {};
        return object.substr(section.sh_offset, section.sh_size);
    }
    return {};
}

bool take_initializers(std::string* object, InitializerTable* table) {
    *table = {};
    ElfW(Ehdr) header;
    if (!read_at(*object, 0, &header)) return false;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) segment;
        if (!read_at(*object, header.e_phoff + std::uint64_t{i} * sizeof segment, &segment)) return false;
        if (segment.p_type != PT_DYNAMIC) continue;
        ElfW(Dyn) entry;
        for (std::uint64_t at = 0; at + sizeof entry <= segment.p_filesz; at += sizeof entry) {
            const std::uint64_t place = segment.p_offset + at;
            if (!read_at(*object, place, &entry)) return false;
            if (entry.d_tag == DT_NULL) break;
            if (entry.d_tag == DT_INIT_ARRAY) table->value = entry.d_un.d_ptr;
            if (entry.d_tag != DT_INIT_ARRAYSZ && entry.d_tag != DT_FINI_ARRAYSZ) continue;
            if (entry.d_tag == DT_INIT_ARRAYSZ) table->bytes = entry.d_un.d_val;
            entry.d_un.d_val = 0;
            std::memcpy(object->data() + place, &entry, sizeof entry);
        }
    }
    return true;
}

}  // namespace cuscope::simt
