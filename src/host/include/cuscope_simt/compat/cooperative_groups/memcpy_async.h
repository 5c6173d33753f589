#pragma once
#include "cuscope_simt/groups/memcpy_async.h"
// A mark for the compiler driver: the functions of this header may wait.
namespace cuscope_simt {
class cuscope_uses_groups;
}
