// An image that counts has variables of its own: while it runs they are those of the image that its kernels
// are launched from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/executor/grid.hpp"
#include "host/executor/image.hpp"

namespace cuscope::simt {

class BorrowedVariables {
  public:
    BorrowedVariables(const Image& from, const Image& to);
    // What the kernel changed.
    void put_back() const;

  private:
    struct Side {
        const Image& image;
        ImageFacts facts;
        bool holds(std::uintptr_t address) const;
    };
    struct Variable {
        char* from;
        char* to;
        std::string before;  // as `to` had it when the kernel began
    };
    static bool translate(const Side& from, const Side& to, std::uintptr_t* address);

    const Side from_, to_;
    std::vector<Variable> variables_;
};

}  // namespace cuscope::simt
