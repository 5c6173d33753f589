// A contract whose calls are traced, for tests. It needs no device: on a machine without a GPU, the calls of
// "cuda" fail, and are recorded.
#include <memory>

#include "bindings/testing/contract.hpp"
#include "bindings/tracing/parts.hpp"
#include "runtime/tracing_runtime.hpp"

namespace cuscope::bindings {
namespace {

class TracedContract {
  public:
    explicit TracedContract(const std::string& kind) {
        auto runtime = core::use_runtime(kind);
        if (!runtime) throw std::invalid_argument("'" + kind + "' is no runtime that this build has");
        runtime_ = std::make_shared<TracingRuntime>(
            std::move(runtime), +[] { return std::uint32_t{0}; });
    }

    Contract contract() const { return {runtime_}; }
    core::Recording::Part start(std::size_t most_bytes) const {
        core::Recording::Part part;
        part.log = std::make_shared<ActivityLog>(most_bytes);
        without_gil([&] {
            part.start_ns = runtime_->now_ns();
            part.work = runtime_->start(part.log);
        });
        return part;
    }
    py::dict stop(const py::object& of) const {
        auto& part = of.cast<core::Recording::Part&>();
        without_gil([&] {
            part.end_ns = runtime_->now_ns();
            runtime_->stop(part.log);
        });
        return dict_of_part(part, of);
    }

  private:
    std::shared_ptr<TracingRuntime> runtime_;
};

}  // namespace

void bind_traced_contract(py::module_& m) {
    py::class_<core::Recording::Part>(m, "TracedPart", "The records of one trace of a TracedContract.");
    py::class_<TracedContract>(m, "TracedContract", "A contract whose calls are traced, for tests.")
        .def(py::init<const std::string&>(), py::arg("kind"))
        .def("contract", &TracedContract::contract, "The contract whose calls are traced.")
        .def("start", &TracedContract::start, py::arg("most_bytes") = std::size_t{1} << 24, "Begin a trace.")
        .def("stop", &TracedContract::stop, py::arg("part"), "End a trace, and return its records.");
}

}  // namespace cuscope::bindings
