#include "runtime/compile/device_part.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "runtime/compile/launched_instances.hpp"
#include "runtime/compile/source_tokens.hpp"
#include "runtime/compile/source_words.hpp"

namespace cuscope {
namespace {

using Words = std::set<std::string_view>;

constexpr std::size_t none = no_source_token;

// A declaration at namespace scope or in a class. It is kept or dropped as a whole.
struct Node {
    enum class Kind { function, method, special_method, variable, type, other };
    Kind kind = Kind::other;
    std::size_t text = 0;            // index in texts_
    std::size_t begin = 0, end = 0;  // tokens
    std::size_t head_end = 0;        // of a function: the begin of its body, or its end
    std::string scope;               // namespaces: "ns::"
    std::vector<std::string_view> names;
    const Node* owner = nullptr;  // the class that contains it
    bool inner = false;           // a class in another class: kept with that class
    std::string_view class_name;  // for a method that is defined outside of its class
    bool device = false;          // marked for the device, by a word or by a macro
    bool is_kernel = false, is_template = false, is_constexpr = false, is_instantiation = false;
    bool is_constant = false;  // for a variable
    bool kept = false;
    // The methods of a class. They are nodes of their own.
    std::vector<SourceRange> holes;  // tokens
};

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
        for (const std::string_view text : texts_) sources_.push_back(source_tokens(text));
        for (const SourceTokens& source : sources_)
            for (const auto& [name, tokens] : source.macros) note_macro(name, tokens);
        for (text_ = 0; text_ < sources_.size(); ++text_) {
            tokens_ = &sources_[text_].list;
            parse_scope(0, tokens_->size(), "", nullptr);
        }
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
    struct Macro {
        std::vector<SourceToken> tokens;
        bool device = false;
    };

    void note_macro(std::string_view name, const std::vector<SourceToken>& tokens) {
        Macro& macro = macros_[name];
        macro.tokens.insert(macro.tokens.end(), tokens.begin(), tokens.end());
        for (const SourceToken& token : tokens) macro.device |= is_marker(token.text);
    }

    const SourceToken& token(std::size_t i) const {
        static const SourceToken end;
        return i < tokens_->size() ? (*tokens_)[i] : end;
    }
    bool is(std::size_t i, std::string_view text) const {
        return token(i).kind != SourceTokenKind::literal && token(i).text == text;
    }
    bool is_word(std::size_t i) const { return token(i).kind == SourceTokenKind::word; }
    std::size_t partner(std::size_t i) const { return token(i).partner; }

    // Is it a marker for the device, or a macro that expands to one? A macro may expand to another macro.
    bool marks(std::string_view word, int depth = 0) const {
        if (is_marker(word)) return true;
        const auto macro = macros_.find(word);
        if (macro == macros_.end() || depth > 4) return false;
        if (macro->second.device) return true;
        const auto& tokens = macro->second.tokens;
        return tokens.size() == 1 && marks(tokens[0].text, depth + 1);
    }

    std::size_t skip_angles(std::size_t i, std::size_t end) const {
        int depth = 0;
        for (; i < end; ++i) {
            if (is(i, "<")) {
                ++depth;
            } else if (is(i, ">")) {
                if (--depth == 0) return i + 1;
            } else if (is(i, ";") || is(i, "{") || is(i, "}")) {
                return none;
            } else if ((is(i, "(") || is(i, "[")) && partner(i) != none) {
                i = partner(i);
            }
        }
        return none;
    }

    void parse_scope(std::size_t begin, std::size_t end, const std::string& scope, Node* owner) {
        std::size_t i = begin;
        while (i < end) {
            const bool label = owner != nullptr && is(i + 1, ":") &&
                               one_of(token(i).text, {"public", "private", "protected"});
            if (label || is(i, ";") || is(i, "}")) {
                i += label ? 2 : 1;
                continue;
            }
            const std::size_t word = is(i, "inline") && is(i + 1, "namespace") ? i + 1 : i;
            if (is(word, "namespace")) {
                i = parse_namespace(word, end, scope);
            } else if (is(i, "extern") && token(i + 1).kind == SourceTokenKind::literal && is(i + 2, "{") &&
                       partner(i + 2) != none) {
                parse_scope(i + 3, partner(i + 2), scope, owner);
                i = partner(i + 2) + 1;
            } else {
                i = parse_declaration(i, end, scope, owner);
            }
        }
    }

    std::size_t parse_namespace(std::size_t i, std::size_t end, const std::string& scope) {
        const std::size_t begin = i;
        std::string inner = scope;
        for (++i; i < end && !one_of(token(i).text, {"{", ";", "="}); ++i) {
            if ((is(i, "[") || is(i, "(")) && partner(i) != none) {
                i = partner(i);
            } else if (is_word(i) && !one_of(token(i).text, {"inline", "__attribute__"})) {
                inner += std::string(token(i).text) + "::";
            }
        }
        if (is(i, "{") && partner(i) != none) {
            parse_scope(i + 1, partner(i), inner, nullptr);
            return partner(i) + 1;
        }
        while (i < end && !is(i, ";")) ++i;  // an alias
        Node& node =
            add(strict_ ? Node::Kind::type : Node::Kind::other, begin, std::min(i + 1, end), scope, nullptr);
        node.names.push_back(token(begin + 1).text);
        return node.end;
    }

    Node& add(Node::Kind kind, std::size_t begin, std::size_t end, const std::string& scope, Node* owner) {
        nodes_.push_back(std::make_unique<Node>());
        Node& node = *nodes_.back();
        node.kind = kind;
        node.text = text_;
        node.begin = begin;
        node.end = end;
        node.scope = scope;
        node.owner = owner;
        return node;
    }

    std::size_t parse_declaration(std::size_t begin, std::size_t end, const std::string& scope, Node* owner) {
        std::size_t i = begin;
        bool is_template = false, is_instantiation = false;
        while (is(i, "template")) {
            is_template = true;
            if (!is(i + 1, "<")) {
                is_instantiation = true;
                ++i;
                break;
            }
            const std::size_t after = skip_angles(i + 1, end);
            if (after == none) return end;
            i = after;
        }
        const std::size_t start = i;
        std::size_t parameters = none, name = none, class_at = none, class_body = none, body = none;
        bool assigned = false, initializers = false;
        for (; i < end; ++i) {
            if (is(i, ";") || is(i, "}")) break;
            if (is(i, "{")) {
                if (partner(i) == none) return end;
                const bool function = parameters != none && !assigned;
                const bool initializer = initializers && (is_word(i - 1) || is(i - 1, ">"));
                if (function && !initializer) {
                    body = i;
                    i = partner(i);
                    break;
                }
                if (class_at != none && parameters == none && !assigned && class_body == none) class_body = i;
                i = partner(i);
                // A stray block, or a function with a head that was not understood.
                if (class_at == none && !assigned && !initializer && !is(i + 1, ";") && !is(i + 1, ","))
                    break;
            } else if (is(i, "operator") && parameters == none && !assigned) {
                std::size_t open = i + 1;
                if (is(open, "(") && is(open + 1, ")")) open += 2;
                while (open < end && !is(open, "(") && !is(open, ";")) ++open;
                if (!is(open, "(") || partner(open) == none) return end;
                parameters = open;
                name = i;
                i = partner(open);
            } else if (is(i, "(") || is(i, "[")) {
                if (partner(i) == none) return end;
                if (is(i, "(") && parameters == none && !assigned && i > begin) {
                    const bool named = is_word(i - 1) && !takes_parentheses(token(i - 1).text);
                    // MACRO(...) without a semicolon before a declaration.
                    if (named && i - 1 == start && !is(i + 1, "*") && !is(i + 1, "&") && !is_template &&
                        owner == nullptr && !follows_parameters(token(partner(i) + 1).text)) {
                        i = partner(i);
                        const Node& node = add(Node::Kind::other, begin, i + 1, scope, owner);
                        return node.end;
                    }
                    if (named || is(i - 1, ">")) {
                        parameters = i;
                        name = name_before(i, begin);
                    }
                }
                i = partner(i);
            } else if (is(i, "<") && parameters == none && !assigned && i > begin && is_word(i - 1)) {
                const std::size_t after = skip_angles(i, end);
                if (after != none) i = after - 1;
            } else if (is(i, "=")) {
                assigned = true;
            } else if (is(i, ":") && parameters != none) {
                initializers = true;
            } else if (parameters == none && class_at == none && is_class_key(token(i).text)) {
                class_at = i;
            }
        }
        const std::size_t stop = std::min(i + 1, end);
        Node& node = add(Node::Kind::other, begin, stop, scope, owner);
        node.is_template = is_template;
        node.is_instantiation = is_instantiation;
        node.head_end = body != none ? body : stop;
        const bool is_alias = is(start, "typedef") || is(start, "using");
        if (parameters != none && !is_alias) {
            describe_function(node, name, parameters);
        } else if (class_body != none && !is_alias) {
            describe_class(node, class_at, class_body, scope);
        } else if (is(start, "static_assert") || (is(start, "using") && is(start + 1, "namespace"))) {
            node.kind = Node::Kind::other;
        } else {
            if (class_body != none && is(class_at, "enum")) add_enumerators(node, class_body);
            node.kind = is_alias || (class_at != none && stop - class_at <= 3) ? Node::Kind::type
                                                                               : Node::Kind::variable;
            for (std::size_t k = begin; k < stop; ++k) {
                node.device |= is_word(k) && marks(token(k).text);
                node.is_constant |= is(k, "const") || is(k, "constexpr");
            }
            add_names(node, begin, stop);
        }
        return stop;
    }

    std::size_t name_before(std::size_t open, std::size_t begin) const {
        std::size_t i = open - 1;
        if (is(i, ">")) {
            int depth = 0;
            for (; i > begin; --i) {
                if (is(i, ">")) ++depth;
                if (is(i, "<") && --depth == 0) break;
            }
            if (i > begin) --i;
        }
        return i;
    }

    void describe_function(Node& node, std::size_t name, std::size_t parameters) {
        for (std::size_t i = node.begin; i < node.head_end; ++i) {
            if (is_word(i) && marks(token(i).text)) node.device = true;
            if (is(i, "__global__")) node.is_kernel = true;
            if (is(i, "constexpr") || is(i, "consteval")) node.is_constexpr = true;
            if (i == parameters && partner(i) != none) i = partner(i);
        }
        if (!node.is_kernel && node.device) {
            for (std::size_t i = node.begin; i < parameters; ++i) {
                const auto macro = macros_.find(token(i).text);
                if (macro == macros_.end()) continue;
                for (const SourceToken& part : macro->second.tokens)
                    node.is_kernel |= part.text == "__global__";
            }
        }
        node.names.push_back(token(name).text);
        const bool of_class = name >= 2 && is(name - 1, "::") && is_word(name - 2);
        if (of_class && node.owner == nullptr) node.class_name = token(name - 2).text;
        const bool destructor = name >= 1 && is(name - 1, "~");
        node.kind = node.owner != nullptr || of_class ? Node::Kind::method : Node::Kind::function;
        const bool constructor = (node.owner != nullptr && !node.owner->names.empty() &&
                                  node.owner->names[0] == token(name).text) ||
                                 (of_class && token(name - 2).text == token(name).text);
        if (node.kind == Node::Kind::method && (constructor || destructor || is(name, "operator")))
            node.kind = Node::Kind::special_method;
    }

    void describe_class(Node& node, std::size_t class_at, std::size_t body, const std::string& scope) {
        node.kind = Node::Kind::type;
        // The name is the last word before the bases, the arguments of a specialisation, or the body.
        for (std::size_t i = class_at + 1; i < body && !is(i, ":") && !is(i, "<"); ++i) {
            if (is(i, "(") && partner(i) != none) {
                i = partner(i);
            } else if (is_word(i) && !takes_parentheses(token(i).text) && !is(i, "final") &&
                       !is_class_key(token(i).text)) {
                if (node.names.empty()) {
                    node.names.push_back(token(i).text);
                } else {
                    node.names[0] = token(i).text;
                }
            }
        }
        if (is(class_at, "enum")) {
            add_enumerators(node, body);
        } else {
            const std::size_t first = nodes_.size();
            parse_scope(body + 1, partner(body), scope, &node);
            // Only methods are nodes of their own. The other members stay with the class.
            std::size_t kept = first;
            for (std::size_t i = first; i < nodes_.size(); ++i) {
                Node& member = *nodes_[i];
                if (member.owner == &node && member.device) node.device = true;
                const bool method =
                    member.kind == Node::Kind::method || member.kind == Node::Kind::special_method;
                member.inner = !method;
                if (!method) continue;
                node.holes.push_back({member.begin, member.end});
                std::swap(nodes_[kept++], nodes_[i]);
            }
            std::sort(node.holes.begin(), node.holes.end(),
                      [](const SourceRange& a, const SourceRange& b) { return a.begin < b.begin; });
            for (std::size_t i = kept; i < nodes_.size(); ++i) retired_.push_back(std::move(nodes_[i]));
            nodes_.resize(kept);
        }
        add_names(node, partner(body) + 1, node.end);
    }

    void add_enumerators(Node& node, std::size_t body) {
        for (std::size_t i = body + 1; i < partner(body); ++i)
            if (is_word(i)) node.names.push_back(token(i).text);
    }

    // Adds the names of variables, aliases and function types: words before [ , ; = { and (*name).
    void add_names(Node& node, std::size_t begin, std::size_t end) {
        bool value = false;
        for (std::size_t i = begin; i < end; ++i) {
            if (is(i, "=")) value = !is(begin, "using");
            if (is(i, ",")) value = false;
            if (value) {
                if ((is(i, "(") || is(i, "{")) && partner(i) != none) i = partner(i);
                continue;
            }
            if (is(i, "<") && i > begin && is_word(i - 1)) {
                const std::size_t after = skip_angles(i, end);
                if (after != none) i = after;
            }
            if (is_word(i) && one_of(token(i + 1).text, {"[", ",", ";", "=", "{"}))
                node.names.push_back(token(i).text);
            if (is(i, "(") && partner(i) != none) {
                if (is(i + 1, "*") || is(i + 1, "&")) node.names.push_back(token(partner(i) - 1).text);
                if (is_word(i - 1)) node.names.push_back(token(i - 1).text);  // T name(value)
                i = partner(i);
            } else if ((is(i, "{") || is(i, "[")) && partner(i) != none && partner(i) > i) {
                i = partner(i);
            }
        }
    }

    // Does the function do something that only host code does: launch a kernel, call the runtime?
    bool is_for_hosts(const Node& node) const {
        const auto& tokens = sources_[node.text].list;
        for (std::size_t i = node.head_end; i < node.end; ++i) {
            if (tokens[i].kind == SourceTokenKind::literal) continue;
            if (tokens[i].text == "<<<") return true;
            const bool call = i + 1 < tokens.size() && tokens[i + 1].text == "(";
            if (call && tokens[i].kind == SourceTokenKind::word && is_host_call(tokens[i].text)) return true;
            if (tokens[i].text == "std" && i + 2 < tokens.size() && tokens[i + 1].text == "::" &&
                one_of(tokens[i + 2].text, {"cout", "cerr", "clog"}))
                return true;
        }
        return false;
    }

    bool has_host_code() const {
        return std::any_of(nodes_.begin(), nodes_.end(), [this](const auto& node) {
            const bool main = node->kind == Node::Kind::function && node->names[0] == "main";
            return main || (!node->device && node->kind != Node::Kind::type &&
                            (is_for_hosts(*node) || calls_process(*node)));
        });
    }

    bool calls_process(const Node& node) const {
        const auto& tokens = sources_[node.text].list;
        for (std::size_t i = node.head_end; i + 1 < node.end; ++i) {
            const bool member = i > 0 && one_of(tokens[i - 1].text, {".", "->"});
            if (tokens[i].kind == SourceTokenKind::word && tokens[i + 1].text == "(" && !member &&
                is_process_call(tokens[i].text))
                return true;
        }
        return false;
    }

    std::vector<std::string> instances() {
        InstanceFinder finder;
        for (const auto& [name, macro] : macros_) finder.add_constant(name, macro.tokens);
        for (const auto& node : nodes_) {
            const auto& tokens = sources_[node->text].list;
            if (node->kind == Node::Kind::variable) finder.add_constants(tokens, node->begin, node->end);
            if (node->is_kernel && node->is_template && !node->is_instantiation)
                finder.add_template(node->scope, node->names[0]);
        }
        for (const auto& node : nodes_) {
            const bool function = node->kind == Node::Kind::function || node->kind == Node::Kind::method ||
                                  node->kind == Node::Kind::special_method;
            if (function && !node->device)
                finder.find(sources_[node->text].list, node->begin, node->head_end, node->end);
        }
        for (const SourceToken& argument : finder.arguments()) any_.insert(argument.text);
        return finder.instances();
    }

    // A method is left out if it calls a method that is left out.
    bool calls_host_method(const Node& node) const {
        const auto& tokens = sources_[node.text].list;
        for (std::size_t i = node.head_end; i + 1 < node.end; ++i)
            if (tokens[i + 1].text == "(" && host_methods_.count(tokens[i].text) != 0) return true;
        return false;
    }
    void find_host_methods() {
        Words others;  // names that also belong to a function that is not only for hosts
        std::vector<const Node*> methods;
        for (const auto& node : nodes_) {
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
    void mention(const std::vector<SourceToken>& tokens, std::size_t begin, std::size_t end,
                 const std::vector<SourceRange>& holes = {}) {
        std::size_t hole = 0;
        for (std::size_t i = begin; i < end; ++i) {
            if (hole < holes.size() && i == holes[hole].begin) {
                i = holes[hole++].end - 1;
                continue;
            }
            if (tokens[i].kind != SourceTokenKind::word) continue;
            const std::string_view word = tokens[i].text;
            any_.insert(word);
            const std::string_view next = i + 1 < tokens.size() ? tokens[i + 1].text : "";
            const std::string_view before = i > 0 ? tokens[i - 1].text : "";
            const bool member = before == "." || before == "->";
            if (next == "(" || next == "<" || next == ")" || next == "," || before == "&")
                (member ? methods_ : called_).insert(word);
            if (const auto macro = macros_.find(word);
                macro != macros_.end() && seen_macros_.insert(word).second)
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
        const auto& tokens = sources_[node.text].list;
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
        std::vector<SourceTokens> expressions;
        for (const std::string& name : named_) expressions.push_back(source_tokens(name));
        for (const SourceTokens& expression : expressions)
            for (const SourceToken& word : expression.list) any_.insert(word.text);
        for (const auto& node : nodes_) {
            if (!node->device || node->names.empty()) continue;
            if (node->kind == Node::Kind::function) marked_.insert(node->names[0]);
            if (node->is_kernel) kernels_.insert(node->names[0]);
        }
        keep_all([this](const Node& node) { return wanted(node); });
        // A source without host code keeps all its variables, so that the compiler reports an error in any of
        // them.
        if (std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
                return node->kept || node->kind == Node::Kind::variable || node->kind == Node::Kind::type;
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
            for (const auto& node : nodes_) {
                if (node->kept || !wanted_now(*node)) continue;
                node->kept = again = true;
                mention(sources_[node->text].list, node->begin, node->end, node->holes);
            }
        }
    }

    std::string edited(std::size_t index) const {
        std::string text(texts_[index]);
        const SourceTokens& source = sources_[index];
        std::vector<std::size_t> insertions;
        for (const auto& node : nodes_) {
            if (node->text != index) continue;
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
        const auto& tokens = sources_[node.text].list;
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
    std::vector<SourceTokens> sources_;
    std::map<std::string_view, Macro> macros_;
    std::vector<std::unique_ptr<Node>> nodes_, retired_;
    std::size_t text_ = 0;                              // index of the text that is being read
    const std::vector<SourceToken>* tokens_ = nullptr;  // tokens of that text
    Words host_methods_, any_, called_, methods_, marked_, kernels_, seen_macros_;
};

}  // namespace

DevicePart device_part(const std::vector<std::string_view>& texts, const std::vector<std::string>& named,
                       HostCode host_code) {
    return Parts(texts, named, host_code).run();
}

}  // namespace cuscope
