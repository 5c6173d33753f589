#include "host/compiler/source_edits.hpp"

#include <algorithm>

namespace cuscope::simt {

void SourceEdits::insert(std::size_t offset, std::string text) {
    edits_.push_back({offset, 0, std::move(text)});
}

void SourceEdits::replace(std::size_t first, std::size_t last, std::string text) {
    const std::size_t offset = tokens_[first].offset, length = tokens_[last].end() - offset;
    const std::string_view old = text_.substr(offset, length);
    // `n%blockDim.x`: a ':' behind '%' or '<' would make "%:" or "<:", which mean "#" and "[".
    if (text[0] == ':' && offset > 0 &&
        std::string_view("%<:").find(text_[offset - 1]) != std::string_view::npos)
        text.insert(0, 1, ' ');
    text.append(static_cast<std::size_t>(std::count(old.begin(), old.end(), '\n')), '\n');
    edits_.push_back({offset, length, std::move(text)});
}

std::string SourceEdits::edited_tokens(std::size_t begin, std::size_t end) const {
    std::string result;
    for (std::size_t i = begin; i < end; ++i) {
        if (i > begin && tokens_[i - 1].end() != tokens_[i].offset) result += ' ';
        const std::size_t offset = tokens_[i].offset;
        const auto edit = std::find_if(edits_.begin(), edits_.end(), [offset](const Edit& made) {
            return made.offset == offset && made.length != 0;
        });
        result += edit == edits_.end() ? std::string(tokens_[i].text) : edit->text;
        while (edit != edits_.end() && i + 1 < end && tokens_[i + 1].offset < offset + edit->length) ++i;
    }
    std::replace(result.begin(), result.end(), '\n', ' ');
    return result;
}

std::string SourceEdits::edited_text() {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
        return a.offset != b.offset ? a.offset < b.offset : a.length == 0 && b.length != 0;
    });
    std::string result;
    result.reserve(text_.size() + 64 * edits_.size());
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
        if (edit.offset < at) continue;
        result += text_.substr(at, edit.offset - at);
        result += edit.text;
        at = edit.offset + edit.length;
    }
    result += text_.substr(at);
    return result;
}

}  // namespace cuscope::simt
