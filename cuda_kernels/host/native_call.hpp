// A function of the extension that a simulated device runs as a kernel. The kernel and src/ops include this
// file.
#pragma once

namespace cuscope::kernels {

struct NativeCall {
    using Function = void (*)(const void* operands, unsigned block, unsigned blocks);

    Function function = nullptr;
    alignas(16) unsigned char operands[480] = {};
};

}  // namespace cuscope::kernels
