#include "host/compiler/rewrite.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cuscope_simt/abi.h"
#include "host/compiler/find_graph_launchers.hpp"
#include "host/compiler/keywords.hpp"
#include "host/compiler/polls.hpp"
#include "host/compiler/ptx.hpp"
#include "host/compiler/registration.hpp"
#include "host/compiler/shifts.hpp"
#include "host/compiler/source_edits.hpp"
#include "runtime/compile/declarations.hpp"
#include "runtime/compile/signature.hpp"
#include "runtime/compile/tokens.hpp"

namespace cuscope::simt {
namespace {

// The longest kernel, in tokens, that always becomes a part of the loop over a block's threads. The compiler
// compiles such a kernel twice, because a kernel also needs a function of its own, whose symbol is its name.
// A call takes about half a nanosecond for each thread, and six where the threads wait at a barrier, which
// itself takes fifty or more. This counts for short kernels alone.
constexpr std::size_t most_inlined = 256;

class Rewriter {
  public:
    Rewriter(std::string_view text, std::string_view only)
        : only_(only),
          source_(tokenize(text)),
          tokens_(source_.list),
          declarations_(tokens_),
          edits_(text, tokens_) {}

    Rewritten run() {
        for (const Declaration& declaration : declarations_.list()) declare(declaration);
        for (const PollInsertion& poll : find_polls(tokens_)) {
            insert(poll.offset, std::string(poll.text));
            result_.waits = true;
            result_.flags |= cuscope_simt::uses_atomics;
        }
        for (std::size_t i = 0; i < tokens_.size(); i = visit(i)) {
        }
        for (const ShiftOperator& shift : find_shifts(tokens_)) rewrite_shift(shift);
        std::string files = "namespace cuscope_simt { constexpr const char* source_files[] = {";
        for (const std::string& file : source_.files) files += quoted(file) + ", ";
        result_.text = files + "\"\"}; }\n" + edits_.edited_text();
        result_.waits |= (result_.flags & (cuscope_simt::uses_barriers | cuscope_simt::uses_warp |
                                           cuscope_simt::uses_atomics | cuscope_simt::uses_clock)) != 0;
        if ((result_.flags & cuscope_simt::uses_atomics) == 0) result_.flags |= cuscope_simt::lanes_descend;
        return std::move(result_);
    }

  private:
    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
    std::size_t partner(std::size_t i) const { return declarations_.partner(i); }
    std::size_t end_of(std::size_t i) const { return tokens_[i].end(); }

    void insert(std::size_t offset, std::string text) { edits_.insert(offset, std::move(text)); }
    void replace(std::size_t first, std::size_t last, std::string text) {
        edits_.replace(first, last, std::move(text));
    }
    void problem(std::size_t i, std::string message) {
        const auto file = static_cast<std::size_t>(tokens_[i].file);
        result_.problems.push_back(
            {file < source_.files.size() ? source_.files[file] : "", tokens_[i].line, std::move(message)});
    }

    // Registers kernels and variables at namespace scope.
    void declare(const Declaration& declaration) {
        const std::size_t begin = declaration.begin, end = declaration.end;
        const std::size_t head = declaration.body != no_token ? declaration.body
                                 : declaration.parameters != no_token
                                     ? std::min(partner(declaration.parameters), end - 1) + 1
                                     : end;
        if (declaration.parameters != no_token && declaration.name_end > declaration.name_begin)
            own_functions_.insert(tokens_[declaration.name_end - 1].text);
        if (declaration.parameters != no_token && declarations_.has(begin, head, "__global__")) {
            declare_kernel(declaration, head);
        } else if (declaration.parameters == no_token && declaration.template_begin == no_token) {
            const bool constant = declarations_.has(begin, end, "__constant__");
            if (!constant && !declarations_.has(begin, end, "__device__")) return;
            if (declarations_.has(begin, end, "__shared__") || is(begin, "using") || is(begin, "typedef"))
                return;
            const bool external = declarations_.has(begin, end, "extern");
            for (const Declared& found : declarations_.declared(begin, end)) {
                if (external && !found.has_initializer) continue;
                result_.globals.push_back({declaration.scope + qualified_name(found.name), constant});
            }
        }
    }

    // "a::b::x" for its last token.
    std::string qualified_name(std::size_t last) const {
        std::string name(tokens_[last].text);
        for (std::size_t i = last; i >= 2 && is(i - 1, "::") && tokens_[i - 2].kind == TokenKind::word;
             i -= 2)
            name.insert(0, std::string(tokens_[i - 2].text) + "::");
        return name;
    }

    void declare_kernel(const Declaration& declaration, std::size_t head) {
        if (!declarations_.has(declaration.begin, declaration.name_begin, "void") &&
            !declarations_.has(declaration.begin, declaration.name_begin, "auto"))
            return problem(declaration.name_begin, "a __global__ function must have a void return type");
        if (takes_any_arguments(declaration.parameters))
            return problem(declaration.name_begin,
                           "a __global__ function cannot take any number of arguments (...): name each "
                           "parameter, or make it a template with a parameter pack");
        if (declaration.body == no_token && !declaration.is_explicit_instantiation) return;
        if (declaration.body != no_token && partner(declaration.body) - declaration.body <= most_inlined) {
            for (std::size_t i = declaration.begin; i < head; ++i)
                if (is(i, "__global__")) inlined_.insert(i);
        }
        if (declaration.is_specialization) return;
        KernelSource kernel;
        kernel.scope = declaration.scope;
        kernel.name = kernel.scope + declarations_.text(declaration.name_begin, declaration.name_end);
        kernel.parameters = parameters(declaration.parameters);
        if (declaration.body != no_token)
            kernel.launches_graphs = launching_.count(tokens_[declaration.name_end - 1].text) != 0;
        if (declaration.is_explicit_instantiation) {
            if (!is(declaration.name_end - 1, ">")) return;
            if (!only_.empty() && kernel.name != only_) insert(tokens_[declaration.begin].offset, "extern ");
        } else {
            kernel.is_template = declaration.template_begin != no_token;
        }
        const std::string text = declarations_.text(declaration.begin, head) + ";";
        const std::vector<KernelNames> names = find_kernels(text);
        if (!names.empty()) {
            for (std::size_t i = 0; i < names[0].parameters.size(); ++i)
                kernel.parameter_names += (i == 0 ? "" : ",") + names[0].parameters[i];
        }
        declare_launch_bounds(declaration, head, kernel);
        result_.kernels.push_back(std::move(kernel));
    }

    // Is the last parameter an ellipsis, as in printf? That of a pack, `T...`, stands behind its type.
    bool takes_any_arguments(std::size_t open) const {
        if (open == no_token || partner(open) == no_token) return false;
        std::size_t i = partner(open);
        while (i > open + 1 && tokens_[i - 1].text.find_first_not_of('.') == std::string_view::npos) --i;
        return i < partner(open) && (i == open + 1 || is(i - 1, ","));
    }

    // The text in the parentheses at `open`, without default arguments and cuscope's keywords.
    std::string parameters(std::size_t open) const {
        std::string result;
        bool shown = true;
        for (std::size_t i = open + 1; i < partner(open); ++i) {
            if (is(i, ",")) shown = true;
            if (is(i, "=")) shown = false;
            const auto found = words().find(tokens_[i].text);
            if (!shown || (found != words().end() && found->second == Word::dropped)) continue;
            const bool group = is(i, "(") || is(i, "[") || is(i, "{");
            const std::size_t last = group && partner(i) != no_token ? partner(i) : i;
            result += declarations_.text(i, last + 1) + " ";
            i = last;
        }
        return result;
    }

    // The bounds may depend on template parameters and on names in scope. So constants that hold them are
    // declared just before the kernel.
    void declare_launch_bounds(const Declaration& declaration, std::size_t head, KernelSource& kernel) {
        if (declaration.is_explicit_instantiation) return;
        std::vector<std::string> bounds, dimensions;
        for (std::size_t i = declaration.begin; i < head; ++i) {
            if (is(i + 1, "(") && partner(i + 1) != no_token) {
                if (is(i, "__launch_bounds__")) bounds = constants(i + 1, 2);
                if (is(i, "__cluster_dims__")) {
                    dimensions = constants(i + 1, 3);
                    dimensions.resize(3, "1u");
                }
            }
            if (partner(i) != no_token && partner(i) > i) i = partner(i);
        }
        if (bounds.empty() && dimensions.empty()) return;
        bounds.resize(2, "0u");
        dimensions.resize(3, "0u");
        const std::string name = "cuscope_launch_bounds_" + std::to_string(++unique_);
        std::string header, values;
        if (declaration.template_begin != no_token)
            header = declarations_.text(declaration.template_begin, declaration.template_end) + " ";
        for (const auto* list : {&bounds, &dimensions})
            for (const std::string& value : *list) values += value + ", ";
        insert(tokens_[declaration.begin].offset,
               header + "constexpr unsigned " + name + "[5] = {" + values + "}; ");
        kernel.launch_bounds = declaration.scope + name;
    }

    // The first expressions of the list in the parentheses at `open`, up to `most` of them.
    std::vector<std::string> constants(std::size_t open, std::size_t most) const {
        std::vector<std::string> result;
        std::size_t begin = open + 1;
        for (std::size_t i = begin; i <= partner(open) && result.size() < most; ++i) {
            if (is(i, ",") || i == partner(open)) {
                if (i > begin)
                    result.push_back("static_cast<unsigned>(" + declarations_.text(begin, i) + ")");
                begin = i + 1;
            } else if (is(i, "(") && partner(i) != no_token) {
                i = partner(i);
            }
        }
        return result;
    }

    void rewrite_shift(const ShiftOperator& shift) {
        const std::string symbol = shift.left ? "<<" : ">>", object = " ::cuscope_simt::shift ";
        if (!shift.assigns) {
            replace(shift.token, shift.token + 1, symbol + object + symbol + " ");
        } else if (shift.operand == shift.token) {
            replace(shift.token, shift.token + 2, symbol + "=" + object + "|= ");
        } else {
            replace(shift.token, shift.token + 2,
                    "= " + edits_.edited_tokens(shift.operand, shift.token) + " " + symbol + object + "|= ");
        }
    }

    // Handles token i; returns the index of the next token.
    std::size_t visit(std::size_t i) {
        const Token& token = tokens_[i];
        if (token.is("<<<")) {
            if (i > 0 && !is(i - 1, "operator"))
                problem(i,
                        "a kernel launch (<<<...>>>) in device code, which cuscope's host runtime does not "
                        "support; kernels are launched from outside: module.kernel[grid, block](...)");
            return i + 1;
        }
        if (token.kind != TokenKind::word) return i + 1;
        if (const auto found = words().find(token.text); found != words().end())
            return visit_word(i, found->second);
        if (token.text.substr(0, 6) == "atomic") {
            result_.flags |= cuscope_simt::uses_atomics;
        } else if (const auto alias = dynamic_shared_.find(token.text); alias != dynamic_shared_.end()) {
            if (!is_member_or_declared(i)) replace(i, i, dynamic_shared(alias->second));
        }
        return i + 1;
    }

    std::size_t visit_word(std::size_t i, Word word) {
        switch (word) {
            case Word::dropped:
                replace(i, i, "");
                return i + 1;
            case Word::kernel:
                // no_icf: of two equal kernels, faults would name the lines of one.
                replace(i, i,
                        is(i - 1, "template") && i > 0 ? ""
                        : inlined_.count(i) != 0       ? "__attribute__((always_inline))"
                                                       : "__attribute__((no_icf))");
                return i + 1;
            case Word::force_inline:
                replace(i, i, has_inline_near(i) ? "" : "inline");
                return i + 1;
            case Word::no_inline:
                if (!(i > 0 && (is(i - 1, "(") || is(i - 1, ","))))
                    replace(i, i, "__attribute__((noinline))");
                return i + 1;
            case Word::launch_bounds:
                if (!is(i + 1, "(") || partner(i + 1) == no_token) return i + 1;
                replace(i, partner(i + 1), "");
                return partner(i + 1) + 1;
            case Word::unsupported:
                problem(i, std::string(tokens_[i].text) + " is not supported by cuscope's host runtime");
                return i + 1;
            case Word::shared:
                return visit_shared(i);
            case Word::built_in:
                if (!is_member_or_declared(i))
                    replace(i, i,
                            "::cuscope_simt::" + std::string(built_in_function(tokens_[i].text)) + "()");
                return i + 1;
            case Word::barrier:
            case Word::warp:
                return visit_operation(i, word);
            case Word::inline_asm:
                return visit_asm(i);
            case Word::fence:
                result_.flags |= cuscope_simt::uses_atomics;
                return i + 1;
            case Word::clock:
                if (is(i + 1, "(")) result_.flags |= cuscope_simt::uses_clock;
                return i + 1;
            case Word::print:
                result_.flags |= cuscope_simt::uses_print;
                return i + 1;
            case Word::groups:
                result_.flags |= cuscope_simt::uses_barriers | cuscope_simt::uses_warp;
                return i + 1;
            case Word::trigger:
                result_.flags |= cuscope_simt::uses_trigger;
                return i + 1;
            case Word::graph:
                result_.flags |= cuscope_simt::launches_graphs;
                return i + 1;
            case Word::heap:
                return visit_heap(i);
            case Word::uncached:
                return i + 1;
        }
        return i + 1;
    }

    // Is token i a member's name, or a name being declared: `s.blockDim`, `dim3 gridDim, blockDim;`?
    bool is_member_or_declared(std::size_t i) const {
        if (i > 0 && (is(i - 1, ".") || is(i - 1, "->"))) return true;
        while (i >= 2 && is(i - 1, ",") && tokens_[i - 2].is_word()) i -= 2;
        if (i == 0) return false;
        const Token& before = tokens_[i - 1];
        return before.is_word() && !is_statement_word(before.text);
    }

    bool has_inline_near(std::size_t i) const {
        const auto is_inline = [this](std::size_t j) {
            return is(j, "inline") || is(j, "__inline__") || is(j, "__inline");
        };
        for (std::size_t j = i; j-- > 0 && tokens_[j].is_word();)
            if (is_inline(j) || is(j, "__forceinline__")) return true;
        for (std::size_t j = i + 1; j < tokens_.size() && tokens_[j].is_word(); ++j)
            if (is_inline(j)) return true;
        return false;
    }

    // The place of an operation among those of its line, so that two barriers on one line are two.
    int place_on_line(std::size_t i) {
        const Token& token = tokens_[i];
        if (token.file != placed_file_ || token.line != placed_line_) {
            placed_file_ = token.file;
            placed_line_ = token.line;
            places_ = 0;
        }
        return places_++;
    }

    // __syncthreads() becomes ::cuscope_simt::At<file, line, place>::__syncthreads().
    std::size_t visit_operation(std::size_t i, Word word) {
        result_.flags |= word == Word::barrier ? cuscope_simt::uses_barriers : cuscope_simt::uses_warp;
        if (!(is(i + 1, "(") || is(i + 1, "<")) || is_member_or_declared(i)) return i + 1;
        const bool global = i > 0 && is(i - 1, "::") &&
                            !(i > 1 && tokens_[i - 2].is_word() && !is_statement_word(tokens_[i - 2].text));
        if (i > 0 && is(i - 1, "::") && !global) return i + 1;
        if (global) replace(i - 1, i - 1, "");
        insert(tokens_[i].offset, "::cuscope_simt::At<" + std::to_string(tokens_[i].file) + ", " +
                                      std::to_string(tokens_[i].line) + ", " +
                                      std::to_string(place_on_line(i)) + ">::");
        return i + 1;
    }

    // malloc(...) and free(...), also of std, unless the source defines functions of these names.
    std::size_t visit_heap(std::size_t i) {
        if (!is(i + 1, "(") || is_member_or_declared(i) || own_functions_.count(tokens_[i].text) != 0)
            return i + 1;
        std::size_t first = i;
        if (i > 0 && is(i - 1, "::")) {
            const bool qualified =
                i > 1 && tokens_[i - 2].is_word() && !is_statement_word(tokens_[i - 2].text);
            if (qualified && !is(i - 2, "std")) return i + 1;
            first = qualified ? i - 2 : i - 1;
        }
        // uses_atomics makes blocks run in order, so that it is always the same thread that finds no room.
        result_.flags |= cuscope_simt::uses_atomics | cuscope_simt::uses_heap;
        replace(first, i, "::cuscope_simt::heap_" + std::string(tokens_[i].text));
        return i + 1;
    }

    std::string dynamic_shared(const std::string& alias) const {
        return "::cuscope_simt::dynamic_shared<" + alias + ">()";
    }

    // The first specifier of the declaration that token i is a specifier of.
    std::size_t first_specifier(std::size_t i) const {
        for (; i > 0; --i) {
            if (is(i - 1, ")") && partner(i - 1) != no_token && is(partner(i - 1) - 1, "alignas")) {
                i = partner(i - 1);
            } else if (!is(i - 1, "static") && !is(i - 1, "const") && !is(i - 1, "volatile") &&
                       !is(i - 1, "__device__")) {
                break;
            }
        }
        return i;
    }
    // Removes every alignas(...) from a declaration of shared memory and returns them. CUDA C++ allows
    // alignas among the specifiers, C++ does not.
    std::string taken_alignment(std::size_t begin, std::size_t end) {
        std::string result;
        for (std::size_t i = begin; i < end; ++i) {
            if (!is(i, "alignas") || !is(i + 1, "(") || partner(i + 1) == no_token) continue;
            result += declarations_.text(i, partner(i + 1) + 1) + " ";
            replace(i, partner(i + 1), "");
            i = partner(i + 1);
        }
        return result;
    }

    std::size_t visit_shared(std::size_t i) {
        std::size_t end = i;
        while (end < tokens_.size() && !is(end, ";")) {
            if (is(end, "}") || is(end, ")") || is(end, "]")) return i + 1;
            end = partner(end) != no_token ? partner(end) + 1 : end + 1;
        }
        if (end == tokens_.size()) return i + 1;
        std::size_t external = no_token;
        for (std::size_t j = i; j-- > 0 && !is(j, ";") && !is(j, "{") && !is(j, "}");)
            if (is(j, "extern")) external = j;
        const std::vector<Declared> names = declarations_.declared(i + 1, end + 1);
        const std::string alignment =
            taken_alignment(first_specifier(external == no_token ? i : external), end);
        if (external == no_token) {
            replace(i, i, "thread_local");
            insert(tokens_[first_specifier(i)].offset, alignment);
            std::string checks;
            for (const Declared& found : names) {
                const std::string name(tokens_[found.name].text);
                if (found.has_initializer)
                    problem(found.name, "an initializer is not allowed for a __shared__ variable: " + name);
                checks += " static_assert(::cuscope_simt::is_shared_type<decltype(" + name +
                          ")>, \"a __shared__ variable cannot have a type with a constructor: " + name +
                          "\");";
            }
            insert(end_of(end), checks);
            return i + 1;
        }
        if (names.size() != 1 || !names[0].is_array) {
            problem(i, "extern __shared__ has to declare one array: extern __shared__ float name[];");
            return i + 1;
        }
        // The array becomes a pointer to the block's dynamic shared memory. Its declaration becomes a
        // typedef, which gives the pointer its type.
        const std::string name(tokens_[names[0].name].text);
        const std::string alias = name + "_cuscope_" + std::to_string(++unique_);
        replace(external, external, "typedef");
        replace(i, i, "");
        replace(names[0].name, names[0].name, alias);
        if (declarations_.at_namespace_scope(i)) {
            dynamic_shared_[tokens_[names[0].name].text] = alias;
        } else {
            insert(end_of(end), " auto* const " + name + " = " + dynamic_shared(alias) + ";");
        }
        for (std::size_t j = i + 1; j < names[0].name; ++j) {  // __align__ is a macro, __device__ a keyword
            if (const auto found = words().find(tokens_[j].text); found != words().end())
                visit_word(j, found->second);
        }
        return names[0].name + 1;
    }

    // An asm statement with supported instructions becomes the call of a lambda. The expressions of its
    // operands stay where they are, as the arguments.
    std::optional<std::size_t> translate(std::size_t i, std::size_t open, std::size_t close,
                                         const std::string& assembly) {
        std::vector<std::string> names;
        std::vector<std::size_t> parentheses;
        int section = 0;
        for (std::size_t j = open + 1; j < close && section < 3; ++j) {
            if (is(j, ":")) {
                ++section;
            } else if (is(j, "::")) {
                section += 2;
            } else if (section > 0 && is(j, "(") && partner(j) != no_token) {
                const bool named = is(j - 2, "]") && is(j - 4, "[");
                names.emplace_back(named ? tokens_[j - 3].text : std::string_view());
                parentheses.push_back(j);
                j = partner(j);
            }
        }
        const std::string site = "::cuscope_simt::Site{::cuscope_simt::source_files[" +
                                 std::to_string(tokens_[i].file) + "], " + std::to_string(tokens_[i].line) +
                                 ", \"asm\", " + std::to_string(place_on_line(i)) + "}";
        const std::optional<PtxCode> code = translate_ptx(assembly, names, site);
        if (!code) return std::nullopt;
        if (code->uses_warp) result_.flags |= cuscope_simt::uses_warp;
        if (code->uses_barriers || code->waits) result_.flags |= cuscope_simt::uses_barriers;
        if (code->sees_others) result_.flags |= cuscope_simt::uses_atomics;
        std::string head = "[](";
        for (std::size_t k = 0; k < names.size(); ++k)
            head +=
                (k == 0 ? "[[maybe_unused]] auto&& o" : ", [[maybe_unused]] auto&& o") + std::to_string(k);
        head += ") { " + code->body + "}(";
        if (parentheses.empty()) {
            replace(i, close, head + ")");
            return close + 1;
        }
        replace(i, parentheses[0], head + "(");
        for (std::size_t k = 1; k < parentheses.size(); ++k)
            replace(partner(parentheses[k - 1]), parentheses[k], "), (");
        replace(partner(parentheses.back()), close, "))");
        return parentheses[0] + 1;
    }

    std::size_t visit_asm(std::size_t i) {
        std::size_t open = i + 1;
        while (is(open, "volatile") || is(open, "__volatile__") || is(open, "__volatile") ||
               is(open, "goto") || is(open, "inline"))
            ++open;
        if (!is(open, "(") || partner(open) == no_token) return i + 1;
        const std::size_t close = partner(open);
        std::string assembly;
        std::size_t j = open + 1;
        for (; j < close && tokens_[j].kind == TokenKind::string; ++j)
            assembly += literal_text(tokens_[j].text);
        if (const std::string bare = without_ptx_comments(assembly); bare != assembly) {
            assembly = bare;
            // The processor's assembler has other comments.
            if (is_blank(assembly)) replace(open + 1, j - 1, "\"\"");
        }
        const bool empty = is_blank(assembly);
        const bool label =  // int f() asm("name");
            !empty && assembly.find_first_of(" \t\n;%{") == std::string::npos && j == close && is(i - 1, ")");
        if (empty || label) return close + 1;
        if (const char* call = dependent_launch(assembly); call != nullptr) {
            if (std::string_view(call).find("Trigger") != std::string_view::npos)
                result_.flags |= cuscope_simt::uses_trigger;
            replace(i, close, std::string("::") + call + "()");
            return close + 1;
        }
        // One output, no input: ( [name] "=r" (expression) ).
        if (is(j, ":")) {
            std::string operand;
            ++j;
            if (is(j, "[") && partner(j) == j + 2) {
                operand = tokens_[j + 1].text;
                j += 3;
            }
            if (j < close && tokens_[j].kind == TokenKind::string && is(j + 1, "(") &&
                partner(j + 1) != no_token) {
                const std::size_t first = j + 1, last = partner(j + 1);
                const bool alone = last + 1 == close || is(last + 1, "::") ||
                                   (is(last + 1, ":") && (last + 2 == close || is(last + 2, ":")));
                const std::optional<std::string> name = special_register(assembly, operand);
                if (alone && name && tokens_[j].text.find('=') != std::string_view::npos) {
                    if (name->find("clock") == 0 || name->find("globaltimer") == 0)
                        result_.flags |= cuscope_simt::uses_clock;
                    replace(i, first, "((");
                    replace(last, close, ") = ::cuscope_simt::special::" + *name + "())");
                    return first + 1;
                }
            }
        }
        if (const std::optional<std::size_t> next = translate(i, open, close, assembly)) return *next;
        problem(i, unsupported_ptx(assembly));
        return close + 1;
    }

    std::string_view only_;
    Tokens source_;
    const std::vector<Token>& tokens_;
    Declarations declarations_;
    SourceEdits edits_;
    const std::set<std::string_view> launching_ = functions_launching_graphs(tokens_, declarations_);
    std::map<std::string_view, std::string> dynamic_shared_;  // declared at namespace scope: name, type
    Rewritten result_;
    std::set<std::string_view> own_functions_;  // the last part of each name
    std::set<std::size_t> inlined_;             // the `__global__` of short kernels
    int unique_ = 0;
    int placed_file_ = -1, placed_line_ = -1, places_ = 0;  // of place_on_line
};

}  // namespace

Rewritten rewrite(std::string_view preprocessed, std::string_view only) {
    return Rewriter(preprocessed, only).run();
}

}  // namespace cuscope::simt
