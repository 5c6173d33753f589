// Compiled kernels on disk, private to their user. A directory or file that somebody else owns or may write
// is not used; a file that is damaged, or written for another key, is not loaded: it counts as absent and is
// written again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/types.hpp"

namespace cuscope {

// Everything that decides what a compilation gives, in one string; the cache hashes it and stores it beside
// the result. CUSCOPE_CACHE_DIR overrides $XDG_CACHE_HOME/cuscope and ~/.cache/cuscope; CUSCOPE_CACHE_DIR=""
// turns the cache off.
std::optional<CompileResult> cache_load(std::string_view key);
// Best effort: a full disk or an unusable directory is no error. Written beside the target and renamed.
void cache_store(std::string_view key, const CompileResult& result) noexcept;
// For info(): the directory in use, or why there is none.
std::string cache_description();

}  // namespace cuscope
