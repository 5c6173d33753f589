// The rows of a profile, from which cuscope._profiling makes a Profile.
#include <pybind11/stl.h>

#include <utility>

#include "bindings/kernels/launch.hpp"
#include "runtime/launch_profile.hpp"

namespace cuscope::bindings {
namespace {

py::dict row_of(const ProfiledAccess& access, const std::vector<std::string>& names) {
    constexpr std::array kinds{"load", "store", "atomic"};
    py::dict row;
    row["line"] = access.line;
    row["kind"] = kinds[static_cast<std::size_t>(access.kind)];
    row["shared"] = access.shared;
    row["variable"] = access.variable;
    py::list arguments;
    for (const unsigned parameter : access.parameters) {
        const std::string& name = names.at(parameter);
        arguments.append(name.empty() ? std::to_string(parameter) : name);
    }
    row["arguments"] = py::tuple(arguments);
    row["bytes"] = access.bytes;
    row["requests"] = access.requests;
    row["threads"] = access.threads;
    row["sectors"] = access.sectors;
    row["ideal_sectors"] = access.ideal_sectors;
    row["wavefronts"] = access.wavefronts;
    row["ideal_wavefronts"] = access.ideal_wavefronts;
    row["addresses"] = access.addresses;
    row["example_cost"] = access.example.cost;
    row["example_begin"] = access.example.begin;
    row["example_block"] = access.example.block;
    row["example_warp"] = access.example.warp;
    py::list addresses;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if ((access.example.lanes >> lane & 1) != 0)
            addresses.append(static_cast<std::int64_t>(access.example.addresses[lane]));
        else
            addresses.append(py::none());
    }
    row["example"] = py::tuple(addresses);
    return row;
}

py::dict row_of(const ProfiledCode& code) {
    py::dict row;
    row["line"] = code.line;
    row["block"] = code.block;
    row["warps"] = code.warps;
    row["threads"] = code.threads;
    row["instructions"] = code.instructions;
    row["operations32"] = code.operations32;
    row["operations64"] = code.operations64;
    row["branches"] = code.branches;
    row["divergent"] = code.divergent;
    return row;
}

py::object source_of(const core::Kernel& kernel) {
    const CompileRequest* const request = kernel.request();
    if (request == nullptr) return py::none();
    py::dict source;
    source["text"] = request->source;
    source["file_name"] = request->file_name;
    source["options"] = request->options;
    source["include_paths"] = request->include_paths;
    source["headers"] = request->headers;
    source["name_expressions"] = request->name_expressions;
    return source;
}

py::tuple triple(const Dim3& dim) { return py::make_tuple(dim.x, dim.y, dim.z); }

std::uint64_t wanted_blocks(const py::object& blocks) {
    if (blocks.is_none()) return 0;
    const auto wanted = py::reinterpret_steal<py::object>(PyNumber_Index(blocks.ptr()));
    if (!wanted) throw py::error_already_set();
    const long long count = PyLong_AsLongLong(wanted.ptr());
    if (count == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (count < 1)
        throw py::value_error("blocks=" + std::to_string(count) +
                              ": at least 1 block has to be counted; leave it out to count all");
    return static_cast<std::uint64_t>(count);
}

// The launches of this thread are part of a profile, and are not profiled themselves.
thread_local bool in_profile = false;

class InProfile {
  public:
    InProfile() : before_(std::exchange(in_profile, true)) {}
    InProfile(const InProfile&) = delete;
    InProfile& operator=(const InProfile&) = delete;
    ~InProfile() { in_profile = before_; }

  private:
    const bool before_;
};

}  // namespace

py::object profile(const KernelLaunch& launch, const py::tuple& values, const py::object& blocks) {
    const core::Kernel& its = *launch.kernel.get();
    LaunchConfig config = launch.config;
    config.profiled = true;
    config.profiled_blocks = wanted_blocks(blocks);
    const py::module_ module = py::module_::import("cuscope._profiling");
    if (!its.device()->simulated()) {
        const core::StreamPtr on = launch.stream ? launch.stream->open() : core::current_stream(its.device());
        without_gil([&] { its.check_waited_launch(*on, "profile of " + its.name()); });
        const InProfile launches;
        return module.attr("profile_elsewhere")(
            py::cast(launch.kernel.get()), source_of(its), fast_object(KernelLaunch(launch)), values,
            triple(config.grid), triple(config.block), config.dynamic_shared_bytes, blocks);
    }
    Counts counts = count(its, config, launch.stream, values);
    const std::shared_ptr<const LaunchProfile> kept = std::move(counts.counts.profile);
    const LaunchProfile& made = *kept;
    py::dict facts;
    facts["kernel"] = its.name();
    facts["device"] = py::cast(its.device());
    facts["grid"] = triple(config.grid);
    facts["block"] = triple(config.block);
    facts["blocks"] = made.blocks;
    facts["counted_blocks"] = made.counted_blocks;
    facts["source"] = source_of(its);
    py::list accesses, code;
    for (const ProfiledAccess& access : made.accesses) accesses.append(row_of(access, counts.names));
    for (const ProfiledCode& piece : made.code) code.append(row_of(piece));
    facts["accesses"] = accesses;
    facts["code"] = code;
    py::dict different;
    for (const LaunchProfile::Argument& argument : made.arguments) {
        const std::string& name = counts.names.at(argument.parameter);
        different[py::str(name.empty() ? std::to_string(argument.parameter) : name)] =
            argument.different_load_sectors;
    }
    facts["different_load_sectors"] = different;
    facts["time"] = made.time ? py::cast(TimeOfKernel{*made.time, its.name()}) : py::none();
    py::dict peaks;  // in a second
    peaks["dram_bytes"] = made.peaks.dram_bytes * 1e9;
    peaks["l2_bytes"] = made.peaks.l2_bytes * 1e9;
    peaks["operations32"] = made.peaks.operations32 * 1e9;
    peaks["operations64"] = made.peaks.operations64 * 1e9;
    peaks["instructions"] = made.peaks.instructions * 1e9;
    facts["peaks"] = peaks;
    facts["counts"] = py::cast(std::move(counts));
    return module.attr("profile_of")(facts);
}

namespace {

// Set while launches_are_profiled.
struct ProfiledLaunches {
    py::object blocks, taker;
};

class LaunchProfiling {
  public:
    ProfiledLaunches get() {
        const std::lock_guard lock(lock_);
        return {py::reinterpret_borrow<py::object>(blocks_), py::reinterpret_borrow<py::object>(taker_)};
    }
    // Null objects end the profiling.
    void set(ProfiledLaunches wanted) {
        const bool on = wanted.taker.ptr() != nullptr;
        ProfiledLaunches before;
        {
            const std::lock_guard lock(lock_);
            before = {py::reinterpret_steal<py::object>(blocks_), py::reinterpret_steal<py::object>(taker_)};
            blocks_ = wanted.blocks.release().ptr();
            taker_ = wanted.taker.release().ptr();
            detail::launches_are_profiled.store(on, std::memory_order_relaxed);
        }
    }

  private:
    PyObject *blocks_ = nullptr, *taker_ = nullptr;
    [[no_unique_address]] StateLock lock_;
};

constinit LaunchProfiling launch_profiling;

void profile_launches(const py::object& taker, const py::object& blocks) {
    if (!taker.is_none()) wanted_blocks(blocks);
    launch_profiling.set(taker.is_none() ? ProfiledLaunches{} : ProfiledLaunches{blocks, taker});
}

}  // namespace

bool profiled_in_place(const KernelLaunch& launch, const py::tuple& values) {
    if (!detail::launches_are_profiled.load(std::memory_order_relaxed) || in_profile) return false;
    const core::Kernel& kernel = *launch.kernel.get();
    const core::StreamPtr stream =
        launch.stream ? launch.stream->open() : core::current_stream(kernel.device());
    if (kernel.request() == nullptr || stream->capture() != nullptr) return false;
    const auto [blocks, taker] = launch_profiling.get();
    if (!taker) return false;
    const InProfile launches;
    taker(profile(launch, values, blocks));
    return true;
}

void bind_profiles(py::module_& m) {
    m.def("profile_launches", &profile_launches, py::arg("taker"), py::arg("blocks") = py::none(),
          "Profile Python's launches of kernels with source, and give each Profile to the function `taker`. "
          "None ends this. Launches into a stream that is being captured are made as usual.");
}

}  // namespace cuscope::bindings
