#include "host/compiler/include_dir.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include "host/compiler/temporary_directory.hpp"
#include "runtime/compile/sha256.hpp"
#include "runtime/package_folder.hpp"

namespace cuscope::simt {
namespace {

bool holds_headers(const std::filesystem::path& directory) {
    std::error_code error;
    return std::filesystem::is_regular_file(directory / "cuscope_simt" / "abi.h", error);
}

}  // namespace

std::string include_dir() {
    if (const char* chosen = std::getenv("CUSCOPE_SIMT_INCLUDE"); chosen != nullptr && *chosen != '\0')
        return holds_headers(chosen) ? chosen : "";
    const std::filesystem::path folder = package_folder();
    const std::filesystem::path beside = folder / "include";
    return !folder.empty() && holds_headers(beside) ? beside.string() : "";
}

std::string headers_digest(const std::string& directory) {
    static std::mutex mutex;
    static std::map<std::string, std::string> known;
    const std::lock_guard lock(mutex);
    std::string& digest = known[directory];
    if (!digest.empty()) return digest;
    std::vector<std::string> paths;
    std::error_code error;
    for (auto entry = std::filesystem::recursive_directory_iterator(directory, error);
         !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error))
        if (entry->is_regular_file(error)) paths.push_back(entry->path().string());
    std::sort(paths.begin(), paths.end());
    std::string all;
    for (const std::string& path : paths) {
        std::string text;
        if (read_file(path, &text)) all += path.substr(directory.size()) + '\n' + text;
    }
    return digest = hex(sha256(all));
}

Toolkit find_toolkit() {
    std::vector<std::filesystem::path> roots;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
            roots.push_back(std::filesystem::path(value) / "include");
    }
    if (const std::filesystem::path folder = package_folder(); !folder.empty()) {
        const std::filesystem::path wheels = folder.parent_path() / "nvidia";
        for (const char* wheel : {"cu13", "cuda_cccl", "curand"}) roots.push_back(wheels / wheel / "include");
    }
    roots.emplace_back("/usr/local/cuda/include");
    roots.emplace_back("/opt/cuda/include");
    const auto is_file = [](const std::filesystem::path& path) {
        std::error_code error;
        return std::filesystem::is_regular_file(path, error);
    };
    Toolkit result;
    for (const std::filesystem::path& root : roots) {
        for (const std::filesystem::path& directory : {root / "cccl", root}) {
            if (result.standard_library.empty() &&
                is_file(directory / "cuda" / "std" / "detail" / "__config"))
                result.standard_library = directory.string();
        }
        if (result.curand_kernel.empty() && is_file(root / "curand_kernel.h"))
            result.curand_kernel = (root / "curand_kernel.h").string();
    }
    return result;
}

}  // namespace cuscope::simt
