#pragma once
#include "cuscope_simt/numbers/bf16.h"
