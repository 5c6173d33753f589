# Decides whether the runtime for real GPUs is built. It takes nvcc *and* the toolkit; either alone is worth nothing.
# Sets CUSCOPE_HAVE_CUDA and CUSCOPE_CUDA_REASON. No source of src/ is compiled by nvcc, so that CUDA is no language of
# this project: CMake would try its compiler for seconds.

set(cuscope_cuda_minimum 12.8)  # the first runtime with cudaLibrary*

string(TOUPPER "${CUSCOPE_CUDA}" cuscope_cuda_wish)
if(NOT cuscope_cuda_wish MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "CUSCOPE_CUDA=${CUSCOPE_CUDA}: it is AUTO, ON or OFF")
endif()

set(CUSCOPE_HAVE_CUDA FALSE)
set(CUSCOPE_CUDA_REASON "")

if(cuscope_cuda_wish STREQUAL "OFF")
  set(CUSCOPE_CUDA_REASON "CUSCOPE_CUDA=OFF")
else()
  # find_package(CUDAToolkit) looks on the PATH, in $CUDA_PATH and in /usr/local/cuda.
  if(NOT DEFINED CUDAToolkit_ROOT AND "$ENV{CUDAToolkit_ROOT}" STREQUAL "")
    if(NOT "$ENV{CUDACXX}" STREQUAL "")
      get_filename_component(CUDAToolkit_ROOT "$ENV{CUDACXX}/../.." ABSOLUTE)
    elseif(NOT "$ENV{CUDA_HOME}" STREQUAL "")
      set(CUDAToolkit_ROOT "$ENV{CUDA_HOME}")
    endif()
  endif()
  # The toolkit may have come, gone or moved since the last build in this build folder.
  if(NOT EXISTS "${CUDAToolkit_NVCC_EXECUTABLE}")
    get_cmake_property(cuscope_cached CACHE_VARIABLES)
    list(FILTER cuscope_cached INCLUDE REGEX "^(CUDAToolkit_.*|CUDA_CUDART)$")
    foreach(variable IN LISTS cuscope_cached)
      unset(${variable} CACHE)
    endforeach()
  endif()
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_NVCC_EXECUTABLE)
    set(CUSCOPE_CUDA_REASON "no nvcc on the PATH, in $CUDA_PATH, $CUDA_HOME or /usr/local/cuda")
  elseif(NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cudart_static)
    set(CUSCOPE_CUDA_REASON "${CUDAToolkit_NVCC_EXECUTABLE} is there, but not the toolkit's headers and libcudart_static.a")
  elseif(CUDAToolkit_VERSION VERSION_LESS cuscope_cuda_minimum)
    set(CUSCOPE_CUDA_REASON "CUDA ${CUDAToolkit_VERSION} is older than ${cuscope_cuda_minimum}")
  else()
    set(CUSCOPE_HAVE_CUDA TRUE)
    set(CUSCOPE_CUDA_REASON "CUDA ${CUDAToolkit_VERSION} with ${CUDAToolkit_NVCC_EXECUTABLE}")
  endif()
endif()

if(cuscope_cuda_wish STREQUAL "ON" AND NOT CUSCOPE_HAVE_CUDA)
  message(
    FATAL_ERROR
      "CUSCOPE_CUDA=ON, but ${CUSCOPE_CUDA_REASON}.\n"
      "Install the CUDA toolkit ${cuscope_cuda_minimum} or newer (https://developer.nvidia.com/cuda-downloads; it brings "
      "nvcc, the headers and libcudart_static.a), and put nvcc on the PATH or set CUDACXX=/path/to/nvcc. "
      "CUSCOPE_CUDA=OFF builds the simulated devices alone.")
endif()

# The compute capabilities that the package's kernels are compiled for: CMAKE_CUDA_ARCHITECTURES or $CUDAARCHS, "80;90"
# or "native". By default: the GPUs of this machine, or 75, 80 and 90 for a wheel (CUSCOPE_PRECOMPILE). For other GPUs
# NVRTC compiles kernels at their first use.
set(CUSCOPE_KERNEL_ARCHITECTURES "")
if(CUSCOPE_HAVE_CUDA)
  set(cuscope_architectures native)
  if(CUSCOPE_PRECOMPILE)
    set(cuscope_architectures 75 80 90)
  endif()
  if(DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(cuscope_architectures ${CMAKE_CUDA_ARCHITECTURES})
  elseif(NOT "$ENV{CUDAARCHS}" STREQUAL "")
    set(cuscope_architectures $ENV{CUDAARCHS})
  endif()
  foreach(architecture IN LISTS cuscope_architectures)
    if(architecture MATCHES "^([0-9]+)a?(-real)?$")
      list(APPEND CUSCOPE_KERNEL_ARCHITECTURES ${CMAKE_MATCH_1})
    elseif(architecture STREQUAL "native")
      set(found "")
      execute_process(
        COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE found
        ERROR_QUIET
        RESULT_VARIABLE status)
      if(status EQUAL 0)
        string(REGEX MATCHALL "[0-9]+\\.[0-9]" found "${found}")
        string(REPLACE "." "" found "${found}")
        list(APPEND CUSCOPE_KERNEL_ARCHITECTURES ${found})
      endif()
    else()
      message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES (or $CUDAARCHS) has \"${architecture}\": name compute capabilities, "
                          "such as \"80;90\", or \"native\" for the GPUs of this machine")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES CUSCOPE_KERNEL_ARCHITECTURES)
  list(SORT CUSCOPE_KERNEL_ARCHITECTURES COMPARE NATURAL)
endif()

if(CUSCOPE_HAVE_CUDA)
  message(STATUS "CUDA runtime: built (CUSCOPE_CUDA=${cuscope_cuda_wish}): ${CUSCOPE_CUDA_REASON}; "
                 "kernels compiled for: ${CUSCOPE_KERNEL_ARCHITECTURES}")
else()
  message(STATUS "CUDA runtime: left out (CUSCOPE_CUDA=${cuscope_cuda_wish}): ${CUSCOPE_CUDA_REASON}")
endif()
