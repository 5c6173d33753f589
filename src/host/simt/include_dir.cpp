#include "host/simt/include_dir.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace cuscope::simt {
namespace {

bool holds_headers(const std::filesystem::path& directory) {
    std::error_code error;
    return std::filesystem::is_regular_file(directory / "cuscope_simt" / "abi.h", error);
}

// That of the extension; empty if it is not known.
std::filesystem::path own_folder() {
    Dl_info object;
    if (dladdr(reinterpret_cast<const void*>(&holds_headers), &object) == 0 || object.dli_fname == nullptr)
        return {};
    return std::filesystem::path(object.dli_fname).parent_path();
}

}  // namespace

std::string include_dir() {
    if (const char* chosen = std::getenv("CUSCOPE_SIMT_INCLUDE"); chosen != nullptr && *chosen != '\0')
        return holds_headers(chosen) ? chosen : "";
    const std::filesystem::path folder = own_folder();
    const std::filesystem::path beside = folder / "include";
    return !folder.empty() && holds_headers(beside) ? beside.string() : "";
}

std::string toolkit_include_dir() {
    std::vector<std::filesystem::path> roots;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
            roots.push_back(std::filesystem::path(value) / "include");
    }
    if (const std::filesystem::path folder = own_folder(); !folder.empty()) {
        const std::filesystem::path wheels = folder.parent_path() / "nvidia";
        roots.push_back(wheels / "cu13" / "include");
        roots.push_back(wheels / "cuda_cccl" / "include");
    }
    roots.emplace_back("/usr/local/cuda/include");
    roots.emplace_back("/opt/cuda/include");
    for (const std::filesystem::path& root : roots) {
        for (const std::filesystem::path& directory : {root / "cccl", root}) {
            std::error_code error;
            if (std::filesystem::is_regular_file(directory / "cuda" / "std" / "detail" / "__config", error))
                return directory.string();
        }
    }
    return "";
}

}  // namespace cuscope::simt
