# The kernels of cuda_kernels/ that are compiled when the package is built: by nvcc for GPUs, and by the kernel compiler of
# the host runtime for simulated devices. Both lie beside their source in the package: kernels/TOPIC/NAME.cu, .fatbin,
# .image. The other kernels are compiled when they are first used: most people use few of them, and compiling all takes
# longer than the rest of the build. CUSCOPE_PRECOMPILE compiles all.

file(GLOB cuscope_kernels CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/cuda_kernels"
     "${PROJECT_SOURCE_DIR}/cuda_kernels/*/*.cu")
file(GLOB cuscope_kernel_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cuda_kernels/*/*.cuh"
     "${PROJECT_SOURCE_DIR}/cuda_kernels/*/*.hpp")
list(FILTER cuscope_kernel_headers EXCLUDE REGEX "/plan\\.hpp$")  # the host's alone
file(GLOB_RECURSE cuscope_simt_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/host/include/*.h")

add_executable(cuscope_compile_kernel "${PROJECT_SOURCE_DIR}/tools/compile_kernel.cpp")
target_link_libraries(cuscope_compile_kernel PRIVATE cuscope_common ${cuscope_runtime} ${cuscope_host})

# A copy that changes only if the compiler does: one that was built again without a change makes nothing anew.
set(cuscope_kernel_compiler "${PROJECT_BINARY_DIR}/compile_kernel")
add_custom_command(
  OUTPUT "${cuscope_kernel_compiler}"
  COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:cuscope_compile_kernel> "${cuscope_kernel_compiler}"
  DEPENDS cuscope_compile_kernel
  VERBATIM)

set(cuscope_gencode "")
foreach(architecture IN LISTS CUSCOPE_KERNEL_ARCHITECTURES)
  list(APPEND cuscope_gencode -gencode "arch=compute_${architecture},code=sm_${architecture}")
endforeach()

# What every program uses: all else that simulated devices run natively goes through host/native.
set(cuscope_ahead_for_host "^(host|gather)/")
set(cuscope_ahead_for_gpus "^(gather|matmul|reduce_auto)/")  # ops/kernel_library.cpp loads them together
if(CUSCOPE_PRECOMPILE)
  set(cuscope_ahead_for_host "")
  set(cuscope_ahead_for_gpus "")
endif()

set(cuscope_compiled_kernels "")
foreach(kernel IN LISTS cuscope_kernels)
  set(source "${PROJECT_SOURCE_DIR}/cuda_kernels/${kernel}")
  string(REGEX REPLACE "\\.cu$" "" stem "${PROJECT_BINARY_DIR}/kernels/${kernel}")
  get_filename_component(folder "${stem}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  if(kernel MATCHES "${cuscope_ahead_for_host}")
    add_custom_command(
      OUTPUT "${stem}.image"
      COMMAND
        env "CUSCOPE_SIMT_INCLUDE=${PROJECT_SOURCE_DIR}/src/host/include"
        "CUSCOPE_CXX=${CMAKE_CXX_COMPILER}" CUSCOPE_COMPILE_TIMEOUT=none ASAN_OPTIONS=detect_leaks=0
        "${cuscope_kernel_compiler}" "${source}" "${stem}.image"
      DEPENDS "${cuscope_kernel_compiler}" "${source}" ${cuscope_kernel_headers} ${cuscope_simt_headers}
      COMMENT "Compiling ${kernel} for simulated devices"
      VERBATIM)
    list(APPEND cuscope_compiled_kernels "${stem}.image")
  endif()
  set(gencode "${cuscope_gencode}")
  if(kernel MATCHES "^matmul/1[01345]_")  # instructions of one architecture, which later ones lack
    set(gencode "")
    if("90" IN_LIST CUSCOPE_KERNEL_ARCHITECTURES)
      set(gencode -gencode "arch=compute_90a,code=sm_90a")
    endif()
  endif()
  # What only the host can run has no build for GPUs.
  if(gencode AND kernel MATCHES "${cuscope_ahead_for_gpus}" AND NOT kernel MATCHES "^host/")
    add_custom_command(
      OUTPUT "${stem}.fatbin"
      COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++20 -O3 -fatbin -compress-mode=size ${gencode} -o "${stem}.fatbin" "${source}"
      DEPENDS "${source}" ${cuscope_kernel_headers}
      COMMENT "Compiling ${kernel} for GPUs"
      VERBATIM)
    list(APPEND cuscope_compiled_kernels "${stem}.fatbin")
  endif()
endforeach()
add_custom_target(cuscope_kernels ALL DEPENDS ${cuscope_compiled_kernels})

install(DIRECTORY "${PROJECT_SOURCE_DIR}/cuda_kernels/" "${PROJECT_BINARY_DIR}/kernels/" DESTINATION cuscope/kernels)
