#pragma once
#include "cuscope_simt/groups/partitions.h"
// Its functions wait: the compiler driver looks for this.
namespace cuscope_simt {
class cuscope_uses_groups;
}
