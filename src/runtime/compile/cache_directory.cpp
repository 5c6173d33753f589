#include "runtime/compile/cache_directory.hpp"

#include <fcntl.h>
#include <pwd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace cuscope {
namespace {

constexpr std::string_view suffix = ".image";
constexpr std::string_view lock_suffix = ".lock";

bool is_file_of_key(std::string_view file, std::string_view ending) {
    return file.size() == 2 * sizeof(Sha256) + ending.size() && file.ends_with(ending);
}

void make_directories(const std::string& path) {
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        ::mkdir(path.substr(0, end).c_str(), 0700);
    }
    ::mkdir(path.c_str(), 0700);
}

}  // namespace

CacheLocation cache_location() {
    if (const char* chosen = std::getenv("CUSCOPE_CACHE_DIR")) {
        if (*chosen == '\0') return {"", "off: CUSCOPE_CACHE_DIR is empty"};
        return {chosen, ""};
    }
    // The XDG Base Directory Specification says to ignore a relative path.
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
        return {std::string(cache) + "/cuscope", ""};
    }
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
        return {std::string(home) + "/.cache/cuscope", ""};
    }
    std::array<char, 4096> buffer;
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr &&
        found->pw_dir != nullptr && *found->pw_dir == '/') {
        return {std::string(found->pw_dir) + "/.cache/cuscope", ""};
    }
    return {"", "off: this user has no home directory; set CUSCOPE_CACHE_DIR"};
}

const char* cache_refusal(const struct stat& status) {
    if (status.st_uid != geteuid()) return "belongs to another user";
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "may be written by other users";
    return nullptr;
}

FileDescriptor open_cache_directory(const CacheLocation& where, bool make, std::string* reason) {
    *reason = where.reason;
    if (where.path.empty()) return FileDescriptor(-1);
    constexpr int open_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    FileDescriptor directory(::open(where.path.c_str(), open_flags));
    if (!directory && errno == ENOENT && make) {
        make_directories(where.path);
        return open_cache_directory(where, false, reason);
    }
    if (!directory) {
        *reason = where.path + ": " +
                  (errno == ELOOP || errno == ENOTDIR ? "is no directory" : std::strerror(errno));
        return directory;
    }
    struct stat status {};
    const char* why = ::fstat(directory.get(), &status) == 0 ? cache_refusal(status) : std::strerror(errno);
    if (why == nullptr) return directory;
    *reason = where.path + " " + why;
    return FileDescriptor(-1);
}

std::string cache_entry_name(const Sha256& key) { return hex(key) + std::string(suffix); }

std::string cache_lock_name(const Sha256& key) { return hex(key) + std::string(lock_suffix); }

bool is_cache_entry(std::string_view file) { return is_file_of_key(file, suffix); }
bool is_cache_lock(std::string_view file) { return is_file_of_key(file, lock_suffix); }

void remove_cache_folder(int directory, const std::string& file) noexcept {
    struct stat status {};
    if (::fstatat(directory, file.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid())
        return;
    if (::unlinkat(directory, file.c_str(), AT_REMOVEDIR) == 0) return;
    std::error_code error;
    try {
        std::filesystem::remove_all("/proc/self/fd/" + std::to_string(directory) + "/" + file, error);
    } catch (...) {  // out of memory: the folder stays
    }
}

}  // namespace cuscope
