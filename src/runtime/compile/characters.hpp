// Which characters C++'s words are made of, as GCC and nvcc take them: "$" and the bytes of UTF-8 are
// letters.
#pragma once

namespace cuscope {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
}
constexpr bool is_word(char c) { return is_word_start(c) || is_digit(c); }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace cuscope
