#include "host/compiler/temporary_directory.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <system_error>

namespace cuscope::simt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "cuscope-compile-", random_part = "XXXXXX";
constexpr const char* owner_file = "/.owner";

fs::path parent_directory() {
    std::error_code error;
    // Compilers and the watcher run in other directories than this process.
    const fs::path parent = fs::absolute(fs::temp_directory_path(error), error);
    return error ? fs::path("/tmp") : parent;
}

// The owner's file is removed last, so that another process can finish a removal that was cut short.
void remove_directory(const std::string& path) {
    std::error_code error;
    for (auto entry = fs::directory_iterator(path, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
        std::error_code none;
        if (entry->path().filename() != owner_file + 1) fs::remove_all(entry->path(), none);
    }
    fs::remove_all(path, error);
}

// Opens and locks the owner's file. The result is closed if that fails; `taken` tells whether another process
// has it.
PrivateDescriptor lock_owner_file(const std::string& path, int flags, bool* taken) {
    const int fd =
        ::open((path + owner_file).c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
    *taken = fd < 0 && errno == ENOENT;  // the directory is gone as well
    PrivateDescriptor file(fd);
    if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        *taken = errno == EWOULDBLOCK;
        file.close();
    }
    return file;
}

void remove_if_abandoned(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid()) return;
    if (::access((path + owner_file).c_str(), F_OK) != 0) {
        ::rmdir(path.c_str());  // only if it is empty
        return;
    }
    bool taken = false;
    const PrivateDescriptor owner = lock_owner_file(path, 0, &taken);
    if (owner.is_open()) remove_directory(path);
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() : process_(::getpid()) {
    const std::string pattern =
        (parent_directory() / (std::string(prefix) + std::string(random_part))).string();
    // Another process may see the directory as abandoned before it is locked. Then a new one is made.
    for (int attempt = 0; attempt < 10; ++attempt) {
        std::string name = pattern;
        if (mkdtemp(name.data()) == nullptr) return;
        bool taken = false;
        owner_ = lock_owner_file(name, O_CREAT | O_EXCL, &taken);
        struct stat status {};
        if (owner_.is_open()) taken = ::fstat(owner_.get(), &status) != 0 || status.st_nlink == 0;
        if (taken) continue;
        // A full file system, or one without locks, is still worth a try.
        path_ = name;
        return;
    }
}

TemporaryDirectory::~TemporaryDirectory() {
    try {
        // A signal handler may have forked while the directory was in use. The child does not own it.
        if (!path_.empty() && ::getpid() == process_) remove_directory(path_);
    } catch (...) {  // out of memory: another process will remove the directory
    }
}

void remove_abandoned_directories() noexcept {
    static std::atomic<bool> done{false};
    if (done.exchange(true)) return;
    try {
        std::error_code error;
        for (auto entry = fs::directory_iterator(parent_directory(), error);
             !error && entry != fs::directory_iterator(); entry.increment(error)) {
            const std::string name = entry->path().filename().string();
            if (name.size() == prefix.size() + random_part.size() && name.starts_with(prefix))
                remove_if_abandoned(entry->path().string());
        }
    } catch (...) {  // out of memory: the directories stay
    }
}

bool write_file(const std::string& path, const std::string& text) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    return static_cast<bool>(file.flush());
}

bool write_files(const std::string& folder, const std::vector<std::pair<std::string, std::string>>& files) {
    std::map<std::string_view, std::string> written;  // the first file with each text
    for (const auto& [name, text] : files) {
        const std::string path = folder + "/" + name;
        const auto [first, is_new] = written.try_emplace(text, path);
        if (!is_new) {
            // To make a file takes ext4 0.3 ms, a link to a file is ten times as quick.
            std::error_code error;
            fs::create_directories(fs::path(path).parent_path(), error);
            fs::create_hard_link(first->second, path, error);
            if (!error) continue;
        }
        if (!write_file(path, text)) return false;
    }
    return true;
}

bool read_file(const std::string& path, std::string* text) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return false;
    text->clear();
    // An iterator over the characters takes three times as long.
    for (char part[65536]; file.read(part, sizeof part), file.gcount() > 0;)
        text->append(part, static_cast<std::size_t>(file.gcount()));
    return !file.bad();
}

}  // namespace cuscope::simt
