// A Python callable that a stream calls.
#pragma once

#include "bindings/support/python.hpp"
#include "core/stream/host_task.hpp"

namespace cuscope::bindings {

class PythonTask final : public core::HostTask {
  public:
    PythonTask(py::object callable, py::tuple arguments, py::dict keywords);
    ~PythonTask() override;
    void run() override;
    std::string name() const override { return name_; }

  private:
    PyObject *callable_, *arguments_, *keywords_;
    std::string name_;
};

}  // namespace cuscope::bindings
