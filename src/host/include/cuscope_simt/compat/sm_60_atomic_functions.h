// What it declares for kernels is built in.
#pragma once
#pragma GCC system_header
