#include "host/counting/loop_places.hpp"

#include <algorithm>
#include <charconv>

namespace cuscope::simt {
namespace {

// The first words of some operands, and the others.
std::pair<std::string_view, std::string_view> divide(std::string_view text, unsigned words) {
    std::size_t at = 0;
    while (words-- > 0) {
        at = std::min(text.find_first_not_of(" \t", at), text.size());
        at = std::min(text.find_first_of(" \t", at), text.size());
    }
    return {text.substr(0, at), text.substr(std::min(text.find_first_not_of(" \t", at), text.size()))};
}

}  // namespace

// `1 "folder/file"`, or `1 "folder" "file"`
void LoopPlaces::file(std::string_view operands) {
    const std::size_t end = operands.rfind('"');
    if (loops_.empty() || end == std::string_view::npos || end == 0) return;
    const std::size_t begin = operands.find_last_of("/\"", end - 1);
    if (begin == std::string_view::npos) return;
    std::vector<const LoopLines*>& its = of_file_[divide(operands, 1).first];
    its.clear();
    for (const LoopLines& loop : loops_)
        if (loop.file == operands.substr(begin + 1, end - begin - 1)) its.push_back(&loop);
}

// `file line column`, and perhaps more
void LoopPlaces::line(std::string_view operands) {
    const auto [file, others] = divide(operands, 1);
    int line = 0;
    std::from_chars(others.data(), others.data() + others.size(), line);
    if (line == 0) return;  // an instruction of no line, such as a load that stands for two
    place_ = divide(operands, 3).first;
    loop_ = nullptr;
    const auto found = of_file_.find(file);
    if (found == of_file_.end()) return;
    const auto& its = found->second;
    const auto loop = std::find_if(its.rbegin(), its.rend(), [&](const LoopLines* lines) {
        return lines->first <= line && line <= lines->last;
    });
    if (loop == its.rend()) return;
    loop_ = *loop;
    around_ = loop_;
}

LoopPlace LoopPlaces::place() {
    const auto number = static_cast<unsigned>(numbers_.size());
    return {loop_, numbers_.try_emplace(place_, number).first->second};
}

}  // namespace cuscope::simt
