#include "host/effects/semaphore.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "host/runtime/machine.hpp"

namespace cuscope::host {
namespace {

constexpr std::size_t counter_bytes = sizeof(std::uint64_t);

bool is_event_counter(int fd) {
    std::array<char, 64> target{};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
    return length > 0 &&
           std::string_view(target.data(), static_cast<std::size_t>(length)) == "anon_inode:[eventfd]";
}

// True for an in-memory file of at least 8 bytes that can be read and written.
bool is_counter(int fd) {
    struct stat status {};
    struct statfs system {};
    const int flags = ::fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) == O_RDWR && ::fstat(fd, &status) == 0 &&
           S_ISREG(status.st_mode) && status.st_size >= static_cast<off_t>(counter_bytes) &&
           ::fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC;
}

}  // namespace

ExternalSemaphore::~ExternalSemaphore() { ::close(fd_); }

void ExternalSemaphore::signal(std::uint64_t value) {
    const std::uint64_t one = 1;
    const auto put = [&] {
        return timeline_ ? ::pwrite(fd_, &value, counter_bytes, 0) : ::write(fd_, &one, sizeof one);
    };
    while (put() < 0 && errno == EINTR) {
    }
}

// Another process may take the semaphore between the poll and the read, so the read must not block.
bool ExternalSemaphore::take(std::uint64_t value) {
    std::uint64_t count = 0;
    if (timeline_) {
        // A file that was truncated counts as not signalled.
        return ::pread(fd_, &count, counter_bytes, 0) == static_cast<ssize_t>(counter_bytes) &&
               count >= value;
    }
    pollfd ready{fd_, POLLIN, 0};
    if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLIN) == 0) return false;
    const iovec into{&count, sizeof count};
    return ::preadv2(fd_, &into, 1, -1, RWF_NOWAIT) == sizeof count;
}

std::string ExternalSemaphore::missing(std::uint64_t value) const {
    const std::string name = "the external semaphore (file descriptor " + std::to_string(fd_) + ")";
    if (!timeline_) {
        pollfd ready{fd_, POLLIN, 0};
        return ::poll(&ready, 1, 0) == 1 ? "" : name + " has not been signalled";
    }
    std::uint64_t count = 0;
    if (::pread(fd_, &count, counter_bytes, 0) != static_cast<ssize_t>(counter_bytes))
        return name + " has no counter any more: its file was cut off";
    return count >= value ? ""
                          : name + " counts " + std::to_string(count) + ", and " + std::to_string(value) +
                                " is waited for";
}

void SemaphoresEffect::run() {
    for (const One& one : semaphores_) one.semaphore->signal(one.value);
}

Effect::Progress SemaphoresEffect::look() {
    const std::size_t before = next_;
    while (next_ < semaphores_.size() && semaphores_[next_].semaphore->take(semaphores_[next_].value))
        ++next_;
    return next_ == semaphores_.size() ? Progress::all : next_ == before ? Progress::none : Progress::some;
}

Status ExternalSemaphore::import_fd(const ExternalSemaphoreDescription& description,
                                    std::shared_ptr<ExternalSemaphore>* made) {
    const int type = static_cast<int>(description.type), fd = description.fd;
    constexpr int last_type = 10;
    if (type < 1 || type > last_type || description.flags != 0) {
        return fail(Status::invalid_value, "a semaphore of type " + std::to_string(type) + " and flags of " +
                                               std::to_string(description.flags) +
                                               "; flags are 0, and a type is one of 1 to 10");
    }
    const bool timeline = description.type == ExternalSemaphoreType::timeline_semaphore_fd;
    if (!timeline && description.type != ExternalSemaphoreType::opaque_fd)
        return fail(Status::not_supported, "semaphores of type " + std::to_string(type) + " are not Linux's");
    if (timeline && fd < 0)
        return fail(Status::invalid_value, "there is no file descriptor " + std::to_string(fd));
    if (timeline ? is_counter(fd) : is_event_counter(fd))
        *made = std::make_shared<ExternalSemaphore>(fd, thread().device, timeline);
    if (*made == nullptr) {
        return fail(Status::unknown,
                    "file descriptor " + std::to_string(fd) +
                        (timeline ? " is no file in memory (os.memfd_create) of 8 bytes or more, which a "
                                    "simulated device takes for a timeline semaphore"
                                  : " is no eventfd (os.eventfd), which a simulated device takes for a "
                                    "semaphore"));
    }
    return Status::success;
}

Status make_semaphores(Machine& machine, const ExternalSemaphoreNodeParameters& parameters, bool wait,
                       Stream& stream, Command** made) {
    if (parameters.count > 0 && (parameters.semaphores == nullptr || parameters.parameters == nullptr))
        return fail(Status::invalid_value, "the semaphores or their parameters are null");
    std::vector<SemaphoresEffect::One> ones;
    for (unsigned i = 0; i < parameters.count; ++i) {
        const auto found = machine.semaphores.find(parameters.semaphores[i]);
        if (found == machine.semaphores.end()) return invalid_handle("semaphore");
        if (parameters.parameters[i].flags != 0) {
            return fail(Status::invalid_value, "flags of " + std::to_string(parameters.parameters[i].flags) +
                                                   "; of a semaphore of a file descriptor they are 0");
        }
        ones.push_back({found->second, parameters.parameters[i].value});
    }
    const DeviceModel& model = *machine.devices[stream.device].model;
    const Time each = wait ? model.wait_value_ns : model.write_value_ns;
    Command* command = machine.begin(stream, Engine::none);
    command->duration = model.memory_operations_ns + each * static_cast<Time>(parameters.count);
    command->watches = wait;
    command->observable = !wait;
    command->effect = std::make_shared<SemaphoresEffect>(std::move(ones));
    *made = command;
    return Status::success;
}

}  // namespace cuscope::host
