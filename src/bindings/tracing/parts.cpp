#include "bindings/tracing/parts.hpp"

#include <pybind11/numpy.h>

#include <cstdint>
#include <vector>

namespace cuscope::bindings {
namespace {

// The records as they lie.
template <class Record>
py::array view_of(const RecordArray<Record>& records, const py::object& owner) {
    const auto bytes = static_cast<py::ssize_t>(records.size() * sizeof(Record));
    return py::array(py::dtype::of<std::uint8_t>(), {bytes}, {py::ssize_t{1}}, records.data(), owner);
}

const char* name_of(WorkSource source) {
    switch (source) {
        case WorkSource::simulation:
            return "simulation";
        case WorkSource::cupti:
            return "cupti";
        case WorkSource::events:
            return "events";
        default:
            return "calls";
    }
}

}  // namespace

py::dict dict_of_part(const core::Recording::Part& part, const py::object& owner) {
    py::list streams;
    for (const StreamRecord& stream : part.log->streams) {
        streams.append(py::make_tuple(stream.id, stream.device, stream.priority, stream.blocking,
                                      stream.legacy, stream.per_thread));
    }
    py::dict about;
    about["start"] = part.start_ns;
    about["end"] = part.end_ns;
    about["work"] = view_of(part.log->work, owner);
    about["host"] = view_of(part.log->host, owner);
    about["streams"] = streams;
    about["dropped"] = part.log->dropped;
    about["source"] = name_of(part.work.source);
    about["problem"] = part.work.problem;
    return about;
}

}  // namespace cuscope::bindings
