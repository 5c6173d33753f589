// The recorder behind cs.trace(), and the ranges of cs.range().
#include <pybind11/stl.h>

#include <map>
#include <string>

#include "bindings/support/objects.hpp"
#include "bindings/tracing/parts.hpp"
#include "core/trace/recording.hpp"
#include "runtime/checking.hpp"
#include "runtime/package_folder.hpp"

namespace cuscope::bindings {

void set_up_lines(std::string package_folder);
void set_range_variable(py::object variable);
void note_range_begun();

namespace {

class Recorder {
  public:
    explicit Recorder(std::size_t most_bytes) : recording_(std::make_shared<core::Recording>(most_bytes)) {}

    void start() const {
        without_gil([&] { recording_->start(); });
        // Only now: another thread that ends the last trace may change it meanwhile.
        detail::want_lines();
    }
    void wait() const {
        without_gil([&] { recording_->wait(); });
    }
    void stop() const {
        without_gil([&] { recording_->stop(); });
        detail::want_lines_no_longer();
    }
    std::map<std::string, std::string> problems() const { return recording_->problems(); }
    static py::typing::Dict<py::str, py::typing::Dict<py::str, py::object>> parts(const py::object& self) {
        py::dict parts;
        for (const auto& [kind, part] : self.cast<const Recorder&>().recording_->parts())
            parts[py::str(kind)] = dict_of_part(part, self);
        return parts;
    }

    std::vector<core::DevicePtr> devices() const {
        std::vector<core::DevicePtr> used = core::known_devices();
        std::erase_if(used, [&](const core::DevicePtr& device) {
            return !device->used() || !recording_->parts().contains(device->kind());
        });
        return used;
    }

  private:
    std::shared_ptr<core::Recording> recording_;
};

// Ranges that have begun, by number.
struct BegunRange {
    std::string text;
    core::DevicePtr device;
    core::Range range;
};

struct BegunRanges {
    std::map<std::uint64_t, BegunRange> by_number;
    [[no_unique_address]] StateLock lock;
};

BegunRanges& begun_ranges() {
    static auto* const ranges = new BegunRanges;
    return *ranges;
}

std::uint64_t begin_range(std::string text) {
    note_range_begun();
    const core::DevicePtr device = core::current_device();
    const core::Range range = core::begin_range(*device);
    BegunRanges& ranges = begun_ranges();
    const std::lock_guard lock(ranges.lock);
    ranges.by_number[range.number] = {std::move(text), device, range};
    return range.number;
}

void end_range(std::uint64_t number) {
    const auto found = [&] {
        BegunRanges& ranges = begun_ranges();
        const std::lock_guard lock(ranges.lock);
        return ranges.by_number.extract(number);
    }();
    if (found.empty()) return;
    const BegunRange& begun = found.mapped();
    core::end_range(*begun.device, begun.range, begun.text);
}

}  // namespace

void bind_tracing(py::module_& m) {
    py::class_<Recorder>(m, "Recorder", "Records the calls and the work of the runtimes in use.")
        .def(py::init<std::size_t>(), py::arg("most_bytes"))
        .def("start", &Recorder::start, "Begin to record.")
        .def("wait", &Recorder::wait, "Wait for the devices, but not for streams that are being captured.")
        .def("stop", &Recorder::stop, "End the recording.")
        .def("devices", &Recorder::devices, "The devices of the recorded runtimes that the program has used.")
        .def("problems", &Recorder::problems,
             "Why the work of a runtime is not recorded as well as it could be, by its kind.")
        .def("parts", &Recorder::parts,
             "The records, by the kind of the runtime. Only after stop(), and only to be read.");
    m.def("begin_range", begin_range, py::arg("text"),
          "Begin a range of the program, and return its number.");
    m.def("end_range", end_range, py::arg("number"), "End a range. A second end does nothing.");
    m.def(
        "set_range_variable", set_range_variable, py::arg("variable"),
        "The context variable whose value has the innermost range: its attribute token, else that of outer.");
    m.def("recording", &core::recording, "Does a trace run?");
    m.def("activity_names", &activity_names, "The names that records refer to, by index.");
    m.def("set_wheel_folders", &set_wheel_folders, py::arg("folders"),
          "The folders named nvidia on Python's path, in which NVIDIA's wheels have their libraries.");
    m.def("set_up_lines", &set_up_lines, py::arg("package_folder"),
          "Lines in files whose path begins like this are not lines of the program.");
}

}  // namespace cuscope::bindings
