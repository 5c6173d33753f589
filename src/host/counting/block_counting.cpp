// The part of a block that feeds the recorder in a counted launch.
#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "host/counting/recorder.hpp"
#include "host/executor/block.hpp"
#include "host/executor/grid.hpp"

namespace cuscope_simt {

using cuscope::simt::Recorder;
using cuscope::simt::Stretch;

void Block::attach_recorder() { attach_recorder(*grid->launch().counting); }

void Block::attach_recorder(const cuscope::simt::Counting& counting) {
    const cuscope::simt::ImageFacts& facts = image_->facts();
    const auto between = [](const char* begin, const char* end) {
        return Stretch(begin, static_cast<std::size_t>(end - begin));
    };
    Recorder::Setting setting;
    setting.counting = &counting;
    setting.image_object = image_;
    setting.code = between(facts.code_begin, facts.code_end);
    setting.image = between(facts.image_begin, facts.image_end);
    if (static_shared_bytes_ != 0) setting.static_shared = {static_shared_, static_shared_bytes_};
    setting.dynamic_shared = {prototype_.dynamic_shared, prototype_.dynamic_shared_bytes};
    setting.threads = thread_count_;
    setting.profile = counting.profile.get();
    recorder_ = std::make_unique<Recorder>();
    recorder_->begin(std::move(setting));
    prototype_.count = recorder_->state();
}

// While nothing is counted, the code of an image that counts still writes somewhere.
void Block::make_idle() {
    if ((image_->table().flags & counts_accesses) == 0) return;
    idle_ = std::make_unique<cuscope::simt::ZeroMemory>();
    idle_->make(cuscope::simt::idle_bytes(image_->table()));
    prototype_.steps = prototype_.accesses = idle_->data();
}

void Block::detach_recorder() {
    grid->launch().counting->add(recorder_->sums());
    recorder_->add_lines();
    recorder_.reset();
    prototype_.count = nullptr;
}

void Block::begin_sample(cuscope::simt::Sampling& sampling) {
    if (grid->launch().counting == nullptr) {
        use_image(sampling.image(), sampling.kernel());
        attach_recorder(sampling.counting());
    }
    recorder_->begin_profile(sampling.most_events());
}

void Block::end_sample(cuscope::simt::Sampling& sampling, std::uint64_t index, bool ended) {
    cuscope::simt::BlockProfile profile = recorder_->end_profile(index);
    if (ended) sampling.add(std::move(profile));
    if (grid->launch().counting != nullptr) return;
    sampling.add(*recorder_);
    recorder_.reset();
    prototype_.count = nullptr;
    use_image(*grid->launch().image, *grid->launch().kernel);
}

CUSCOPE_ON_FIBER void Block::leave_without_memory(Strand* self) {
    failure_ = {Status::memory_allocation, "no memory for the counts of a kernel"};
    leave(self);
}

CUSCOPE_ON_FIBER void Block::access(Strand* self, const void* address, unsigned bytes, Access access,
                                    const void* instruction) {
    bool found = true;
    std::uint32_t site = 0;
    try {
        site = recorder_->access_site(static_cast<const char*>(instruction), bytes, access);
    } catch (const std::bad_alloc&) {
        found = false;
    }
    if (!found) leave_without_memory(self);
    record_access(self, address, site);
}

CUSCOPE_ON_FIBER void Block::access_at(Strand* self, const void* address, unsigned entry) {
    record_access(self, address, recorder_->access_site(entry));
}

CUSCOPE_ON_FIBER void Block::record_access(Strand* self, const void* address, std::uint32_t site) {
    const unsigned thread = self->linear_thread;
    if (recorder_->lacks_room(thread, site)) let_catch_up(self);
    bool recorded = true;
    try {
        recorder_->access(thread, site, reinterpret_cast<std::uintptr_t>(address));
    } catch (const std::bad_alloc&) {
        recorded = false;
    }
    if (!recorded) leave_without_memory(self);
    if (recorder_->far_ahead(thread)) let_catch_up(self);
}

CUSCOPE_ON_FIBER void Block::step(Strand* self, const void* instruction) {
    bool recorded = true;
    try {
        recorder_->step(self->linear_thread, recorder_->step_site(static_cast<const char*>(instruction)));
    } catch (const std::bad_alloc&) {
        recorded = false;
    }
    if (!recorded) leave_without_memory(self);
}

CUSCOPE_ON_FIBER void Block::step_at(Strand* self, unsigned entry) {
    bool recorded = true;
    try {
        recorder_->step(self->linear_thread, recorder_->step_site(entry));
    } catch (const std::bad_alloc&) {
        recorded = false;
    }
    if (!recorded) leave_without_memory(self);
}

CUSCOPE_ON_FIBER void Block::begin_warp(Strand* self) {
    bool begun = true;
    try {
        recorder_->begin_warp(self->warp_index(), used_ == 1);
    } catch (const std::bad_alloc&) {
        begun = false;
    }
    if (!begun) leave_without_memory(self);
}

CUSCOPE_ON_FIBER void Block::let_catch_up(Strand* self) {
    if (grid->must_leave()) leave(self);
    recorder_->caught_up(self->linear_thread);
    if (next_thread_ < thread_count_) {
        ready_.push(self);
        switch_to(self, fresh());
    } else if (!ready_.empty()) {
        ready_.push(self);
        switch_to(self, ready_.pop());
    }
    const unsigned warp = self->warp_index();
    if (recorder_->crowded(warp)) recorder_->settle_common(warp, going_on(warp));
}

// The lanes of a warp that may still run before the block's threads meet.
unsigned Block::going_on(unsigned warp) const {
    unsigned lanes = 0;
    for (unsigned i = 0; i < used_; ++i) {
        const Strand& strand = *strands_[i];
        if (strand.warp_index() != warp || strand.wait == Strand::Wait::ended ||
            strand.wait == Strand::Wait::barrier)
            continue;
        lanes |= 1u << strand.lane();
    }
    return lanes;
}

// Lanes of a warp have met. If all other lanes have ended, the whole warp has met.
void Block::record_meeting(unsigned warp, unsigned mask) {
    const unsigned end = std::min(thread_count_, warp * 32 + 32);
    const bool all = static_cast<unsigned>(std::popcount(mask)) == end - warp * 32;
    if (all || (next_thread_ >= end && (going_on(warp) & ~mask) == 0)) recorder_->meet(warp);
}

}  // namespace cuscope_simt
