// Several functions as one, for std::visit: overloads{[](const A&) {...}, [](const B&) {...}}.
#pragma once

namespace cuscope {

template <class... Functions>
struct overloads : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
overloads(Functions...) -> overloads<Functions...>;

}  // namespace cuscope
