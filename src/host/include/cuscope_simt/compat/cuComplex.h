#pragma once
#include "cuscope_simt/numbers/complex.h"
