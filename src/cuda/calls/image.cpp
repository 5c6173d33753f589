#include "cuda/calls/image.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>

namespace cuscope::cuda {
namespace {

constexpr std::uint16_t elf_machine_cuda = 190;
constexpr unsigned char symbol_is_kernel = 0x10;  // in st_other
constexpr std::uint32_t fatbin_magic = 0xba55ed50;

struct FatbinHeader {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t payload_bytes;
};

template <class T>
std::optional<T> read(std::string_view bytes, std::uint64_t offset) {
    if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

bool is_elf(std::string_view image) { return image.starts_with(std::string_view(ELFMAG, SELFMAG)); }

// The sections of a cubin; nothing if the image is not a cubin or is truncated.
std::optional<std::vector<Elf64_Shdr>> sections(std::string_view image) {
    const auto header = read<Elf64_Ehdr>(image, 0);
    if (!header || !is_elf(image) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_machine != elf_machine_cuda || header->e_shentsize != sizeof(Elf64_Shdr)) {
        return std::nullopt;
    }
    std::vector<Elf64_Shdr> found;
    for (unsigned i = 0; i < header->e_shnum; ++i) {
        const auto section = read<Elf64_Shdr>(image, header->e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
        if (!section) return std::nullopt;
        const bool in_file = section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL;
        if (in_file &&
            (section->sh_offset > image.size() || section->sh_size > image.size() - section->sh_offset)) {
            return std::nullopt;
        }
        found.push_back(*section);
    }
    for (unsigned i = 0; i < header->e_phnum; ++i) {
        const auto segment = read<Elf64_Phdr>(image, header->e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
        if (!segment || segment->p_offset > image.size() ||
            segment->p_filesz > image.size() - segment->p_offset) {
            return std::nullopt;
        }
    }
    if (found.empty()) return std::nullopt;
    return found;
}

std::string_view without_end(std::string_view text) {
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    return text;
}

std::vector<std::string> kernels_of_cubin(std::string_view image) {
    std::vector<std::string> names;
    const auto all = sections(image);
    if (!all) return names;
    for (const Elf64_Shdr& table : *all) {
        if (table.sh_type != SHT_SYMTAB || table.sh_link >= all->size()) continue;
        const Elf64_Shdr& text = (*all)[table.sh_link];
        if (text.sh_type != SHT_STRTAB) continue;
        const std::string_view strings = image.substr(text.sh_offset, text.sh_size);
        for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = read<Elf64_Sym>(image, table.sh_offset + at);
            if (!symbol || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
                (symbol->st_other & symbol_is_kernel) == 0 || symbol->st_name >= strings.size()) {
                continue;
            }
            const std::string_view rest = strings.substr(symbol->st_name);
            names.emplace_back(rest.substr(0, rest.find('\0')));
        }
    }
    return names;
}

std::vector<std::string> kernels_of_ptx(std::string_view text) {
    std::vector<std::string> names;
    constexpr std::string_view marker = ".entry";
    for (std::size_t at = text.find(marker); at != std::string_view::npos; at = text.find(marker, at)) {
        at += marker.size();
        const std::size_t begin = text.find_first_not_of(" \t\r\n", at);
        if (begin == std::string_view::npos || begin == at) continue;
        const std::size_t end = text.find_first_of("( \t\r\n{", begin);
        names.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    }
    return names;
}

}  // namespace

bool is_whole_image(std::string_view image) {
    if (is_elf(image)) return sections(image).has_value();
    if (const auto magic = read<std::uint32_t>(image, 0); magic && *magic == fatbin_magic) {
        const auto header = read<FatbinHeader>(image, 0);
        return header && header->header_bytes >= sizeof(FatbinHeader) &&
               header->header_bytes <= image.size() &&
               header->payload_bytes <= image.size() - header->header_bytes;
    }
    const std::string_view text = without_end(image);
    return text.find('\0') == std::string_view::npos && text.find(".version") != std::string_view::npos &&
           text.find(".target") != std::string_view::npos;
}

std::vector<std::string> kernel_names(std::string_view image) {
    return is_elf(image) ? kernels_of_cubin(image) : kernels_of_ptx(without_end(image));
}

}  // namespace cuscope::cuda
