#include "host/compiler/letters.hpp"

#include <cstdlib>
#include <vector>

#include "runtime/compile/tokens.hpp"

namespace cuscope::simt {

std::string with_letters(const std::string& text) {
    if (text.find("\\U000") == std::string::npos) return text;
    std::string result;
    const std::vector<Token> tokens = tokenize(text).list;
    std::size_t at = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::size_t offset = tokens[i].offset;
        if (tokens[i].text != "\\" || offset + 10 > text.size() || text[offset + 1] != 'U') continue;
        const auto code =
            static_cast<unsigned>(std::strtoul(text.substr(offset + 2, 8).c_str(), nullptr, 16));
        result += text.substr(at, offset - at);
        at = offset + 10;
        const auto add = [&result](unsigned byte) { result += static_cast<char>(byte); };
        if (code < 0x800) {
            add(0xc0 | code >> 6);
        } else {
            if (code < 0x10000) {
                add(0xe0 | code >> 12);
            } else {
                add(0xf0 | code >> 18);
                add(0x80 | (code >> 12 & 0x3f));
            }
            add(0x80 | (code >> 6 & 0x3f));
        }
        add(0x80 | (code & 0x3f));
    }
    return result + text.substr(at);
}

}  // namespace cuscope::simt
