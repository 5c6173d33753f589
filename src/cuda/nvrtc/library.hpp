// NVRTC, loaded at run time: where it was found, and its functions. Declared here, so that nvrtc.h of the
// toolkit is not needed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cuscope::cuda::nvrtc {

using Program = struct ProgramT*;  // nvrtcProgram

// nvrtcResult
enum class Result : int {
    success = 0,
    out_of_memory = 1,
    program_creation_failure = 2,
    invalid_input = 3,
    invalid_program = 4,
    invalid_option = 5,
    compilation = 6,
    builtin_operation_failure = 7,
};

struct Library {
    std::string path;  // of the shared library
    int major = 0, minor = 0;
    std::vector<std::string> include_paths;  // of its toolkit or wheels

    const char* (*get_error_string)(Result);
    Result (*version)(int* major, int* minor);
    Result (*get_num_supported_archs)(int* count);
    Result (*get_supported_archs)(int* architectures);
    Result (*create_program)(Program*, const char* source, const char* name, int header_count,
                             const char* const* headers, const char* const* header_names);
    Result (*destroy_program)(Program*);
    Result (*add_name_expression)(Program, const char*);
    Result (*compile_program)(Program, int option_count, const char* const* options);
    Result (*get_program_log_size)(Program, std::size_t*);
    Result (*get_program_log)(Program, char*);
    Result (*get_cubin_size)(Program, std::size_t*);
    Result (*get_cubin)(Program, char*);
    Result (*get_ptx_size)(Program, std::size_t*);
    Result (*get_ptx)(Program, char*);
    Result (*get_lowered_name)(Program, const char* name_expression, const char** lowered);
    // Null before NVRTC 12.8. Sets a function that the compiler calls now and then; the compilation ends if
    // the function returns 1.
    Result (*set_flow_callback)(Program, int (*callback)(void* payload, void* unused), void* payload);
};

// Loads NVRTC at the first call. Null if it is not found, with the places that were tried in *log. A failure
// is not remembered: the next call searches again.
const Library* library(std::string* log);

}  // namespace cuscope::cuda::nvrtc
