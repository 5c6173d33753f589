# One object library for each folder of src/, and what all of them are compiled with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
option(CMAKE_UNITY_BUILD "Compile the sources of a folder together" ON)

add_library(cuscope_common INTERFACE)
target_include_directories(
  cuscope_common
  INTERFACE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/src/host/include"
            "${PROJECT_BINARY_DIR}/generated"
            "${PROJECT_SOURCE_DIR}")  # cuda_kernels/: what the host tells them
target_compile_options(
  cuscope_common INTERFACE # pip shows warnings to nobody, and compiles a twentieth faster without them.
                           "$<$<OR:$<NOT:$<BOOL:${CMAKE_UNITY_BUILD}>>,$<BOOL:${CUSCOPE_WERROR}>>:-Wall;-Wextra>"
                           # In a batch, clang takes a name in a neighbour's unnamed namespace for shadowed.
                           "$<$<NOT:$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wshadow>"
                           # GCC 12 and 13 see mistakes in std::string and std::unique_lock that are not there (GCC bug
                           # 105651 is one of them).
                           "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-maybe-uninitialized>"
                           "$<$<BOOL:${CUSCOPE_WERROR}>:-Werror>"
                           # GCC collects garbage often by default: a tenth of the time of a batch.
                           "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-expand=400 --param ggc-min-heapsize=262144>")

if(CUSCOPE_SANITIZE STREQUAL "address")
  set(cuscope_sanitize_flags -fsanitize=address,undefined -fno-sanitize-recover=undefined)
elseif(CUSCOPE_SANITIZE STREQUAL "thread")
  set(cuscope_sanitize_flags -fsanitize=thread)
elseif(CUSCOPE_SANITIZE)
  message(FATAL_ERROR "CUSCOPE_SANITIZE=${CUSCOPE_SANITIZE}: it is address, thread or empty")
endif()
if(CUSCOPE_SANITIZE)
  # Without optimisation, instrumented code compiles in less than half of the time. Targets with the property convert
  # arguments, hand calls on, or take longer to optimise than they save in the tests. The simulation is optimised.
  target_compile_options(
    cuscope_common INTERFACE ${cuscope_sanitize_flags} $<IF:$<BOOL:$<TARGET_PROPERTY:CUSCOPE_UNOPTIMISED>>,-O0,-O1> -g1
                             -fno-omit-frame-pointer)
  target_link_options(cuscope_common INTERFACE ${cuscope_sanitize_flags})
  # Look-ups are checked in optimised builds, too: see src/host/runtime/lock.hpp.
  target_compile_definitions(cuscope_common INTERFACE CUSCOPE_SANITIZED CUSCOPE_CHECK_LOOKUPS)
endif()

# Sources of one folder are compiled together: most of a source's time goes to headers that its neighbours include, too.
# A name in an unnamed namespace is therefore used once in a batch. -DCMAKE_UNITY_BUILD=OFF compiles each source alone.
#
# cuscope_batches(target [folders...]): a batch takes at most sixteen sources of one folder, so that adding a file changes
# the batches of its folder alone. Each further argument is one batch of whole folders, with commas between them.
function(cuscope_batches target)
  get_target_property(sources ${target} SOURCES)
  list(SORT sources)
  set(last "")
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    if(NOT folder STREQUAL last)
      set(last "${folder}")
      set(number 0)
    endif()
    math(EXPR batch "${number} / 16")
    math(EXPR number "${number} + 1")
    file(RELATIVE_PATH group "${PROJECT_SOURCE_DIR}/src" "${folder}")
    set(name "${group}_${batch}")
    foreach(folders IN LISTS ARGN)
      if(",${folders}," MATCHES ",${group},")
        set(name "${folders}")
      endif()
    endforeach()
    string(REGEX REPLACE "[/,]" "_" name "${name}")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${name}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# Optimises a target of a release build in place of CMake's -O3.
function(cuscope_optimise target level)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:${level}>")
endfunction()

# The first layer precompiles the headers that nearly all sources include; the others, compiled alike, take them from there.
# A build of single sources has none: in it, ccache would have to look at each of these headers.
function(cuscope_precompile target)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  get_target_property(unoptimised ${target} CUSCOPE_UNOPTIMISED)
  set(first CUSCOPE_PRECOMPILES_${unoptimised})
  get_property(owner GLOBAL PROPERTY ${first})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    set_property(GLOBAL PROPERTY ${first} ${target})
    target_precompile_headers(
      ${target} PRIVATE <algorithm> <atomic> <chrono> <condition_variable> <functional> <map> <memory> <mutex> <optional>
                        <span> <string> <unordered_map> <variant> <vector> "runtime/runtime.hpp")
  endif()
endfunction()

# An object library of some sources of a layer; it joins the list of the layer's targets.
function(cuscope_layer_target target level unoptimised)
  add_library(${target} OBJECT ${ARGN})
  target_link_libraries(${target} PUBLIC cuscope_common Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(
    ${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CUSCOPE_UNOPTIMISED ${unoptimised})
  cuscope_optimise(${target} ${level})
  cuscope_batches(${target})
  cuscope_precompile(${target})
endfunction()

# cuscope_layer(name level [folders...]): the object library of src/name. Under the address sanitizer, the folders get an
# object library of their own, which is not optimised. The variable cuscope_name has the libraries.
function(cuscope_layer name level)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/host/include/")
  set(targets cuscope_${name})
  if(ARGN AND CUSCOPE_SANITIZE STREQUAL "address")
    string(REPLACE ";" "|" folders "${ARGN}")
    set(unoptimised ${sources})
    list(FILTER unoptimised INCLUDE REGEX "/src/${name}/(${folders})/")
    list(REMOVE_ITEM sources ${unoptimised})
    list(APPEND targets cuscope_${name}_unoptimised)
    cuscope_layer_target(cuscope_${name}_unoptimised ${level} ON ${unoptimised})
  endif()
  cuscope_layer_target(cuscope_${name} ${level} OFF ${sources})
  set(cuscope_${name} ${targets} PARENT_SCOPE)
endfunction()
