// SHA-256 of a string. It names cache entries, and proves that an entry is complete. Not meant for large
// data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace cuscope {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);
std::string hex(const Sha256& digest);

}  // namespace cuscope
