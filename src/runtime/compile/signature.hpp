// What a kernel's parameters are, read off the type that a compiler gives its function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/types.hpp"

namespace cuscope {

// Demangles "_Z7vec_addPKfS0_Pfi" or "PFvPKfS0_PfiE"; the input itself where it is no mangled name.
std::string demangle(const char* mangled);

// The name that a demangled function has for its user: "vec_add" of "vec_add(float*, int)", "scale<float>" of
// "void scale<float>(float*)". The input itself where it is no function's.
std::string function_name(std::string_view demangled);

// Parameters of a demangled function or function pointer type: "vec_add(float const*, float const*, float*,
// int)", "void scale<float>(float*, float)", "void (*)(float*, int)". Names are left empty. `size` is known
// for pointers, built-in scalars (__half and __nv_bfloat16 among them) and by-value vectors such as float4,
// which are opaque; 0 otherwise. `element` is empty for pointers to what NumPy has no name for: void, float4,
// other pointers, structs. A pointer to rows of an array ("float (*) [4]") is a pointer to its elements; a
// reference ("Pair&") is a pointer to what it names. A cudaGraphExec_t, and what is not understood, is
// opaque.
std::vector<Parameter> parse_parameters(std::string_view demangled);

// Parameter names of every __global__ function in a source, with the namespaces that enclose it but without
// template arguments. Comments, strings and preprocessor lines are skipped; a parameter without a name gives
// "". A declaration and its definition are one entry; overloads that differ in their count of parameters are
// several. Nothing that is in the source can make this fail: what is not understood is left out.
struct KernelNames {
    std::string name;  // with its namespaces: "ns::vec_add"
    std::vector<std::string> parameters;
    bool is_template = false;
    bool is_extern_c = false;
};
std::vector<KernelNames> find_kernels(std::string_view source);

}  // namespace cuscope
