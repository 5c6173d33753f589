#pragma once
#include "cuscope_simt/numbers/fp8.h"
