// A device whose calls can be made to fail, for tests.
#include "bindings/support/objects.hpp"
#include "bindings/support/status_names.hpp"
#include "runtime/fault_runtime.hpp"

namespace cuscope::bindings {
namespace {

class FaultDevice {
  public:
    explicit FaultDevice(const std::string& name) {
        const core::DevicePtr under = core::find_device(name);
        faults_ = std::make_shared<FaultRuntime>(core::use_runtime(under->kind()));
        device_ = std::make_shared<core::Device>(faults_, under->ordinal(), under->name() + " with faults");
    }

    const core::DevicePtr& device() const { return device_; }
    void fail(const std::string& call, std::uint64_t nth, const std::string& status) const {
        if (!faults_->fail(call, nth, status_of(status))) {
            throw std::invalid_argument("'" + call + "' is no method of the contract, or nth is 0");
        }
    }
    std::uint64_t calls(const std::string& call) const {
        if (!FaultRuntime::is_method(call)) {
            throw std::invalid_argument("'" + call + "' is no method of the contract");
        }
        return faults_->calls(call);
    }
    void clear() const { faults_->clear(); }

  private:
    std::shared_ptr<FaultRuntime> faults_;
    core::DevicePtr device_;
};

}  // namespace

Status status_of(const std::string& wanted) {
    for (int number = 0; number < 1000; ++number) {
        if (wanted == name(static_cast<Status>(number))) return static_cast<Status>(number);
    }
    throw std::invalid_argument("'" + wanted + "' is no status; they are named as cudaError_t is");
}

void bind_faults(py::module_& m) {
    py::class_<FaultDevice>(m, "FaultDevice", "A device whose calls can be made to fail.")
        .def(py::init<const std::string&>(), py::arg("name"))
        .def_property_readonly("device", &FaultDevice::device)
        .def("fail", &FaultDevice::fail, py::arg("call"), py::arg("nth"), py::arg("status"),
             "Let the nth call of a method from now on fail, once.")
        .def("calls", &FaultDevice::calls, py::arg("call"), "How often a method was called.")
        .def("clear", &FaultDevice::clear, "Forget the faults and the counts.");
}

}  // namespace cuscope::bindings
