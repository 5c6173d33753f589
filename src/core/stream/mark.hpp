// A point in a stream that is asked for later without waiting: how host memory stays alive until what was
// enqueued on it has ended.
#pragma once

#include "core/stream/stream.hpp"

namespace cuscope::core {

struct StreamMark {
    StreamPtr stream;             // null: it was past that at once
    EventHandle event = nullptr;  // null: the stream itself is asked
    unsigned generation = 0;
};

StreamMark mark(const StreamPtr& stream) noexcept;
// Gives the event back once it has happened; not to be asked again after that. A device that is lost or was
// reset is past everything.
bool is_past(const StreamMark& mark) noexcept;
// Orders what `later` is given from now on behind the mark, which is not to be asked after that. False:
// refused.
bool make_wait(const Stream& later, const StreamMark& mark) noexcept;

// Keeps something until the stream has done all that it was given so far.
void keep_until_done(const StreamPtr& stream, std::shared_ptr<void> thing);

}  // namespace cuscope::core
