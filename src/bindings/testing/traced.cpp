// A contract whose calls are traced, for tests. It needs no device: on a machine without a GPU, the calls of
// "cuda" fail, and are recorded.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>

#include "bindings/testing/contract.hpp"
#include "bindings/tracing/parts.hpp"
#include "runtime/tracing_runtime.hpp"

namespace cuscope::bindings {
namespace {

// Calls a function of the test within each call.
class WithinCalls final : public ForwardingRuntime {
  public:
    WithinCalls(std::shared_ptr<Runtime> under, py::function within)
        : ForwardingRuntime(std::move(under)), within_(std::move(within)) {}

  protected:
    Status around(std::string_view, const StreamHandle*, const Forward& forward) override {
        {
            const py::gil_scoped_acquire gil;
            within_();
        }
        return forward();
    }

  private:
    const py::function within_;
};

class TracedContract {
  public:
    TracedContract(const std::string& kind, std::optional<py::function> within) {
        auto runtime = core::use_runtime(kind);
        if (!runtime) throw std::invalid_argument("'" + kind + "' is no runtime that this build has");
        if (within) runtime = std::make_shared<WithinCalls>(std::move(runtime), std::move(*within));
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
            std::string problem;
            runtime_->stop(part.log, &problem);
            if (part.work.problem.empty()) part.work.problem = std::move(problem);
        });
        return dict_of_part(part, of);
    }

  private:
    std::shared_ptr<TracingRuntime> runtime_;
};

}  // namespace

void bind_traced_contract(py::module_& m) {
    m.def("measure_simulated_work", core::measure_simulated_work,
          "Let traces of simulated devices also measure the work by events, as those of a GPU without CUPTI. "
          "For "
          "tests, before the first trace.");
    py::class_<core::Recording::Part>(m, "TracedPart", "The records of one trace of a TracedContract.");
    py::class_<TracedContract>(m, "TracedContract", "A contract whose calls are traced, for tests.")
        .def(py::init<const std::string&, std::optional<py::function>>(), py::arg("kind"),
             py::arg("within") = py::none())
        .def("contract", &TracedContract::contract, "The contract whose calls are traced.")
        .def("start", &TracedContract::start, py::arg("most_bytes") = std::size_t{1} << 24, "Begin a trace.")
        .def("stop", &TracedContract::stop, py::arg("part"), "End a trace, and return its records.");
}

}  // namespace cuscope::bindings
