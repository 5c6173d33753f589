// A point in a stream that can be queried later without waiting. It keeps host memory alive until the
// commands enqueued before it have ended.
#pragma once

#include "core/stream/stream.hpp"

namespace cuscope::core {

struct StreamMark {
    StreamPtr stream;             // null: the stream had reached the point at once
    EventHandle event = nullptr;  // null: the stream itself is queried
    unsigned generation = 0;
};

StreamMark mark(const StreamPtr& stream) noexcept;
// Gives the event back once it has happened; do not query the mark again after that. A lost or reset device
// counts as past all marks.
bool is_past(const StreamMark& mark) noexcept;
// Makes later work of the stream `later` wait for the mark, which is not to be queried after that. False: the
// runtime refused.
bool make_wait(const Stream& later, const StreamMark& mark) noexcept;

// Keeps an object alive until the stream has done all the work that it was given so far.
void keep_until_done(const StreamPtr& stream, std::shared_ptr<void> thing);

}  // namespace cuscope::core
