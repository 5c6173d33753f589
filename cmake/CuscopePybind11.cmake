# pybind11's headers, at a place that stays: pip brings them in another folder each time, and then all would be compiled
# again.

get_target_property(cuscope_pybind11_include pybind11::pybind11_headers INTERFACE_INCLUDE_DIRECTORIES)
file(GLOB_RECURSE cuscope_pybind11_headers RELATIVE "${cuscope_pybind11_include}" "${cuscope_pybind11_include}/pybind11/*.h")
foreach(header IN LISTS cuscope_pybind11_headers)
  configure_file("${cuscope_pybind11_include}/${header}" "${PROJECT_BINARY_DIR}/pybind11-headers/${header}" COPYONLY)
endforeach()
set_target_properties(
  pybind11::pybind11_headers
  PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_BINARY_DIR}/pybind11-headers"
             INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${PROJECT_BINARY_DIR}/pybind11-headers")
