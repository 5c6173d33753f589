// The recorder behind cs.trace(), and the ranges of cs.range().
#include <pybind11/stl.h>

#include <cstring>

#include "bindings/support/objects.hpp"
#include "core/trace/recording.hpp"

namespace cuscope::bindings {

void set_up_lines(std::string package_folder);

namespace {

template <class Record>
py::bytes bytes_of(const std::vector<Record>& records) {
    return {reinterpret_cast<const char*>(records.data()), records.size() * sizeof(Record)};
}

class Recorder {
  public:
    explicit Recorder(std::size_t most_bytes) : recording_(std::make_shared<core::Recording>(most_bytes)) {}

    void start() const {
        detail::lines_wanted = true;
        try {
            without_gil([&] { recording_->start(); });
        } catch (...) {
            detail::lines_wanted = core::recording();
            throw;
        }
    }
    void wait() const {
        without_gil([&] { recording_->wait(); });
    }
    void stop() const {
        without_gil([&] { recording_->stop(); });
        detail::lines_wanted = core::recording();
    }
    py::typing::Dict<py::str, py::typing::Dict<py::str, py::object>> parts() const {
        py::dict parts;
        for (const auto& [kind, part] : recording_->parts()) {
            py::list streams;
            for (const StreamRecord& stream : part.log->streams) {
                streams.append(py::make_tuple(stream.id, stream.device, stream.priority, stream.blocking,
                                              stream.legacy, stream.per_thread));
            }
            py::dict about;
            about["start"] = part.start_ns;
            about["end"] = part.end_ns;
            about["work"] = bytes_of(part.log->work);
            about["host"] = bytes_of(part.log->host);
            about["streams"] = streams;
            about["dropped"] = part.log->dropped;
            parts[py::str(kind)] = about;
        }
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

// A range of the program that has begun.
class BegunRange {
  public:
    explicit BegunRange(std::string text)
        : text_(std::move(text)), device_(core::current_device()), range_(core::begin_range(*device_)) {}
    void end() {
        core::end_range(*device_, range_, text_);
        range_ = {};
    }

  private:
    std::string text_;
    core::DevicePtr device_;
    core::Range range_;
};

}  // namespace

void bind_tracing(py::module_& m) {
    py::class_<Recorder>(m, "Recorder", "Records the calls and the work of the runtimes in use.")
        .def(py::init<std::size_t>(), py::arg("most_bytes"))
        .def("start", &Recorder::start, "Begin to record.")
        .def("wait", &Recorder::wait, "Wait for the devices, unless a stream is being captured.")
        .def("stop", &Recorder::stop, "End the recording.")
        .def("devices", &Recorder::devices, "The devices of the recorded runtimes that the program has used.")
        .def("parts", &Recorder::parts, "The records, by the kind of the runtime. Only after stop().");
    py::class_<BegunRange>(m, "BegunRange", "A range of the program, which begins when this is made.")
        .def(py::init<std::string>(), py::arg("text"))
        .def("end", &BegunRange::end, "End the range. A second end does nothing.");
    m.def("recording", &core::recording, "Does a trace run?");
    m.def("activity_names", &names, "The names that records refer to, by index.");
    m.def("set_up_lines", &set_up_lines, py::arg("package_folder"),
          "Lines in files whose path begins like this are not lines of the program.");
}

}  // namespace cuscope::bindings
