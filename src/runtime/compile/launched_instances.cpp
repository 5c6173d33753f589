#include "runtime/compile/launched_instances.hpp"

#include <algorithm>
#include <charconv>

namespace cuscope {
namespace {

// The most tokens of a value with the values of its constants. A constant that is defined by itself several
// times (`x = x * x`, in a source with an error) would grow without limit.
constexpr std::size_t most_tokens = 4096;

// Evaluates numbers, + - * / % << >> and parentheses; empty if there is any other token.
class Evaluator {
  public:
    explicit Evaluator(const std::vector<Token>& tokens) : tokens_(tokens) {}

    std::optional<long long> run() {
        const long long value = sum();
        return failed_ || at_ != tokens_.size() ? std::nullopt : std::optional(value);
    }

  private:
    bool take(std::string_view symbol) {
        if (at_ >= tokens_.size() || tokens_[at_].text != symbol) return false;
        ++at_;
        return true;
    }

    long long sum() {
        long long value = product();
        for (;;) {
            if (take("+")) {
                value += product();
            } else if (take("-")) {
                value -= product();
            } else {
                return value;
            }
        }
    }

    long long product() {
        long long value = factor();
        for (;;) {
            const bool divides =
                at_ < tokens_.size() && (tokens_[at_].text == "/" || tokens_[at_].text == "%");
            if (take("*")) {
                value *= factor();
            } else if (divides) {
                const bool rest = tokens_[at_++].text == "%";
                const long long by = factor();
                if (by == 0) failed_ = true;
                if (!failed_) value = rest ? value % by : value / by;
            } else {
                return value;
            }
        }
    }

    long long factor() {
        if (take("-")) return -factor();
        if (take("(")) {
            const long long value = sum();
            if (!take(")")) failed_ = true;
            return value;
        }
        if (at_ >= tokens_.size() || tokens_[at_].kind != TokenKind::number) {
            failed_ = true;
            return 0;
        }
        std::string_view text = tokens_[at_++].text;
        const int base = text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X" ? 16 : 10;
        if (base == 16) text.remove_prefix(2);
        while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos)
            text.remove_suffix(1);
        long long value = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
        const bool octal = base == 10 && text.size() > 1 && text[0] == '0';
        if (read.ec != std::errc() || read.ptr != text.data() + text.size() || octal || value > 1LL << 40)
            failed_ = true;
        return value;
    }

    const std::vector<Token>& tokens_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

std::string joined(const std::vector<Token>& tokens) {
    std::string text;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const bool words =
            i > 0 && tokens[i - 1].kind != TokenKind::symbol && tokens[i].kind != TokenKind::symbol;
        if (words) text += ' ';
        text += tokens[i].text;
        if (tokens[i].text == ",") text += ' ';
    }
    return text;
}

}  // namespace

void InstanceFinder::add_constant(std::string_view name, const std::vector<Token>& value) {
    if (!value.empty()) global_[name] = value;
}

void InstanceFinder::add_constants(const std::vector<Token>& tokens, std::size_t begin, std::size_t end) {
    const bool constant =
        std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                    tokens.begin() + static_cast<std::ptrdiff_t>(end),
                    [](const Token& token) { return token.text == "const" || token.text == "constexpr"; });
    if (constant) read_constants(tokens, begin, end, global_);
}

void InstanceFinder::read_constants(const std::vector<Token>& tokens, std::size_t begin, std::size_t end,
                                    Constants& constants) {
    for (std::size_t i = begin; i + 1 < end; ++i) {
        if (tokens[i].kind != TokenKind::word || tokens[i + 1].text != "=") continue;
        std::vector<Token> value;
        std::size_t k = i + 2;
        for (; k < end && tokens[k].text != "," && tokens[k].text != ";"; ++k) {
            const std::size_t close = tokens[k].partner;
            const std::size_t last = close != no_token && close > k && close < end ? close : k;
            for (; k < last; ++k) value.push_back(tokens[k]);
            value.push_back(tokens[k]);
        }
        // Its value is determined here, because names in it may have another meaning later.
        std::vector<Token> resolved;
        if (std::all_of(value.begin(), value.end(),
                        [&](const Token& part) { return resolve(part, resolved, 0); })) {
            constants[tokens[i].text] = std::move(resolved);
        } else {
            dependent_.insert(tokens[i].text);
        }
        i = k;
    }
}

void InstanceFinder::add_template(const std::string& scope, std::string_view name) {
    std::vector<std::string>& scopes = templates_[name];
    if (std::find(scopes.begin(), scopes.end(), scope) == scopes.end()) scopes.push_back(scope);
}

void InstanceFinder::find(const std::vector<Token>& tokens, std::size_t begin, std::size_t body,
                          std::size_t end) {
    dependent_.clear();
    local_.clear();
    if (tokens[begin].text == "template") {
        for (std::size_t i = begin; i + 1 < body && tokens[i].text != "("; ++i) {
            const std::string_view next = tokens[i + 1].text;
            if (tokens[i].kind == TokenKind::word && (next == "," || next == ">" || next == "="))
                dependent_.insert(tokens[i].text);
        }
    }
    for (std::size_t i = body; i < end; ++i) {
        if (tokens[i].text == "const" || tokens[i].text == "constexpr") {
            std::size_t stop = i;
            while (stop < end && tokens[stop].text != ";" && tokens[stop].text != "{" &&
                   tokens[stop].text != ")") {
                const std::size_t close = tokens[stop].partner;
                stop = close != no_token && close > stop && close < end ? close + 1 : stop + 1;
            }
            read_constants(tokens, i, stop, local_);
        } else if (tokens[i].text == "<<<") {
            launch(tokens, i);
        }
    }
}

bool InstanceFinder::resolve(const Token& token, std::vector<Token>& result, int depth) const {
    if (token.kind == TokenKind::word && depth < 8) {
        if (dependent_.count(token.text) != 0) return false;
        const auto local = local_.find(token.text);
        const auto global = global_.find(token.text);
        if (local != local_.end() || global != global_.end()) {
            const std::vector<Token>& value = local != local_.end() ? local->second : global->second;
            static const Token open{TokenKind::symbol, "("};
            static const Token close{TokenKind::symbol, ")"};
            const bool several = value.size() > 1;
            if (several) result.push_back(open);
            for (const Token& part : value)
                if (!resolve(part, result, depth + 1)) return false;
            if (several) result.push_back(close);
            return true;
        }
    }
    if (result.size() >= most_tokens) return false;
    result.push_back(token);
    return true;
}

std::optional<std::string> InstanceFinder::argument(const std::vector<Token>& tokens, std::size_t begin,
                                                    std::size_t end) const {
    std::vector<Token> resolved;
    for (std::size_t i = begin; i < end; ++i)
        if (!resolve(tokens[i], resolved, 0)) return std::nullopt;
    if (const std::optional<long long> value = Evaluator(resolved).run()) return std::to_string(*value);
    return joined(resolved);
}

// Reads the launch at a `<<<` token.
void InstanceFinder::launch(const std::vector<Token>& tokens, std::size_t at) {
    if (at == 0 || tokens[at - 1].text != ">") return;
    const std::size_t close = at - 1;
    std::size_t open = close;
    for (int depth = 0; open > 0; --open) {
        const Token& token = tokens[open];
        if (token.text == ">") ++depth;
        if (token.text == "<" && --depth == 0) break;
        if (token.text == ";" || token.text == "{") return;
        if (token.partner != no_token && token.partner < open) open = token.partner + 1;
    }
    if (open == 0) return;
    std::size_t first = open - 1;
    const auto known = templates_.find(tokens[first].text);
    if (known == templates_.end()) return;
    std::string qualified;
    while (first >= 2 && tokens[first - 1].text == "::" && tokens[first - 2].kind == TokenKind::word) {
        first -= 2;
        qualified = std::string(tokens[first].text) + "::" + qualified;
    }
    std::string scope = known->second.front();
    for (const std::string& candidate : known->second)
        if (candidate.size() >= qualified.size() &&
            candidate.compare(candidate.size() - qualified.size(), qualified.size(), qualified) == 0)
            scope = candidate;
    std::string name = scope + std::string(known->first) + "<";
    std::size_t begin = open + 1;
    int depth = 0;
    for (std::size_t i = begin; i <= close; ++i) {
        if (i == close || (depth == 0 && tokens[i].text == ",")) {
            const std::optional<std::string> text = argument(tokens, begin, i);
            if (!text) return;
            name += (begin == open + 1 ? "" : ", ") + *text;
            begin = i + 1;
        } else if (tokens[i].text == "<") {
            ++depth;
        } else if (tokens[i].text == ">") {
            --depth;
        } else if (tokens[i].partner != no_token && tokens[i].partner > i) {
            i = tokens[i].partner;
        }
    }
    name += ">";
    arguments_.insert(arguments_.end(), tokens.begin() + static_cast<std::ptrdiff_t>(open),
                      tokens.begin() + static_cast<std::ptrdiff_t>(close));
    if (std::find(instances_.begin(), instances_.end(), name) == instances_.end())
        instances_.push_back(std::move(name));
}

}  // namespace cuscope
