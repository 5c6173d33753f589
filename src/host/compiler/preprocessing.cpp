#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "host/compiler/compilation.hpp"
#include "host/compiler/diagnostics.hpp"
#include "host/compiler/header_parts.hpp"
#include "host/compiler/include_dir.hpp"
#include "host/compiler/letters.hpp"
#include "host/compiler/prelude.hpp"
#include "host/compiler/registration.hpp"
#include "runtime/compile/cache.hpp"
#include "runtime/compile/device_part.hpp"
#include "runtime/compile/host_headers.hpp"
#include "runtime/compile/linkage.hpp"

namespace cuscope::simt {
namespace {

// Can a source of this name lie in the compilation's directory, so that the compiler finds its lines?
bool is_inside(const std::string& name) {
    const std::filesystem::path path(name);
    return !name.empty() && name[0] != '-' && name.find_first_of("\"\\\n\r") == std::string::npos &&
           path.is_relative() && path.has_filename() && path.filename() != "." &&
           std::find(path.begin(), path.end(), "..") == path.end();
}

// Does an alignas(...) follow a __shared__? CUDA C++ allows it there, C++ does not.
bool aligns_shared(const std::string& source) {
    for (std::size_t at = source.find("__shared__"); at != std::string::npos;
         at = source.find("__shared__", at + 1))
        if (source.find("alignas", at) < source.find(';', at)) return true;
    return false;
}

// "kernel.cu:12:", the place of the first error in a log; empty if the log has none.
std::string first_error_place(const std::string& log) {
    const std::size_t error = log.find(": error: ");
    if (error == std::string::npos) return "";
    const std::size_t begin = log.rfind('\n', error) + 1;
    const std::size_t column = log.rfind(':', error - 1);
    return column == std::string::npos || column < begin ? "" : log.substr(begin, column + 1 - begin);
}

}  // namespace

Status Compilation::prepare() {
    remove_abandoned_directories();
    directory_ = std::make_unique<TemporaryDirectory>();
    if (directory_->path().empty())
        return fail(Status::operating_system, "no temporary directory could be made (set TMPDIR)");
    watcher_ = std::make_unique<Watcher>(directory_->path());
    source_directory_ = directory_->path() + "/source";
    for (const auto& [name, text] : request_.headers) {
        if (!is_inside(name))
            return fail(Status::invalid_value,
                        "header name '" + name + "': only relative names without '..' are allowed");
        if (!write_file(source_directory_ + "/" + name, text))
            return fail(Status::operating_system, "cannot write the header '" + name + "'");
    }
    // These are more than a hundred files. A source without #include does not need them.
    if (includes_ && (!write_files(directory_->path() + library_folder, host_library_headers()) ||
                      !write_files(directory_->path() + missing_folder, missing_host_headers())))
        return fail(Status::operating_system, "cannot write to " + directory_->path());
    // If the name can be used, the file gets it: then the compiler shows its lines. Else #line gives the
    // name.
    std::string text = with_space_behind_linkage(request_.source);
    source_name_ = request_.file_name;
    std::error_code error;
    if (!is_inside(source_name_) ||
        std::filesystem::exists(std::filesystem::path(source_directory_) / source_name_, error)) {
        source_name_ = "cuscope_source.cu";
        text = "#line 1 " + quoted(request_.file_name) + "\n" + text;
    }
    if (!write_file(source_directory_ + "/" + source_name_, text))
        return fail(Status::operating_system, "cannot write to " + source_directory_);
    return Status::success;
}

std::vector<std::string> Compilation::language() const {
    const std::string architecture =
        std::to_string(target_.compute_capability_major * 100 + target_.compute_capability_minor * 10);
    std::vector<std::string> arguments{compiler_.path, options_.standard, "-x", "c++"};
    for (const char* definition : {"-D__CUDACC__=1", "-D__CUDACC_RTC__=1", "-D__CUDACC_VER_MAJOR__=13",
                                   "-D__CUDACC_VER_MINOR__=0", "-D__CUSCOPE_HOST__=1"})
        arguments.push_back(definition);
    arguments.push_back("-D__CUDA_ARCH__=" + architecture);
    if (request_.kind != ImageKind::plain) arguments.push_back("-DCUSCOPE_COUNTED");
    if (request_.kind == ImageKind::timing) arguments.push_back("-DCUSCOPE_TIMED");
    if (request_.kind == ImageKind::checking) arguments.push_back("-DCUSCOPE_CHECKED");
    arguments.insert(arguments.end(), {"-include", "cuscope_simt/cuda.h"});
    return arguments;
}

std::vector<std::string> Compilation::command(bool diagnose) const {
    std::vector<std::string> arguments = language();
    if (diagnose) arguments.push_back("-DCUSCOPE_DIAGNOSE");
    if (!includes_ && options_.preprocessor.empty()) {
        for (std::string& option : options_without_unused_parts(request_.source, request_.name_expressions))
            arguments.push_back(std::move(option));
    }
    arguments.push_back("-I" + headers_ + "/cuscope_simt/compat");
    arguments.push_back(std::string("-I..") + library_folder);
    arguments.insert(arguments.end(), options_.preprocessor.begin(), options_.preprocessor.end());
    for (const std::string& path : request_.include_paths) {
        std::error_code error;
        arguments.push_back("-I" + std::filesystem::absolute(path, error).string());
    }
    if (const std::filesystem::path path(request_.file_name); path.is_absolute())
        arguments.insert(arguments.end(), {"-iquote", path.parent_path().string()});
    arguments.insert(arguments.end(), {"-I.", "-isystem", headers_});
    // The headers that stand in for the toolkit's come first.
    const Toolkit toolkit = find_toolkit();
    if (!toolkit.standard_library.empty())
        arguments.insert(arguments.end(), {"-isystem", toolkit.standard_library});
    arguments.insert(arguments.end(), {"-idirafter", std::string("..") + missing_folder});
    if (!toolkit.curand_kernel.empty())
        arguments.push_back("-DCUSCOPE_CURAND_KERNEL=\"" + toolkit.curand_kernel + "\"");
    if (!options_.warnings) arguments.push_back("-w");
    for (const std::string& flag : compiler_flags(compiler_)) arguments.push_back(flag);
    return arguments;
}

Status Compilation::unfinished(const CommandResult& answer) {
    switch (answer.end) {
        case CommandResult::End::interrupted:
            return Status::not_ready;
        case CommandResult::End::timed_out:
            return fail(Status::timeout, limit_.message(compiler_.path, "was stopped"));
        case CommandResult::End::not_started:
            return fail(Status::jit_compiler_not_found, answer.output);
        case CommandResult::End::exited:
            break;
    }
    return Status::success;
}

Status Compilation::preprocess(std::string* text) {
    const auto is_printed = [](char c) { return static_cast<unsigned char>(c) >= ' '; };
    if (!includes_ && options_.preprocessor.empty() &&
        std::all_of(request_.file_name.begin(), request_.file_name.end(), is_printed) &&
        needs_no_directive(request_.source)) {
        if (const Status status = append_to_prelude(text); status != Status::success) return status;
    }
    if (text->empty()) {
        const std::string output = directory_->path() + "/preprocessed.ii";
        std::vector<std::string> arguments = command(false);
        arguments.insert(arguments.end(), {"-E", source_name_, "-o", output});
        const CommandResult answer = execute(arguments);
        if (const Status status = unfinished(answer); status != Status::success) return status;
        if (!answer.ok() || !read_file(output, text))
            return fail(Status::invalid_source, clean_log(answer.output, headers_));
        log_ = clean_log(answer.output, headers_);
    }
    *text = with_letters(without_unused_parts(*text, request_.name_expressions));
    return Status::success;
}

Status Compilation::append_to_prelude(std::string* text) {
    std::vector<std::string> arguments = language();
    arguments.insert(arguments.end(), {"-I" + headers_ + "/cuscope_simt/compat", "-isystem", headers_, "-w"});
    for (const std::string& flag : compiler_flags(compiler_)) arguments.push_back(flag);
    std::string key = "prelude 1\n" + headers_digest(headers_) + "\n" + compiler_.version;
    for (const std::string& argument : arguments) key.append("\n").append(argument);
    // These folders come before the system's.
    for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"})
        if (const char* folders = std::getenv(variable)) key.append("\n").append(folders);
    Status status = Status::success;
    const auto make = [&]() -> std::optional<Prelude> {
        if (const auto kept = request_.use_cache ? cache_load(key) : std::nullopt;
            kept && kept->log == origin_of(kept->image))
            return read_prelude(kept->image);
        const std::string output = directory_->path() + "/prelude.ii";
        if (!write_file(directory_->path() + "/" + std::string(prelude_name), "")) return std::nullopt;
        arguments.insert(arguments.end(), {"-E", "-dD", "../" + std::string(prelude_name), "-o", output});
        const CommandResult answer = execute(arguments);
        status = unfinished(answer);
        CompileResult made;
        if (status != Status::success || !answer.ok() || !read_file(output, &made.image)) return std::nullopt;
        made.log = origin_of(made.image);  // a prelude has no log
        if (request_.use_cache) cache_store(key, made);
        return read_prelude(made.image);
    };
    const std::shared_ptr<const Prelude> prelude = find_prelude(key, make);
    if (prelude == nullptr) return status;
    const std::string source = with_space_behind_linkage(request_.source);
    if (const auto behind = preprocessed_behind(*prelude, source, request_.file_name))
        *text = prelude->of_file(source_name_) + "# 1 " + quoted(request_.file_name) + "\n" + *behind;
    return Status::success;
}

// The user's own text gives the best error messages, so it is compiled by itself. If it has no error, the
// error is in a name expression.
Status Compilation::diagnose(const std::string& registration, const std::string& log) {
    std::vector<std::string> arguments = command(true);
    if (aligns_shared(request_.source)) arguments.push_back("-DCUSCOPE_NO_ALIGNAS");
    arguments.insert(arguments.end(), {"-fsyntax-only", source_name_});
    // Host code is left out: the compiler of kernels does not know the host's functions.
    if (std::string text; read_file(source_directory_ + "/" + source_name_, &text))
        write_file(source_directory_ + "/" + source_name_,
                   device_part({text}, request_.name_expressions, HostCode::keep_called).texts[0]);
    CommandResult answer = execute(arguments);
    if (const Status status = unfinished(answer); status != Status::success) return status;
    if (answer.ok()) {
        const std::string whole = "cuscope_registered.cu";
        std::string text;
        if (read_file(source_directory_ + "/" + source_name_, &text)) {
            const std::string marker = "#line 1 \"" + source_name_ + "\"\n";
            write_file(source_directory_ + "/" + whole, marker + text + registration);
            arguments.back() = whole;
            answer = execute(arguments);
            if (const Status status = unfinished(answer); status != Status::success) return status;
        }
    }
    // Headers still contain their host code. An error that appears only there does not count.
    const std::string place = first_error_place(answer.output);
    const bool known = place.find(source_name_) != std::string::npos ||
                       place.find(request_.file_name) != std::string::npos ||
                       log.find(place) != std::string::npos;
    return fail(Status::invalid_source, clean_log(answer.ok() || !known ? log : answer.output, headers_));
}

}  // namespace cuscope::simt
