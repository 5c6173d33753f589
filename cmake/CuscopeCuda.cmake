# Decides whether the runtime for real GPUs is built. It takes nvcc *and* the toolkit; either alone is worth nothing.
# Sets CUSCOPE_HAVE_CUDA and CUSCOPE_CUDA_REASON, and enables the CUDA language.

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
  # check_language() looks on the PATH only.
  if(NOT CMAKE_CUDA_COMPILER AND "$ENV{CUDACXX}" STREQUAL "")
    find_program(
      CUSCOPE_NVCC nvcc
      HINTS ENV CUDA_PATH ENV CUDA_HOME ENV CUDAToolkit_ROOT
      PATHS /usr/local/cuda
      PATH_SUFFIXES bin)
    if(CUSCOPE_NVCC)
      set(ENV{CUDACXX} "${CUSCOPE_NVCC}")
    endif()
    unset(CUSCOPE_NVCC CACHE)  # what is installed may change between builds in one build folder
  endif()
  # nvcc's own default is the oldest device it knows. Only if nobody chose, and before the language is enabled.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND "$ENV{CUDAARCHS}" STREQUAL "")
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90a-real)
  endif()
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER)
    unset(CMAKE_CUDA_COMPILER CACHE)
  endif()
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    if("$ENV{CUDACXX}" STREQUAL "")
      set(CUSCOPE_CUDA_REASON "no nvcc on the PATH, in $CUDA_PATH, $CUDA_HOME or /usr/local/cuda")
    else()
      set(CUSCOPE_CUDA_REASON "$ENV{CUDACXX} does not compile (see CMakeConfigureLog.yaml in the build folder)")
    endif()
  else()
    find_package(CUDAToolkit QUIET)
    if(NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cudart_static)
      set(CUSCOPE_CUDA_REASON "${CMAKE_CUDA_COMPILER} is there, but not the toolkit's headers and libcudart_static.a")
    elseif(CUDAToolkit_VERSION VERSION_LESS cuscope_cuda_minimum)
      set(CUSCOPE_CUDA_REASON "CUDA ${CUDAToolkit_VERSION} is older than ${cuscope_cuda_minimum}")
    else()
      enable_language(CUDA)
      set(CUSCOPE_HAVE_CUDA TRUE)
      set(CUSCOPE_CUDA_REASON "CUDA ${CUDAToolkit_VERSION} with ${CMAKE_CUDA_COMPILER}")
    endif()
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
if(CUSCOPE_HAVE_CUDA)
  message(STATUS "CUDA runtime: built (CUSCOPE_CUDA=${cuscope_cuda_wish}): ${CUSCOPE_CUDA_REASON}")
else()
  message(STATUS "CUDA runtime: left out (CUSCOPE_CUDA=${cuscope_cuda_wish}): ${CUSCOPE_CUDA_REASON}")
endif()
