#include "host/effects/host_function.hpp"

#include "host/runtime/machine.hpp"

namespace cuscope::host {

Status make_host_command(Machine& machine, const HostNodeParameters& parameters, Stream& stream,
                         Command** made) {
    if (parameters.function == nullptr) return fail(Status::invalid_value, "the function is null");
    Command* command = machine.begin(stream, Engine::host);
    command->duration = machine.devices[stream.device].model->host_function_ns;
    command->duration_from_effect = true;
    command->observable = true;
    command->effect =
        std::make_shared<HostFunctionEffect>(parameters.function, parameters.data, command->duration);
    *made = command;
    return Status::success;
}

}  // namespace cuscope::host
