// The directory of compiled kernels: its path, and whether its user can trust it.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "runtime/compile/sha256.hpp"

namespace cuscope {

class FileDescriptor {
  public:
    explicit FileDescriptor(int fd) : fd_(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~FileDescriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_;
};

struct CacheLocation {
    std::string path;
    std::string reason;  // if there is no path: why not
};

CacheLocation cache_location();
// Returns an invalid descriptor and a reason if there is no directory, or if it cannot be trusted. `make`:
// creates a missing directory.
FileDescriptor open_cache_directory(const CacheLocation& where, bool make, std::string* reason);
// The reason not to trust the file or directory that `status` describes; null if it can be trusted.
const char* cache_refusal(const struct stat& status);

// The files of a key: the compiled result, and the lock of the thread that compiles it.
std::string cache_entry_name(const Sha256& key);
std::string cache_lock_name(const Sha256& key);
bool is_cache_entry(std::string_view file);
bool is_cache_lock(std::string_view file);
// Removes a folder, with its content, that stands in the place of one of these files.
void remove_cache_folder(int directory, const std::string& file) noexcept;

}  // namespace cuscope
