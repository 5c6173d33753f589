#include "runtime/compile/cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "runtime/compile/cache_directory.hpp"
#include "runtime/compile/sha256.hpp"

namespace cuscope {
namespace {

// An entry is: magic, format version, hash of the key, hash of the payload, payload.
constexpr std::string_view magic = "cuscope\n";
constexpr std::uint32_t format_version = 1;
constexpr std::size_t header_bytes = magic.size() + sizeof format_version + 2 * sizeof(Sha256);

constexpr std::uint64_t limit_bytes = std::uint64_t{512} << 20;  // limit for the directory
constexpr std::string_view temporary_prefix = ".writing-";
constexpr std::time_t stale_seconds = 3600;  // a temporary file this old has no writer any more

// Serialisation: little-endian integers of eight bytes, and strings after their length.
class Writer {
  public:
    void number(std::uint64_t value) {
        for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift);
    }
    void string(std::string_view value) {
        number(value.size());
        bytes_ += value;
    }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

// Reads past the end return zeros and empty strings, and `ok` returns false from then on.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}
    std::uint64_t number() {
        const std::string_view field = take(8);
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < field.size(); ++i) {
            value |= std::uint64_t{static_cast<unsigned char>(field[i])} << (8 * i);
        }
        return value;
    }
    std::string string() { return std::string(take(number())); }
    // A count of items of at least one byte each, so that a wrong count cannot allocate much memory.
    std::uint64_t count() {
        const std::uint64_t value = number();
        if (value > rest_.size()) ok_ = false;
        return ok_ ? value : 0;
    }
    bool ok() const { return ok_; }
    bool at_end() const { return rest_.empty(); }

  private:
    std::string_view take(std::uint64_t bytes) {
        if (bytes > rest_.size()) ok_ = false;
        if (!ok_) return {};
        const std::string_view field = rest_.substr(0, bytes);
        rest_.remove_prefix(bytes);
        return field;
    }
    std::string_view rest_;
    bool ok_ = true;
};

std::string serialise(const CompileResult& result) {
    Writer out;
    out.string(result.image);
    out.string(result.log);
    out.number(result.kernels.size());
    for (const KernelDescription& kernel : result.kernels) {
        out.string(kernel.name);
        out.string(kernel.lowered);
        out.number(kernel.parameters.size());
        for (const Parameter& parameter : kernel.parameters) {
            out.string(parameter.name);
            out.string(parameter.type);
            out.number(static_cast<std::uint64_t>(parameter.kind));
            out.number(parameter.is_const ? 1 : 0);
            out.string(parameter.element);
            out.number(parameter.size);
        }
    }
    return out.take();
}

std::optional<CompileResult> deserialise(std::string_view payload) {
    Reader in(payload);
    CompileResult result;
    result.image = in.string();
    result.log = in.string();
    result.kernels.resize(in.count());
    for (KernelDescription& kernel : result.kernels) {
        kernel.name = in.string();
        kernel.lowered = in.string();
        kernel.parameters.resize(in.count());
        for (Parameter& parameter : kernel.parameters) {
            parameter.name = in.string();
            parameter.type = in.string();
            const std::uint64_t kind = in.number();
            if (kind > static_cast<std::uint64_t>(ParameterKind::opaque)) return std::nullopt;
            parameter.kind = static_cast<ParameterKind>(kind);
            parameter.is_const = in.number() != 0;
            parameter.element = in.string();
            parameter.size = in.number();
        }
    }
    if (!in.ok() || !in.at_end()) return std::nullopt;
    result.cached = true;
    return result;
}

std::string_view view(const Sha256& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string header(const Sha256& key, std::string_view payload) {
    std::string bytes(magic);
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(format_version >> shift);
    bytes += view(key);
    bytes += view(sha256(payload));
    return bytes;
}

bool read_all(int fd, std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += static_cast<std::size_t>(got);
    }
    return true;
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t put = ::write(fd, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

// Removes the lock of a process that was killed.
void remove_free_lock(int directory, const char* name) {
    const FileDescriptor file(::openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(directory, name, 0);
}

// Removes temporary files without a writer, and locks without a holder. Above the size limit, also removes
// the entries that were used longest ago.
void evict(int directory) {
    const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return;
    DIR* const listing = ::fdopendir(copy);
    if (listing == nullptr) {
        ::close(copy);
        return;
    }
    struct Entry {
        std::string file;
        std::uint64_t bytes;
        std::int64_t used_ns;
    };
    std::vector<Entry> entries;
    std::uint64_t total = 0;
    while (const dirent* item = ::readdir(listing)) {
        const std::string_view file = item->d_name;
        struct stat status {};
        if (is_cache_lock(file)) remove_free_lock(directory, item->d_name);
        if (!is_cache_entry(file) && !file.starts_with(temporary_prefix)) continue;
        if (::fstatat(directory, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!is_cache_entry(file)) {
            if (status.st_mtim.tv_sec + stale_seconds < std::time(nullptr)) {
                ::unlinkat(directory, item->d_name, 0);
            }
            continue;
        }
        const auto bytes = static_cast<std::uint64_t>(status.st_size);
        entries.push_back(
            {std::string(file), bytes, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec});
        total += bytes;
    }
    ::closedir(listing);
    if (total <= limit_bytes) return;
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.used_ns < b.used_ns; });
    for (const Entry& entry : entries) {
        if (total <= limit_bytes / 4 * 3) break;
        if (::unlinkat(directory, entry.file.c_str(), 0) == 0) total -= entry.bytes;
    }
}

void store(std::string_view key, const CompileResult& result) {
    const std::string payload = serialise(result);
    if (payload.size() > limit_bytes / 2) return;
    std::string reason;
    const FileDescriptor directory = open_cache_directory(cache_location(), true, &reason);
    if (!directory) return;
    std::uint64_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) return;
    const std::string temporary = std::string(temporary_prefix) + std::to_string(random);
    const Sha256 hash = sha256(key);
    bool written = false;
    {
        const FileDescriptor file(::openat(directory.get(), temporary.c_str(),
                                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file) return;
        written = write_all(file.get(), header(hash, payload)) && write_all(file.get(), payload);
    }
    const std::string target = cache_entry_name(hash);
    const auto put = [&] {
        return ::renameat(directory.get(), temporary.c_str(), directory.get(), target.c_str()) == 0;
    };
    if (written && !put()) {
        remove_cache_folder(directory.get(), target);  // a file cannot replace a folder
        written = put();
    }
    if (!written) {
        ::unlinkat(directory.get(), temporary.c_str(), 0);
        return;
    }
    evict(directory.get());
}

}  // namespace

std::optional<CompileResult> cache_load(std::string_view key) {
    std::string reason;
    const FileDescriptor directory = open_cache_directory(cache_location(), false, &reason);
    if (!directory) return std::nullopt;
    const Sha256 hash = sha256(key);
    // If this is a FIFO, the open must not wait for a writer.
    const FileDescriptor file(::openat(directory.get(), cache_entry_name(hash).c_str(),
                                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
    if (!S_ISREG(status.st_mode) || cache_refusal(status) != nullptr) return std::nullopt;
    if (status.st_size < static_cast<off_t>(header_bytes) ||
        status.st_size > static_cast<off_t>(limit_bytes)) {
        return std::nullopt;
    }
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    if (!read_all(file.get(), bytes)) return std::nullopt;
    const std::string_view payload = std::string_view(bytes).substr(header_bytes);
    if (std::string_view(bytes).substr(0, header_bytes) != header(hash, payload)) return std::nullopt;
    std::optional<CompileResult> result = deserialise(payload);
    if (result) ::futimens(file.get(), nullptr);  // time of last use, for eviction
    return result;
}

void cache_store(std::string_view key, const CompileResult& result) noexcept {
    try {
        store(key, result);
    } catch (...) {  // out of memory: no entry is stored
    }
}

std::string cache_description() {
    const CacheLocation where = cache_location();
    std::string reason;
    const FileDescriptor directory = open_cache_directory(where, false, &reason);
    if (directory) return where.path;
    if (where.path.empty()) return reason;
    // The directory is made when the first result is stored.
    if (::access(where.path.c_str(), F_OK) != 0 && errno == ENOENT) return where.path;
    return "not used: " + reason;
}

}  // namespace cuscope
