#include "cuda/nvrtc/host_headers.hpp"

namespace cuscope::cuda::nvrtc {
namespace {

constexpr const char* empty = "#pragma once\n";

constexpr const char* c_types = R"(#pragma once
typedef struct _IO_FILE FILE;
typedef struct __dirstream DIR;
typedef struct {
    size_t gl_pathc;
    char** gl_pathv;
    size_t gl_offs;
    int gl_flags;
    void* cuscope_functions[5];
} glob_t;
typedef unsigned long pthread_t;
typedef struct { long cuscope_state[5]; } pthread_mutex_t;
typedef long ssize_t;
typedef long off_t;
typedef int pid_t;
)";

// The sizes are those of libstdc++.
constexpr const char* string_type = R"(#pragma once
extern "C++" {
namespace std { class string { long cuscope_state[4]; }; }
}
)";
constexpr const char* vector_type = R"(#pragma once
extern "C++" {
namespace std { template <class T, class...> class vector { T* cuscope_state[3]; }; }
}
)";
constexpr const char* map_types = R"(#pragma once
extern "C++" {
namespace std {
template <class, class, class...> class map { long cuscope_state[6]; };
template <class, class, class...> class multimap { long cuscope_state[6]; };
}
}
)";
constexpr const char* set_types = R"(#pragma once
extern "C++" {
namespace std {
template <class, class...> class set { long cuscope_state[6]; };
template <class, class...> class multiset { long cuscope_state[6]; };
}
}
)";
constexpr const char* unordered_map_types = R"(#pragma once
extern "C++" {
namespace std {
template <class, class, class...> class unordered_map { long cuscope_state[7]; };
template <class, class, class...> class unordered_multimap { long cuscope_state[7]; };
}
}
)";
constexpr const char* unordered_set_types = R"(#pragma once
extern "C++" {
namespace std {
template <class, class...> class unordered_set { long cuscope_state[7]; };
template <class, class...> class unordered_multiset { long cuscope_state[7]; };
}
}
)";
constexpr const char* list_type = R"(#pragma once
extern "C++" {
namespace std { template <class, class...> class list { long cuscope_state[3]; }; }
}
)";
constexpr const char* deque_type = R"(#pragma once
extern "C++" {
namespace std { template <class, class...> class deque { long cuscope_state[10]; }; }
}
)";
constexpr const char* queue_types = R"(#pragma once
extern "C++" {
namespace std {
template <class, class...> class queue { long cuscope_state[10]; };
template <class, class...> class priority_queue { long cuscope_state[4]; };
}
}
)";
constexpr const char* stack_type = R"(#pragma once
extern "C++" {
namespace std { template <class, class...> class stack { long cuscope_state[10]; }; }
}
)";
constexpr const char* memory_types = R"(#pragma once
extern "C++" {
namespace std {
template <class T, class...> class unique_ptr { T* cuscope_state; };
template <class T> class shared_ptr { T* cuscope_state[2]; };
template <class T> class weak_ptr { T* cuscope_state[2]; };
}
}
)";
constexpr const char* mutex_type = R"(#pragma once
extern "C++" {
namespace std { class mutex { long cuscope_state[5]; }; }
}
)";
constexpr const char* thread_type = R"(#pragma once
extern "C++" {
namespace std { class thread { long cuscope_state; }; }
}
)";
constexpr const char* condition_type = R"(#pragma once
extern "C++" {
namespace std { class condition_variable { long cuscope_state[6]; }; }
}
)";
constexpr const char* file_streams = R"(#pragma once
extern "C++" {
namespace std {
class ifstream { long cuscope_state[65]; };
class ofstream { long cuscope_state[64]; };
class fstream { long cuscope_state[66]; };
}
}
)";
constexpr const char* clocks = R"(#pragma once
extern "C++" {
namespace std {
namespace chrono {
template <class T, class...> class duration { T cuscope_state; };
template <class, class...> class time_point { long cuscope_state; };
using nanoseconds = duration<long>;
using microseconds = duration<long>;
using milliseconds = duration<long>;
using seconds = duration<long>;
struct system_clock { using time_point = chrono::time_point<system_clock>; };
struct steady_clock { using time_point = chrono::time_point<steady_clock>; };
using high_resolution_clock = system_clock;
}
}
}
)";
constexpr const char* file_system = R"(#pragma once
extern "C++" {
namespace std { namespace filesystem { class path { long cuscope_state[5]; }; } }
}
)";

constexpr const char* without_types[] = {
    // C++
    "iostream", "sstream", "iomanip", "ostream", "istream", "iosfwd", "ios", "streambuf", "string_view",
    "forward_list", "shared_mutex", "future", "random", "stdexcept", "exception", "regex", "system_error",
    "typeinfo", "typeindex", "locale", "bitset", "iterator", "atomic", "any", "new", "execution",
    "source_location", "ratio", "charconv", "valarray", "codecvt", "memory_resource", "scoped_allocator",
    "compare", "coroutine", "ranges", "numbers", "barrier", "latch", "semaphore", "stop_token", "version",
    "format", "cfenv", "clocale", "csetjmp", "cuchar", "cwchar", "cwctype", "ciso646", "cerrno", "csignal",
    "cctype", "cstdarg",
    // C and POSIX
    "errno.h", "error.h", "signal.h", "unistd.h", "sys/time.h", "ctype.h", "stdarg.h", "getopt.h",
    "sys/stat.h", "sys/mman.h", "fcntl.h", "pthread.h", "sched.h", "semaphore.h", "arpa/inet.h",
    "sys/socket.h", "netinet/in.h", "netdb.h", "sys/un.h", "glob.h", "libgen.h", "dlfcn.h", "dirent.h",
    "memory.h", "malloc.h", "alloca.h", "strings.h", "stdbool.h", "sys/wait.h", "sys/resource.h",
    "sys/ioctl.h", "sys/timeb.h", "sys/times.h", "sys/select.h", "sys/param.h", "sys/utsname.h",
    "sys/sysinfo.h", "sys/syscall.h", "fenv.h", "locale.h", "setjmp.h", "wchar.h", "wctype.h", "uchar.h",
    "tgmath.h", "iso646.h", "regex.h", "poll.h", "termios.h", "syslog.h", "pwd.h", "values.h", "endian.h",
    "byteswap.h", "features.h", "execinfo.h", "x86intrin.h", "immintrin.h", "xmmintrin.h", "emmintrin.h"};

}  // namespace

const HeaderTexts& standard_host_headers() {
    static const auto* const headers = [] {
        auto* const made = new HeaderTexts{{host_types_header, c_types},
                                           {"string", string_type},
                                           {"vector", vector_type},
                                           {"map", map_types},
                                           {"set", set_types},
                                           {"unordered_map", unordered_map_types},
                                           {"unordered_set", unordered_set_types},
                                           {"list", list_type},
                                           {"deque", deque_type},
                                           {"queue", queue_types},
                                           {"stack", stack_type},
                                           {"memory", memory_types},
                                           {"mutex", mutex_type},
                                           {"thread", thread_type},
                                           {"condition_variable", condition_type},
                                           {"fstream", file_streams},
                                           {"chrono", clocks},
                                           {"filesystem", file_system}};
        for (const char* name : without_types) made->emplace_back(name, empty);
        return made;
    }();
    return *headers;
}

}  // namespace cuscope::cuda::nvrtc
