// Compiles a file of cuda_kernels/ for the host runtime, as Module does, when the package is built:
//
//   compile_kernel SOURCE.cu RESULT.image
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "host/compiler/compiler.hpp"

namespace {

int compile(const std::filesystem::path& source, const std::filesystem::path& result) {
    std::ifstream stream(source, std::ios::binary);
    cuscope::CompileRequest request;
    request.source.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    if (!stream) {
        std::fprintf(stderr, "%s cannot be read\n", source.c_str());
        return 1;
    }
    request.file_name = source.filename().string();
    request.include_paths = {source.parent_path().string()};
    request.use_cache = false;
    cuscope::CompileResult compiled;
    const cuscope::Status status = cuscope::simt::compile(request, {}, &compiled);
    std::fputs(compiled.log.c_str(), stderr);
    if (status != cuscope::Status::success) {
        std::fprintf(stderr, "%s: %s\n", source.c_str(), cuscope::name(status));
        return 1;
    }
    std::ofstream output(result, std::ios::binary);
    output.write(compiled.image.data(), static_cast<std::streamsize>(compiled.image.size()));
    output.close();
    if (!output) {
        std::fprintf(stderr, "%s cannot be written\n", result.c_str());
        return 1;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: compile_kernel SOURCE.cu RESULT.image\n");
        return 2;
    }
    try {
        return compile(argv[1], argv[2]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
        return 1;
    }
}
