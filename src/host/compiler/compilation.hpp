// One compilation of CUDA C++ for this machine's CPU, in a directory of its own. compiler.cpp has the way
// from the request to the result, preprocessing.cpp the part that ends with the preprocessed source.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/compiler/compiler.hpp"
#include "host/compiler/host_compiler.hpp"
#include "host/compiler/options.hpp"
#include "host/compiler/rewrite.hpp"
#include "host/compiler/run_command.hpp"
#include "host/compiler/temporary_directory.hpp"
#include "host/compiler/watcher.hpp"
#include "runtime/compile/limit.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::simt {

// Folders in the directory of a compilation. They hold headers that stand in for the headers of host
// libraries. The compiler gets their names relative to the folder of the source, because the key in the cache
// is made from the preprocessed source, which names all included files.
inline constexpr const char* library_folder = "/libraries";
inline constexpr const char* missing_folder = "/missing";

class Compilation {
  public:
    Compilation(const CompileRequest& request, const Target& target, HostOptions options,
                HostCompiler compiler, std::string headers, const CompileLimit& limit)
        : request_(request),
          target_(target),
          options_(std::move(options)),
          compiler_(std::move(compiler)),
          headers_(std::move(headers)),
          limit_(limit),
          includes_(request.source.find("include") != std::string::npos ||
                    std::find(options_.preprocessor.begin(), options_.preprocessor.end(), "-include") !=
                        options_.preprocessor.end()) {}

    Status run(CompileResult* result);

  private:
    // The options and tools that decide the result, without the source and its headers.
    std::string key() const;
    Status prepare();
    Status preprocess(std::string* text);
    // Leaves `text` empty if the source uses a macro, or if there is no prelude.
    Status append_to_prelude(std::string* text);
    Status build(const Rewritten& rewritten, const std::vector<std::string>& instances, std::string* image);
    Status build_hooks(std::string* object);
    Status build_part(const std::string& preprocessed, std::string* image);
    Status diagnose(const std::string& registration, const std::string& log);
    Status finish(const std::string& image, CompileResult* result) const;

    // The arguments that bring the language's header, then all that the preprocessor gets.
    std::vector<std::string> language() const;
    std::vector<std::string> command(bool diagnose) const;
    CommandResult execute(const std::vector<std::string>& arguments) const {
        return run_command(arguments, source_directory_, *watcher_, limit_);
    }
    // The status of a command that was interrupted, timed out or could not start.
    Status unfinished(const CommandResult& answer);
    Status fail(Status status, std::string log) {
        log_ = std::move(log);
        return status;
    }

    const CompileRequest& request_;
    const Target& target_;
    HostOptions options_;
    HostCompiler compiler_;
    std::string headers_;
    CompileLimit limit_;
    bool includes_;                     // may the source include a header?
    std::unique_ptr<Watcher> watcher_;  // destroyed after the directory
    std::unique_ptr<TemporaryDirectory> directory_;
    std::string source_directory_;  // only the user's source and headers
    std::string source_name_;       // relative to source_directory_
    std::string log_;
    bool lacks_functions_ = false;  // in the last build: the linker found calls of undefined functions
};

}  // namespace cuscope::simt
