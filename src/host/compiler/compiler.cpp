#include "host/compiler/compiler.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/compiler/compilation.hpp"
#include "host/compiler/diagnostics.hpp"
#include "host/compiler/file_names.hpp"
#include "host/compiler/include_dir.hpp"
#include "host/compiler/interleaving.hpp"
#include "host/compiler/registration.hpp"
#include "host/compiler/source_lines.hpp"
#include "host/compiler/unrolling.hpp"
#include "host/compiler/unused_functions.hpp"
#include "host/counting/block_costs.hpp"
#include "host/counting/inline_hooks.hpp"
#include "host/executor/image.hpp"
#include "runtime/compile/cache.hpp"
#include "runtime/compile/claim.hpp"
#include "runtime/compile/device_part.hpp"
#include "runtime/compile/sha256.hpp"
#include "runtime/compile/signature.hpp"

namespace cuscope::simt {
namespace {

// Limit on the parameters of a kernel, all together.
constexpr unsigned most_parameter_bytes = 32764;

KernelDescription describe(const cuscope_simt::KernelEntry& entry) {
    KernelDescription description;
    description.name = entry.name;
    description.lowered = entry.lowered;
    description.parameters = parse_parameters(demangle(entry.signature));
    std::string_view names = entry.parameter_names;
    for (unsigned i = 0; i < entry.parameter_count && i < description.parameters.size(); ++i) {
        const std::size_t comma = std::min(names.find(','), names.size());
        description.parameters[i].name = names.substr(0, comma);
        names.remove_prefix(std::min(comma + 1, names.size()));
        description.parameters[i].size = entry.parameters[i].size;
    }
    return description;
}

}  // namespace

std::string Compilation::key() const {
    // Increase the number when the same request gives another result.
    std::string key = "host image 10, interface " + std::to_string(cuscope_simt::abi_version) + "\n" +
                      headers_digest(headers_) + "\n" + compiler_.path + "\n" + compiler_.version + "\n" +
                      std::to_string(target_.compute_capability_major) + "." +
                      std::to_string(target_.compute_capability_minor) + "\n";
    const auto add = [&key](std::string_view what, std::string_view text) {
        key += std::string(what) + " " + std::to_string(text.size()) + " " + std::string(text) + "\n";
    };
    add("file", request_.file_name);
    for (const std::string& flag : compiler_flags(compiler_)) add("flag", flag);
    for (const std::string& flag : line_flags(compiler_)) add("flag", flag);
    for (const std::string& flag : link_flags(true)) add("flag", flag);
    for (const std::string& flag : image_flags(compiler_, request_.kind, options_.device_debug))
        add("flag of the kind", flag);
    add("flag", options_.standard);
    for (const std::string& option : options_.preprocessor) add("option", option);
    add("warnings", options_.warnings ? "1" : "0");
    add("only", request_.only);
    for (const std::string& expression : request_.name_expressions) add("expression", expression);
    return key;
}

// Compiles the functions that instrumented code calls. They are the same for all kernels, so they are kept.
Status Compilation::build_hooks(std::string* object) {
    *object = directory_->path() + "/hooks.o";
    std::vector<std::string> arguments{compiler_.path, "-std=c++17", "-DCUSCOPE_COUNTED", "-I" + headers_};
    for (const std::string& flag : compiler_flags(compiler_)) arguments.push_back(flag);
    // They run at each access of a kernel, and the kernel's own code has checked the address by then.
    arguments.push_back("-fno-sanitize=alignment");
    // The hooks take the place of memcpy and memmove, and call mempcpy and bcopy of the C library. Clang
    // would turn these calls back into calls of memcpy and memmove, which would then call themselves for
    // ever.
    const bool checks = request_.kind == ImageKind::checking;
    if (checks) arguments.insert(arguments.end(), {"-DCUSCOPE_CHECKED", "-fno-builtin"});
    const char* const hooks_source =
        checks ? "/cuscope_simt/checking/hooks.cpp" : "/cuscope_simt/counting/hooks.cpp";
    arguments.insert(arguments.end(), {"-c", headers_ + hooks_source, "-o"});
    std::string hooks_key = headers_digest(headers_);
    for (const std::string& word : arguments) hooks_key.append("\n").append(word);
    hooks_key.append("\n").append(compiler_.version);
    if (const std::optional<CompileResult> kept = request_.use_cache ? cache_load(hooks_key) : std::nullopt;
        kept && write_file(*object, kept->image))
        return Status::success;
    arguments.push_back(*object);
    const CommandResult answer = execute(arguments);
    if (const Status status = unfinished(answer); status != Status::success) return status;
    if (!answer.ok()) return fail(Status::invalid_source, answer.output);
    if (CompileResult hooks; request_.use_cache && read_file(*object, &hooks.image))
        cache_store(hooks_key, hooks);
    return Status::success;
}

Status Compilation::build(const Rewritten& rewritten, const std::vector<std::string>& instances,
                          std::string* image) {
    std::vector<Registration> kernels =
        registrations(rewritten, request_.name_expressions, instances, request_.only);
    std::string hooks;
    unsigned flags = rewritten.flags;
    const bool checks = request_.kind == ImageKind::checking;
    const bool counts = request_.kind == ImageKind::counting || request_.kind == ImageKind::timing;
    if (checks || counts) {
        flags |= checks ? cuscope_simt::checks_accesses : cuscope_simt::counts_accesses;
        if (const Status status = build_hooks(&hooks); status != Status::success) return status;
    }
    // When accesses are counted, a thread may have to wait for other threads to catch up.
    const bool waits = rewritten.waits || counts;
    const std::vector<std::string> file_names =
        file_name_flags(rewritten.text, {directory_->path(), std::string("..") + library_folder, headers_});
    const std::string input = directory_->path() + "/image.ii", output = directory_->path() + "/image.so";
    std::string source = rewritten.text;
    if (compiler_.is_clang) {
        source = with_clang_unrolling(source);
    } else if (request_.kind == ImageKind::timing) {
        source = with_gcc_unrolling(source);
    }
    const std::vector<LoopLines> loops =
        request_.kind == ImageKind::timing ? interleaved_loops(rewritten.text) : std::vector<LoopLines>();
    const bool unrolled = !compiler_.is_clang && source != rewritten.text;
    // <iostream> constructs its streams in every file that includes it.
    bool with_standard_library = rewritten.text.find("ios_base") != std::string::npos;
    for (;;) {
        const std::string registration = registration_code(kernels, rewritten.globals, flags, waits);
        if (!write_file(input, without_unused_functions(source + registration, headers_)))
            return fail(Status::operating_system, "cannot write to " + directory_->path());
        std::vector<std::string> arguments{compiler_.path, options_.standard, "-x", "c++-cpp-output"};
        if (!options_.warnings) arguments.push_back("-w");
        for (const std::string& flag : compiler_flags(compiler_)) arguments.push_back(flag);
        for (const std::string& flag : line_flags(compiler_)) arguments.push_back(flag);
        arguments.insert(arguments.end(), file_names.begin(), file_names.end());
        for (const std::string& flag : image_flags(compiler_, request_.kind, options_.device_debug))
            arguments.push_back(flag);
        // Where the source says which loops to unroll, -O3 would unroll others around them, too: many times
        // the code, and no better times.
        if (unrolled) arguments.emplace_back("-O2");
        CommandResult answer;
        if (counts) {
            // The assembly is changed before it is assembled, by a second command.
            const std::string assembly = directory_->path() + "/image.s";
            arguments.insert(arguments.end(), {"-S", input, "-o", assembly});
            answer = execute(arguments);
            if (const Status status = unfinished(answer); status != Status::success) return status;
            std::string text;
            if (answer.ok() && read_file(assembly, &text)) {
                text = with_block_costs(text, loops);
                if (request_.kind == ImageKind::counting) text = with_inline_hooks(text, !compiler_.is_clang);
                write_file(assembly, text);
                arguments = {compiler_.path, assembly, hooks, "-o", output};
                // Clang's assembler would write line tables of a newer version.
                if (compiler_.is_clang) arguments.emplace_back("-gdwarf-4");
            }
        } else {
            arguments.insert(arguments.end(), {input, "-x", "none", "-o", output});
            if (!hooks.empty()) arguments.push_back(hooks);
        }
        if (!counts || answer.ok()) {
            const std::string warnings = std::move(answer.output);
            for (const std::string& flag : link_flags(with_standard_library)) arguments.push_back(flag);
            answer = execute(arguments);
            answer.output.insert(0, warnings);
        }
        if (const Status status = unfinished(answer); status != Status::success) return status;
        if (answer.ok()) {
            log_ += clean_log(answer.output, headers_);
            break;
        }
        // The words of GNU ld and gold, and of lld.
        lacks_functions_ = answer.output.find("undefined reference to ") != std::string::npos ||
                           answer.output.find("undefined symbol: ") != std::string::npos;
        if (lacks_functions_ && !with_standard_library) {
            with_standard_library = true;
            continue;
        }
        // A kernel that was found in the source may share its name with another function (exp); then it is
        // named by its type as well. A kernel that cannot be named even so is left out.
        const RegistrationErrors errors = registration_errors(answer.output);
        bool changed = false;
        for (std::size_t i = kernels.size(); errors.only && i-- > 0;) {
            const bool wrong = std::find(errors.kernels.begin(), errors.kernels.end(), kernels[i].name) !=
                               errors.kernels.end();
            if (!wrong || !(kernels[i].found || kernels[i].optional)) continue;
            changed = true;
            if (kernels[i].by_type || kernels[i].optional) {
                kernels.erase(kernels.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                kernels[i].by_type = true;
            }
        }
        if (!changed) {
            for (Registration& kernel : kernels) kernel.launch_bounds.clear();  // not in the user's text
            return diagnose(registration_code(kernels, {}, 0, false), answer.output);
        }
    }
    std::string object;
    if (!read_file(output, &object)) return fail(Status::operating_system, "the compiler left no image");
    *image = seal_image(std::move(object));
    return Status::success;
}

Status Compilation::build_part(const std::string& preprocessed, std::string* image) {
    const auto build_with = [&](const DevicePart& part) {
        const Rewritten rewritten = rewrite(part.texts[0], request_.only);
        if (!rewritten.problems.empty())
            return fail(Status::invalid_source,
                        format_problems(rewritten.problems, request_.source, request_.file_name));
        return build(rewritten, part.instances, image);
    };
    const auto part_with = [&](HostCode host_code) {
        return device_part({preprocessed}, request_.name_expressions, host_code);
    };
    const DevicePart part = part_with(HostCode::keep_called);
    const std::string log_before = log_;
    const Status status = build_with(part);
    if (status != Status::invalid_source || !lacks_functions_) return status;
    // A function that no kernel calls may call a function of another file of its program. So functions that
    // no kernel calls are left out.
    const DevicePart called = part_with(HostCode::drop_uncalled);
    if (called.texts == part.texts) return status;
    log_ = log_before;
    return build_with(called);
}

Status Compilation::finish(const std::string& image, CompileResult* result) const {
    std::shared_ptr<Image> loaded;
    std::string detail;
    const Status status = Image::load(image, &loaded, &detail);
    if (status != Status::success) {
        result->log = log_ + detail + "\n";
        return status;
    }
    for (const cuscope_simt::KernelEntry& entry : loaded->kernels()) {
        if (entry.parameter_count == 0) continue;
        const auto& last = entry.parameters[entry.parameter_count - 1];
        if (last.offset + last.size <= most_parameter_bytes) continue;
        result->log = log_ + request_.file_name + ": error: the parameters of the kernel '" + entry.name +
                      "' take " + std::to_string(last.offset + last.size) + " bytes; allowed are " +
                      std::to_string(most_parameter_bytes) +
                      ": pass a pointer to what is large, or keep it in a __constant__ variable\n";
        return Status::invalid_source;
    }
    if (const std::string problem = loaded->shared_problem(); !problem.empty()) {
        result->log = log_ + request_.file_name + ": error: " + problem + "\n";
        return Status::invalid_source;
    }
    result->image = image;
    result->kernels.clear();
    for (const cuscope_simt::KernelEntry& entry : loaded->kernels())
        result->kernels.push_back(describe(entry));
    result->log = log_;
    result->cached = false;
    return Status::success;
}

Status Compilation::run(CompileResult* result) {
    // The cache key of a source without #include comes from its own text; that of any other source from the
    // preprocessed text.
    std::string cache_key = key();
    const auto look_up = [&] {
        if (!request_.use_cache) return false;
        std::optional<CompileResult> found = cache_load(cache_key);
        if (!found) return false;
        *result = std::move(*found);
        result->cached = true;
        return true;
    };
    // If another process or thread compiles the same source now, this thread waits for the result.
    CompileClaim claim;
    const auto look_up_or_claim = [&]() -> Status {
        if (!request_.use_cache || look_up()) return Status::success;
        const Status status = claim.wait(cache_key, limit_);
        limit_.start_again();
        if (status == Status::success) look_up();
        return status;
    };
    const auto failed = [&](Status status) {
        result->log = log_;
        return status;
    };
    if (!includes_) {
        cache_key += "source " + request_.source;
        const Status status = look_up_or_claim();
        if (status != Status::success || result->cached) return status;
    }
    if (const Status status = prepare(); status != Status::success) return failed(status);
    std::string preprocessed;
    if (const Status status = preprocess(&preprocessed); status != Status::success) return failed(status);
    if (includes_) {
        cache_key += "preprocessed " + hex(sha256(preprocessed));
        const Status status = look_up_or_claim();
        if (status != Status::success || result->cached) return status;
    }
    std::string image;
    if (const Status status = build_part(preprocessed, &image); status != Status::success)
        return failed(status);
    if (const Status status = finish(image, result); status != Status::success) return status;
    if (request_.use_cache) cache_store(cache_key, *result);
    return Status::success;
}

Status compile(const CompileRequest& request, const Target& target, CompileResult* result) {
    *result = {};
    HostOptions options = translate_options(request.options);
    if (!options.problem.empty()) {
        result->log = options.problem + "\n";
        return Status::invalid_value;
    }
    std::string problem;
    const std::optional<CompileLimit> limit = CompileLimit::from_environment(&problem);
    if (!limit) {
        result->log = problem + "\n";
        return Status::invalid_value;
    }
    HostCompiler compiler;
    if (const Status status = find_host_compiler(*limit, &compiler); status != Status::success) {
        result->log = compiler.problem + "\n";
        return status;
    }
    if (problem = instrumentation_problem(compiler); request.kind != ImageKind::plain && !problem.empty()) {
        result->log = problem + "\n";
        return Status::jit_compiler_not_found;
    }
    const std::string headers = include_dir();
    if (headers.empty()) {
        result->log =
            "the headers that kernels are compiled with are not beside the extension; install cuscope again, "
            "or "
            "set CUSCOPE_SIMT_INCLUDE to the folder that holds cuscope_simt/\n";
        return Status::jit_compiler_not_found;
    }
    return Compilation(request, target, std::move(options), std::move(compiler), headers, *limit).run(result);
}

}  // namespace cuscope::simt
