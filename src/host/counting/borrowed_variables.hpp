// An image that counts has its own variables. While it runs, they get the values of the variables of the
// image that was launched.
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
    // Copies the variables that the kernel changed to the launched image.
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
        std::string before;  // the value of `to` when the kernel began
    };
    static bool translate(const Side& from, const Side& to, std::uintptr_t* address);

    const Side from_, to_;
    std::vector<Variable> variables_;
};

}  // namespace cuscope::simt
