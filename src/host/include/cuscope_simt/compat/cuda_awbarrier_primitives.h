#pragma once
#include "cuscope_simt/cxx/primitives.h"
// Marks for the compiler driver: the functions of this header may wait, and other threads see their stores.
namespace cuscope_simt {
class cuscope_uses_groups;
class cuscope_uses_atomics;
}  // namespace cuscope_simt
