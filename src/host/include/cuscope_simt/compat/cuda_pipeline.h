#pragma once
#include "cuscope_simt/cxx/primitives.h"
// Its functions wait, and other threads see what they do: the compiler driver looks for these.
namespace cuscope_simt {
class cuscope_uses_groups;
class cuscope_uses_atomics;
}  // namespace cuscope_simt
