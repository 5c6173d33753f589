// Finds a kernel's parameters from the type of its function, as a compiler spells it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/types.hpp"

namespace cuscope {

// Demangles "_Z7vec_addPKfS0_Pfi" or "PFvPKfS0_PfiE"; returns the input if it is not a mangled name.
std::string demangle(const char* mangled);

// The user's name of a demangled function: "vec_add" for "vec_add(float*, int)", "scale<float>" for "void
// scale<float>(float*)". Returns the input if it is not a function.
std::string function_name(std::string_view demangled);

// The parameters of a demangled function or function pointer type: "vec_add(float const*, float const*,
// float*, int)", "void scale<float>(float*, float)", "void (*)(float*, int)". Names are left empty.
//
// `size` is known for pointers, built-in scalars (__half and __nv_bfloat16 among them) and by-value vectors
// such as float4, which are opaque; otherwise it is 0. `element` is empty for a pointer to a type without a
// NumPy name: void, float4, other pointers, structs. A pointer to rows of an array ("float (*) [4]") becomes
// a pointer to the array's elements. A reference ("Pair&") becomes a pointer. A cudaGraphExec_t, a
// CUtensorMap, and a type that is not understood, is opaque.
std::vector<Parameter> parse_parameters(std::string_view demangled);

// The parameter names of every __global__ function in a source. Function names include the enclosing
// namespaces, but no template arguments. Comments, strings and preprocessor lines are skipped. The name of a
// parameter without a name is "". A declaration and its definition are one entry; overloads with different
// numbers of parameters are separate entries. No source makes this fail: text that is not understood is left
// out.
struct KernelNames {
    std::string name;  // with namespaces: "ns::vec_add"
    std::vector<std::string> parameters;
    bool is_template = false;
    bool is_extern_c = false;
};
std::vector<KernelNames> find_kernels(std::string_view source);

}  // namespace cuscope
