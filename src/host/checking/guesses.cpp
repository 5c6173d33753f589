#include "host/checking/guesses.hpp"

namespace cuscope::simt {

void Guesses::clear() {
    swaps_.clear();
    others_.clear();
    swapped_.clear();
    found_.clear();
}

void Guesses::add_swap(const ThreadAt& by, cuscope_simt::Stamp code) {
    if (code != 0) swaps_.insert(code);  // 0: the offset is not known
    swapped_.insert(by);
}

void Guesses::read_now(Finding* finding, const ThreadAt& reader) {
    swapped_.erase(reader);
    has_read(finding, reader);
}

void Guesses::settle() {
    for (const Found& found : found_)
        if (found.known && !swapped_.contains(found.reader)) found.finding->severity = Severity::error;
    for (const Found& found : found_) {
        if (found.finding->severity == Severity::error) continue;
        found.finding->advice =
            "The loop around atomicCAS goes on until the value was right, as in the CUDA C++ Programming "
            "Guide: a volatile read says that the race is meant.";
    }
    found_.clear();
}

}  // namespace cuscope::simt
