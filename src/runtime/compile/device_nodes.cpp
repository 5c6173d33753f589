#include "runtime/compile/device_nodes.hpp"

#include <algorithm>
#include <utility>

#include "runtime/compile/declarations.hpp"
#include "runtime/compile/source_words.hpp"

namespace cuscope {
namespace {

using Node = DeviceNode;

class NodeReader {
  public:
    explicit NodeReader(const std::vector<Tokens>& sources) : sources_(sources) {}

    DeviceNodes run() {
        for (const Tokens& source : sources_)
            for (const auto& [name, tokens] : source.macros) note_macro(name, tokens);
        for (source_ = 0; source_ < sources_.size(); ++source_) {
            tokens_ = &sources_[source_].list;
            const Declarations declarations(*tokens_);
            declarations_ = &declarations;
            for (const Declaration& declaration : declarations.list()) read(declaration, nullptr);
        }
        return std::move(result_);
    }

  private:
    void note_macro(std::string_view name, const std::vector<Token>& tokens) {
        DeviceNodes::Macro& macro = result_.macros[name];
        macro.tokens.insert(macro.tokens.end(), tokens.begin(), tokens.end());
        for (const Token& token : tokens) macro.device |= is_marker(token.text);
    }

    const Token& token(std::size_t i) const {
        static const Token end;
        return i < tokens_->size() ? (*tokens_)[i] : end;
    }
    bool is(std::size_t i, std::string_view text) const { return token(i).is(text); }
    bool is_word(std::size_t i) const { return token(i).is_word(); }
    std::size_t partner(std::size_t i) const { return token(i).partner; }

    // Is it a marker for the device, or a macro that expands to one? A macro may expand to another macro.
    bool marks(std::string_view word, int depth = 0) const {
        if (is_marker(word)) return true;
        const auto macro = result_.macros.find(word);
        if (macro == result_.macros.end() || depth > 4) return false;
        if (macro->second.device) return true;
        const auto& tokens = macro->second.tokens;
        return tokens.size() == 1 && marks(tokens[0].text, depth + 1);
    }

    void read(const Declaration& declaration, const Node* owner) {
        result_.list.push_back(std::make_unique<Node>());
        Node& node = *result_.list.back();
        node.source = source_;
        node.begin = declaration.begin;
        node.end = declaration.end;
        node.head_end = declaration.body != no_token ? declaration.body : declaration.end;
        node.scope = declaration.scope;
        node.owner = owner;
        node.is_instantiation = declaration.is_explicit_instantiation;
        node.is_template = declaration.specifiers > declaration.begin;
        switch (declaration.kind) {
            case Declaration::Kind::macro:
                break;
            case Declaration::Kind::namespace_alias:
                node.kind = Node::Kind::namespace_alias;
                node.names.push_back(token(declaration.begin + 1).text);
                break;
            case Declaration::Kind::function:
                describe_function(node, declaration.last_name, declaration.parameters);
                break;
            case Declaration::Kind::other:
                describe_other(node, declaration);
                break;
        }
    }

    void describe_function(Node& node, std::size_t name, std::size_t parameters) {
        for (std::size_t i = node.begin; i < node.head_end; ++i) {
            if (is_word(i) && marks(token(i).text)) node.device = true;
            if (is(i, "__global__")) node.is_kernel = true;
            if (is(i, "constexpr") || is(i, "consteval")) node.is_constexpr = true;
            if (i == parameters && partner(i) != no_token) i = partner(i);
        }
        if (!node.is_kernel && node.device) {
            for (std::size_t i = node.begin; i < parameters; ++i) {
                const auto macro = result_.macros.find(token(i).text);
                if (macro == result_.macros.end()) continue;
                for (const Token& part : macro->second.tokens) node.is_kernel |= part.is("__global__");
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

    void describe_other(Node& node, const Declaration& declaration) {
        const std::size_t first = declaration.specifiers;
        const bool is_alias = is(first, "typedef") || is(first, "using");
        if (declaration.class_body != no_token && !is_alias) return describe_class(node, declaration);
        if (is(first, "static_assert") || (is(first, "using") && is(first + 1, "namespace"))) return;
        if (declaration.class_body != no_token && is(declaration.class_key, "enum"))
            add_enumerators(node, declaration.class_body);
        const bool is_forward =
            declaration.class_key != no_token && node.end - declaration.class_key <= 3;  // struct name;
        node.kind = is_alias || is_forward ? Node::Kind::type : Node::Kind::variable;
        for (std::size_t i = node.begin; i < node.end; ++i) {
            node.device |= is_word(i) && marks(token(i).text);
            node.is_constant |= is(i, "const") || is(i, "constexpr");
        }
        add_names(node, node.begin, node.end);
    }

    void describe_class(Node& node, const Declaration& declaration) {
        const std::size_t key = declaration.class_key, body = declaration.class_body;
        node.kind = Node::Kind::type;
        // The name is the last word before the bases, the arguments of a specialisation, or the body.
        for (std::size_t i = key + 1; i < body && !is(i, ":") && !is(i, "<"); ++i) {
            if (is(i, "(") && partner(i) != no_token) {
                i = partner(i);
            } else if (is_word(i) && !takes_parentheses(token(i).text) && !is(i, "final") &&
                       !is_class_key(token(i).text)) {
                node.names.assign(1, token(i).text);
            }
        }
        if (is(key, "enum")) {
            add_enumerators(node, body);
        } else {
            add_members(node, declaration);
        }
        add_names(node, partner(body) + 1, node.end);
    }

    void add_members(Node& node, const Declaration& declaration) {
        auto& list = result_.list;
        const std::size_t first = list.size();
        for (const Declaration& member : declarations_->members(declaration)) read(member, &node);
        // Only methods are nodes of their own. The other members stay with the class.
        std::size_t kept = first;
        for (std::size_t i = first; i < list.size(); ++i) {
            Node& member = *list[i];
            if (member.owner == &node && member.device) node.device = true;
            const bool method =
                member.kind == Node::Kind::method || member.kind == Node::Kind::special_method;
            member.inner = !method;
            if (!method) continue;
            node.holes.push_back({member.begin, member.end});
            std::swap(list[kept++], list[i]);
        }
        std::sort(node.holes.begin(), node.holes.end(),
                  [](const SourceRange& a, const SourceRange& b) { return a.begin < b.begin; });
        for (std::size_t i = kept; i < list.size(); ++i) result_.inner.push_back(std::move(list[i]));
        list.resize(kept);
    }

    void add_enumerators(Node& node, std::size_t body) const {
        for (std::size_t i = body + 1; i < partner(body); ++i)
            if (is_word(i)) node.names.push_back(token(i).text);
    }

    // Adds the names of variables, aliases and function types: words before [ , ; = { and (*name).
    void add_names(Node& node, std::size_t begin, std::size_t end) const {
        bool value = false;
        for (std::size_t i = begin; i < end; ++i) {
            if (is(i, "=")) value = !is(begin, "using");
            if (is(i, ",")) value = false;
            if (value) {
                if ((is(i, "(") || is(i, "{")) && partner(i) != no_token) i = partner(i);
                continue;
            }
            if (is(i, "<") && i > begin && is_word(i - 1)) {
                const std::size_t after = declarations_->skip_angles(i, end);
                if (after != no_token) i = after;
            }
            if (is_word(i) && one_of(token(i + 1).text, {"[", ",", ";", "=", "{"}))
                node.names.push_back(token(i).text);
            if (is(i, "(") && partner(i) != no_token) {
                if (is(i + 1, "*") || is(i + 1, "&")) node.names.push_back(token(partner(i) - 1).text);
                if (is_word(i - 1)) node.names.push_back(token(i - 1).text);  // T name(value)
                i = partner(i);
            } else if ((is(i, "{") || is(i, "[")) && partner(i) != no_token && partner(i) > i) {
                i = partner(i);
            }
        }
    }

    const std::vector<Tokens>& sources_;
    std::size_t source_ = 0;                      // index of the source that is being read
    const std::vector<Token>* tokens_ = nullptr;  // its tokens
    const Declarations* declarations_ = nullptr;
    DeviceNodes result_;
};

}  // namespace

DeviceNodes device_nodes(const std::vector<Tokens>& sources) { return NodeReader(sources).run(); }

}  // namespace cuscope
