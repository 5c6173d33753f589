// Compiled kernels on disk, private to their user. A directory or file is not used if another user owns it or
// may write it. A damaged file, or one that was written for another key, is not loaded: it counts as absent
// and is written again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/types.hpp"

namespace cuscope {

// `key` holds everything that decides the result of a compilation. The cache hashes it and stores it beside
// the result. CUSCOPE_CACHE_DIR overrides $XDG_CACHE_HOME/cuscope and ~/.cache/cuscope; CUSCOPE_CACHE_DIR=""
// turns the cache off.
std::optional<CompileResult> cache_load(std::string_view key);
// Best effort: a full disk or an unusable directory is not an error. The file is written beside the target
// and then renamed.
void cache_store(std::string_view key, const CompileResult& result) noexcept;
// For info(): the directory in use, or the reason why there is none.
std::string cache_description();

}  // namespace cuscope
