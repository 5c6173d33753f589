// Empty: the declarations for kernels are built in.
#pragma once
#pragma GCC system_header
