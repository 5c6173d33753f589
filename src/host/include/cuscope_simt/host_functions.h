// Functions of the C library that a standard header declares and no device has. Calling one of them is a
// compile error that names it, instead of the end of the process. Included before the standard headers,
// because the attribute has to be on the first declaration.
#pragma once
#pragma GCC system_header

#define CUSCOPE_HOST_FUNCTION(name) \
    __attribute__((error("'" name "' is a function of the host: a kernel cannot call it")))

extern "C" {
CUSCOPE_HOST_FUNCTION("abort") void abort() noexcept;
CUSCOPE_HOST_FUNCTION("exit") void exit(int) noexcept;
CUSCOPE_HOST_FUNCTION("_Exit") void _Exit(int) noexcept;
CUSCOPE_HOST_FUNCTION("quick_exit") void quick_exit(int) noexcept;
CUSCOPE_HOST_FUNCTION("_exit") void _exit(int);
CUSCOPE_HOST_FUNCTION("atexit") int atexit(void (*)()) noexcept;
CUSCOPE_HOST_FUNCTION("system") int system(const char*);
CUSCOPE_HOST_FUNCTION("getenv") char* getenv(const char*) noexcept;
CUSCOPE_HOST_FUNCTION("raise") int raise(int) noexcept;
CUSCOPE_HOST_FUNCTION("fork") int fork() noexcept;
CUSCOPE_HOST_FUNCTION("sleep") unsigned sleep(unsigned);
CUSCOPE_HOST_FUNCTION("usleep") int usleep(unsigned);
}

#undef CUSCOPE_HOST_FUNCTION
