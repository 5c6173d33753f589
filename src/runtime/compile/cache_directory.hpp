// The directory of compiled kernels: where it is, and whether its user can trust it.
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
    std::string reason;  // why there is no path
};

CacheLocation cache_location();
// Invalid, with a reason, if there is none or it is not to be trusted. `make` makes one that is not there.
FileDescriptor open_cache_directory(const CacheLocation& where, bool make, std::string* reason);
// Why what `status` describes may not be trusted; null if it may.
const char* cache_refusal(const struct stat& status);

// The files of a key: what was compiled, and the lock of who compiles it.
std::string cache_entry_name(const Sha256& key);
std::string cache_lock_name(const Sha256& key);
bool is_cache_entry(std::string_view file);
bool is_cache_lock(std::string_view file);
// Removes a folder, with all in it, that lies where one of these files belongs.
void remove_cache_folder(int directory, const std::string& file) noexcept;

}  // namespace cuscope
