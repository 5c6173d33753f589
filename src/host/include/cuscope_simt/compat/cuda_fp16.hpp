#pragma once
#include "cuscope_simt/numbers/fp16.h"
