// Finds the loops of a source again in the assembly that a compiler made of it.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuscope::simt {

// The lines of a loop in the file with this name (without its folder).
struct LoopLines {
    std::string file;
    int first = 0, last = 0;
    unsigned together = 0;  // nvcc interleaves so many iterations; 0: not known
    unsigned rest = 1;      // and so many of the iterations that are left over
    unsigned entry = 0;     // the instructions that find the number of iterations, with a division
};

// Where a load is.
struct LoopPlace {
    const LoopLines* loop = nullptr;  // null: in no loop, or in a function that was inlined into one
    unsigned number = 0;              // equal for all copies of the load
};

// The loads of a basic block.
class LoopLoads {
  public:
    void add(LoopPlace place) {
        Copies& copies = place.loop != nullptr ? in_loop_ : elsewhere_;
        if (copies.count == 0) copies.first = place;
        if (place.number == copies.first.number) ++copies.count;
    }
    // The block ends. Other lines of it are in this loop, if it is not null.
    void end(const LoopLines* around) {
        if (in_loop_.count != 0 || elsewhere_.count == 0 || around == nullptr) return;
        in_loop_ = elsewhere_;
        in_loop_.first.loop = around;
    }
    const LoopLines* loop() const { return in_loop_.first.loop; }
    unsigned number() const { return in_loop_.first.number; }
    // So many executions of the block make so many iterations: Clang makes one block of several iterations.
    unsigned executions(unsigned iterations) const {
        return std::max(1u, iterations / std::max(1u, in_loop_.count));
    }

  private:
    // Of the first load.
    struct Copies {
        LoopPlace first;
        unsigned count = 0;
    };
    Copies in_loop_, elsewhere_;
};

class LoopPlaces {
  public:
    explicit LoopPlaces(const std::vector<LoopLines>& loops) : loops_(loops) {}

    // The operands of the directives .file and .loc.
    void file(std::string_view operands);
    void line(std::string_view operands);
    // A basic block begins at the current line.
    void begin_block() { around_ = loop_; }
    // Of a load at the current line.
    LoopPlace place();
    // The last loop that has a line of the basic block; null if there is none.
    const LoopLines* around() const { return around_; }
    // From 1 on.
    unsigned number(const LoopLines& loop) const { return static_cast<unsigned>(&loop - loops_.data()) + 1; }

  private:
    const std::vector<LoopLines>& loops_;
    std::map<std::string_view, std::vector<const LoopLines*>> of_file_;  // by the number of the file
    std::map<std::string_view, unsigned> numbers_;                       // by file, line and column
    std::string_view place_;                                             // of the current line
    const LoopLines* loop_ = nullptr;                                    // of the current line
    const LoopLines* around_ = nullptr;                                  // of a line of the basic block
};

}  // namespace cuscope::simt
