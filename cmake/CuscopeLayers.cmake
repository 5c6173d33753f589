# One object library for each folder of src/, and what all of them are compiled with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(cuscope_common INTERFACE)
target_include_directories(
  cuscope_common
  INTERFACE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/src/host/include"
            "${PROJECT_BINARY_DIR}/generated"
            "${PROJECT_SOURCE_DIR}")  # cuda_kernels/: what the host tells them
target_compile_options(
  cuscope_common INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow>"
                           # GCC 12 and 13 see overlaps in std::string that are not there (GCC bug 105651).
                           "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>"
                           "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${CUSCOPE_WERROR}>>:-Werror>")

if(CUSCOPE_SANITIZE STREQUAL "address")
  set(cuscope_sanitize_flags -fsanitize=address,undefined -fno-sanitize-recover=undefined)
elseif(CUSCOPE_SANITIZE STREQUAL "thread")
  set(cuscope_sanitize_flags -fsanitize=thread)
elseif(CUSCOPE_SANITIZE)
  message(FATAL_ERROR "CUSCOPE_SANITIZE=${CUSCOPE_SANITIZE}: it is address, thread or empty")
endif()
if(CUSCOPE_SANITIZE)
  target_compile_options(cuscope_common INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${cuscope_sanitize_flags};-O1;-g1;-fno-omit-frame-pointer>")
  target_link_options(cuscope_common INTERFACE ${cuscope_sanitize_flags})
  # Look-ups are checked in optimised builds, too: see src/host/runtime/lock.hpp.
  target_compile_definitions(cuscope_common INTERFACE CUSCOPE_SANITIZED CUSCOPE_CHECK_LOOKUPS)
endif()

function(cuscope_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/host/include/")
  add_library(cuscope_${name} OBJECT ${sources})
  target_link_libraries(cuscope_${name} PUBLIC cuscope_common Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(
    cuscope_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
