#include "runtime/compile/device_part.hpp"

#include <algorithm>
#include <set>

#include "runtime/compile/device_nodes.hpp"
#include "runtime/compile/launched_instances.hpp"
#include "runtime/compile/source_words.hpp"

namespace cuscope {
namespace {

using Words = std::set<std::string_view>;

using Node = DeviceNode;

class Parts {
  public:
    Parts(const std::vector<std::string_view>& texts, const std::vector<std::string>& named,
          HostCode host_code)
        : texts_(texts),
          named_(named),
          keeps_unmarked_(host_code == HostCode::keep_called),
          strict_(host_code == HostCode::drop || host_code == HostCode::drop_named),
          drops_named_(host_code == HostCode::drop_named) {}

    DevicePart run() {
        for (const std::string_view text : texts_) sources_.push_back(tokenize(text));
        nodes_ = device_nodes(sources_);
        DevicePart result;
        if (keeps_unmarked_ && !has_host_code()) {  // then all of it is compiled, and checked
            result.texts.assign(texts_.begin(), texts_.end());
            return result;
        }
        result.instances = instances();
        keep();
        for (std::size_t i = 0; i < texts_.size(); ++i) result.texts.push_back(edited(i));
        return result;
    }

  private:
    // Does the function do something that only host code does: launch a kernel, call the runtime?
    bool is_for_hosts(const Node& node) const {
        const auto& tokens = sources_[node.source].list;
        for (std::size_t i = node.head_end; i < node.end; ++i) {
            if (tokens[i].is_literal()) continue;
            if (tokens[i].text == "<<<") return true;
            const bool call = i + 1 < tokens.size() && tokens[i + 1].text == "(";
            if (call && tokens[i].is_word() && is_host_call(tokens[i].text)) return true;
            if (tokens[i].text == "std" && i + 2 < tokens.size() && tokens[i + 1].text == "::" &&
                one_of(tokens[i + 2].text, {"cout", "cerr", "clog"}))
                return true;
        }
        return false;
    }

    bool has_host_code() const {
        return std::any_of(nodes_.list.begin(), nodes_.list.end(), [this](const auto& node) {
            const bool main = node->kind == Node::Kind::function && node->names[0] == "main";
            return main || (!node->device && node->kind != Node::Kind::type &&
                            (is_for_hosts(*node) || calls_process(*node)));
        });
    }

    bool calls_process(const Node& node) const {
        const auto& tokens = sources_[node.source].list;
        for (std::size_t i = node.head_end; i + 1 < node.end; ++i) {
            const bool member = i > 0 && one_of(tokens[i - 1].text, {".", "->"});
            if (tokens[i].is_word() && tokens[i + 1].text == "(" && !member &&
                is_process_call(tokens[i].text))
                return true;
        }
        return false;
    }

    std::vector<std::string> instances() {
        InstanceFinder finder;
        for (const auto& [name, macro] : nodes_.macros) finder.add_constant(name, macro.tokens);
        for (const auto& node : nodes_.list) {
            const auto& tokens = sources_[node->source].list;
            if (node->kind == Node::Kind::variable) finder.add_constants(tokens, node->begin, node->end);
            if (node->is_kernel && node->is_template && !node->is_instantiation)
                finder.add_template(node->scope, node->names[0]);
        }
        for (const auto& node : nodes_.list) {
            const bool function = node->kind == Node::Kind::function || node->kind == Node::Kind::method ||
                                  node->kind == Node::Kind::special_method;
            if (function && !node->device)
                finder.find(sources_[node->source].list, node->begin, node->head_end, node->end);
        }
        for (const Token& argument : finder.arguments()) any_.insert(argument.text);
        return finder.instances();
    }

    // A method is left out if it calls a method that is left out.
    bool calls_host_method(const Node& node) const {
        const auto& tokens = sources_[node.source].list;
        for (std::size_t i = node.head_end; i + 1 < node.end; ++i)
            if (tokens[i + 1].text == "(" && host_methods_.count(tokens[i].text) != 0) return true;
        return false;
    }
    void find_host_methods() {
        Words others;  // names that also belong to a function that is not only for hosts
        std::vector<const Node*> methods;
        for (const auto& node : nodes_.list) {
            if (node->kind == Node::Kind::method && !node->device && !node->names.empty())
                methods.push_back(node.get());
            else
                others.insert(node->names.begin(), node->names.end());
        }
        for (bool again = true; again;) {
            again = false;
            Words plain;
            for (const Node* method : methods)
                if (!is_for_hosts(*method) && !calls_host_method(*method)) plain.insert(method->names[0]);
            for (const Node* method : methods)
                if (plain.count(method->names[0]) == 0 && others.count(method->names[0]) == 0)
                    again = host_methods_.insert(method->names[0]).second || again;
        }
    }

    // Records the names that kept code uses: called as a function, called as a method, or in any way.
    void mention(const std::vector<Token>& tokens, std::size_t begin, std::size_t end,
                 const std::vector<SourceRange>& holes = {}) {
        std::size_t hole = 0;
        for (std::size_t i = begin; i < end; ++i) {
            if (hole < holes.size() && i == holes[hole].begin) {
                i = holes[hole++].end - 1;
                continue;
            }
            if (!tokens[i].is_word()) continue;
            const std::string_view word = tokens[i].text;
            any_.insert(word);
            const std::string_view next = i + 1 < tokens.size() ? tokens[i + 1].text : "";
            const std::string_view before = i > 0 ? tokens[i - 1].text : "";
            const bool member = before == "." || before == "->";
            if (next == "(" || next == "<" || next == ")" || next == "," || before == "&")
                (member ? methods_ : called_).insert(word);
            if (const auto macro = nodes_.macros.find(word);
                macro != nodes_.macros.end() && seen_macros_.insert(word).second)
                mention(macro->second.tokens, 0, macro->second.tokens.size());
        }
    }

    bool names_any(const Node& node, const Words& words) const {
        return std::any_of(node.names.begin(), node.names.end(),
                           [&](std::string_view name) { return words.count(name) != 0; });
    }

    static bool is_kept(const Node* owner) {
        while (owner->inner) owner = owner->owner;
        return owner->kept;
    }

    // Is it a variable or function of the host, to be dropped even if kernels seem to name it?
    bool is_of_the_host(const Node& node) const {
        return drops_named_ && !node.device && !node.is_constant && !node.is_constexpr;
    }

    bool wanted(const Node& node) const {
        if (node.device) return node.owner == nullptr || is_kept(node.owner);
        switch (node.kind) {
            case Node::Kind::other:
                return true;
            case Node::Kind::type:
                return names_any(node, any_);
            case Node::Kind::namespace_alias:
                return !strict_ || names_any(node, any_);
            case Node::Kind::variable:
                return !is_of_the_host(node) && names_any(node, any_);
            case Node::Kind::function:
                if (node.is_instantiation) return names_any(node, kernels_);
                if (node.names[0] == "main" || !names_any(node, called_) || marked_.count(node.names[0]) != 0)
                    return false;
                return !is_for_hosts(node) && !is_of_the_host(node);
            case Node::Kind::method:
            case Node::Kind::special_method:
                break;
        }
        if (node.owner != nullptr && !is_kept(node.owner)) return false;
        if (!node.class_name.empty() && any_.count(node.class_name) == 0) return false;
        const auto& tokens = sources_[node.source].list;
        const bool defaulted = node.end >= 3 && one_of(tokens[node.end - 2].text, {"default", "delete"});
        if (defaulted) return true;
        if (strict_ || is_for_hosts(node) || calls_host_method(node)) return false;
        if (node.kind == Node::Kind::special_method) return true;
        return names_any(node, methods_) || names_any(node, called_) ||
               one_of(node.names[0], {"begin", "end", "size"});
    }

    void keep() {
        find_host_methods();
        // Headers of the simulation use these names to mark that their functions wait, or use atomic
        // operations.
        any_.insert({"cuscope_uses_groups", "cuscope_uses_atomics"});
        std::vector<Tokens> expressions;
        for (const std::string& name : named_) expressions.push_back(tokenize(name));
        for (const Tokens& expression : expressions)
            for (const Token& word : expression.list) any_.insert(word.text);
        for (const auto& node : nodes_.list) {
            if (!node->device || node->names.empty()) continue;
            if (node->kind == Node::Kind::function) marked_.insert(node->names[0]);
            if (node->is_kernel) kernels_.insert(node->names[0]);
        }
        keep_all([this](const Node& node) { return wanted(node); });
        // A source without host code keeps all its variables, so that the compiler reports an error in any of
        // them.
        if (std::all_of(nodes_.list.begin(), nodes_.list.end(), [](const auto& node) {
                return node->kept || node->kind == Node::Kind::variable || node->kind == Node::Kind::type ||
                       node->kind == Node::Kind::namespace_alias;
            })) {
            keep_all([this](const Node& node) {
                return (node.kind == Node::Kind::variable && !is_of_the_host(node)) || wanted(node);
            });
        }
    }

    template <class Wanted>
    void keep_all(Wanted wanted_now) {
        for (bool again = true; again;) {
            again = false;
            for (const auto& node : nodes_.list) {
                if (node->kept || !wanted_now(*node)) continue;
                node->kept = again = true;
                mention(sources_[node->source].list, node->begin, node->end, node->holes);
            }
        }
    }

    std::string edited(std::size_t index) const {
        std::string text(texts_[index]);
        const Tokens& source = sources_[index];
        std::vector<std::size_t> insertions;
        for (const auto& node : nodes_.list) {
            if (node->source != index) continue;
            if (!node->kept) {
                blank(text, {source.list[node->begin].offset, source.list[node->end - 1].end()},
                      source.directives);
            } else if (strict_ && node->is_constexpr && !node->device && node->kind == Node::Kind::function) {
                insertions.push_back(head_of(*node));
            }
        }
        std::sort(insertions.rbegin(), insertions.rend());
        for (const std::size_t at : insertions) text.insert(at, "__device__ ");
        return text;
    }

    // The place for a marker: behind template <...>.
    std::size_t head_of(const Node& node) const {
        const auto& tokens = sources_[node.source].list;
        std::size_t i = node.begin;
        while (i < node.head_end && tokens[i].text != "constexpr" && tokens[i].text != "consteval") ++i;
        return tokens[i].offset;
    }

    static void blank(std::string& text, SourceRange range, const std::vector<SourceRange>& directives) {
        auto next =
            std::lower_bound(directives.begin(), directives.end(), range.begin,
                             [](const SourceRange& a, std::size_t offset) { return a.end <= offset; });
        for (std::size_t at = range.begin; at < range.end; ++at) {
            if (next != directives.end() && at >= next->begin) {
                at = next->end - 1;
                ++next;
            } else if (text[at] != '\n') {
                text[at] = ' ';
            }
        }
    }

    const std::vector<std::string_view>& texts_;
    const std::vector<std::string>& named_;
    const bool keeps_unmarked_;  // keeps all of a source without host code
    const bool strict_, drops_named_;
    std::vector<Tokens> sources_;
    DeviceNodes nodes_;
    Words host_methods_, any_, called_, methods_, marked_, kernels_, seen_macros_;
};

}  // namespace

DevicePart device_part(const std::vector<std::string_view>& texts, const std::vector<std::string>& named,
                       HostCode host_code) {
    return Parts(texts, named, host_code).run();
}

}  // namespace cuscope
