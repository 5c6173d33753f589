#include "core/module/module.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "core/graph/capture.hpp"
#include "runtime/compile/signature.hpp"
#include "runtime/process.hpp"
#include "runtime/progress.hpp"

namespace cuscope::core {
namespace {

std::string without_spaces(std::string text) {
    std::erase_if(text, [](unsigned char c) { return c == ' ' || c == '\t' || c == '\n'; });
    return text;
}

std::shared_ptr<Library> load_library(const DevicePtr& device, const std::string& image,
                                      const std::string& origin) {
    LibraryHandle handle = nullptr;
    const RelaxedCapture relaxed(*device);
    const Status status = device->allocate(
        [&] { return device->runtime().library_load_data(&handle, image.data(), image.size()); });
    if (status == Status::not_ready) {
        device->runtime().get_last_error();
        throw Interrupted();
    }
    if (status != Status::success) device->fail(status, "cudaLibraryLoadData", origin, {});
    return std::make_shared<Library>(device, handle);
}

[[noreturn]] void fail_compile(Device& device, Status status, const CompileRequest& request,
                               const std::string& log) {
    if (status == Status::not_ready) {
        device.runtime().get_last_error();
        throw Interrupted();
    }
    const bool timed_out = status == Status::timeout;
    if (log.empty() || (status != Status::invalid_source && status != Status::invalid_value && !timed_out)) {
        device.fail(status, "compiling " + request.file_name, log, {});
    }
    device.runtime().get_last_error();
    throw CompileFailure(status, "compiling " + request.file_name, log,
                         request.file_name +
                             (timed_out ? " was not compiled for " : " does not compile for ") +
                             device.name() + "\n" + log);
}

// "f(int*, float)" of "_Z1fPif".
std::string name_with_parameters(const std::string& lowered) {
    std::string name = demangle(lowered.c_str());
    if (name.starts_with("void ")) name.erase(0, 5);
    return name;
}

// Adds the parameters to the names of kernels that share a name.
void name_overloads(std::vector<KernelDescription>& kernels) {
    std::map<std::string, int> count;
    for (const KernelDescription& kernel : kernels) ++count[kernel.name];
    for (KernelDescription& kernel : kernels) {
        if (count[kernel.name] > 1) kernel.name = name_with_parameters(kernel.lowered);
    }
}

// An instance of a template, which its name alone tells from all other kernels.
bool is_instance(const Kernel& kernel) { return kernel.name().ends_with('>'); }

// The only kernel in the instrumented images of this one; empty: they hold all kernels of the source.
std::string only_kernel(const Kernel& kernel, bool instances_apart) {
    return instances_apart && is_instance(kernel) ? kernel.name() : "";
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (!stream.is_open() || stream.bad()) {
        throw Error(Status::file_not_found, "reading " + path.string(), std::strerror(errno));
    }
    return bytes;
}

std::shared_ptr<Module> Module::compile(const DevicePtr& device, const CompileRequest& request) {
    const DeviceScope scope(*device);
    device->sweep();
    CompileResult result;
    Status status = Status::invalid_source;
    if (const std::size_t nul = request.source.find('\0'); nul != std::string::npos) {
        result.log =
            request.file_name + ": error: character " + std::to_string(nul) + " of the source is null";
    } else {
        const Doing doing({.doing = "compiling " + request.file_name});
        status = device->runtime().compile(request, &result);
    }
    if (status != Status::success) fail_compile(*device, status, request, result.log);
    auto module = std::make_shared<Module>(device);
    module->library_ = load_library(device, result.image, request.file_name);
    name_overloads(result.kernels);
    for (const KernelDescription& description : result.kernels) {
        module->kernels_.push_back(std::make_shared<Kernel>(device, module->library_, description));
    }
    const auto source = std::make_shared<const CompileRequest>(request);
    for (const auto& kernel : module->kernels_) kernel->compiled_from(source);
    if (device->runtime().simulated()) {
        // A source with many instances of templates has much code, which takes long to compile. A program
        // looks into few of them, so each gets images of its own.
        constexpr int most_together = 4;
        const auto instances = std::count_if(module->kernels_.begin(), module->kernels_.end(),
                                             [](const auto& kernel) { return is_instance(*kernel); });
        const bool apart = instances > most_together;
        module->instrument_with(source, apart);
        for (const auto& kernel : module->kernels_)
            kernel->time_with(std::make_unique<KernelTiming>(device, source, only_kernel(*kernel, apart)));
    }
    std::string missing;
    for (const KernelNames& found : find_kernels(request.source)) {
        if (found.is_template) {
            module->templates_.push_back(found.name);
        } else {
            missing += (missing.empty() ? "'" : ", '") + found.name + "'";
        }
    }
    module->image_ = std::move(result.image);
    module->log_ = std::move(result.log);
    if (module->kernels_.empty() && !missing.empty()) {
        module->log_ += request.file_name + ": note: the module has no kernels, but the source has " +
                        missing +
                        ": look at the #if around each of them, which the preprocessor may find false\n";
    }
    module->cached_ = result.cached;
    return module;
}

void Module::instrument_with(const CompileRequest& request) {
    instrument_with(std::make_shared<const CompileRequest>(request), false);
}

void Module::instrument_with(const std::shared_ptr<const CompileRequest>& request, bool instances_apart) {
    const auto image = [&](ImageKind kind, const std::string& only) {
        return std::make_shared<InstrumentedImage>(device_, request, kind, only);
    };
    const auto counting = image(ImageKind::counting, ""), checking = image(ImageKind::checking, "");
    for (const auto& kernel : kernels_) {
        const std::string only = only_kernel(*kernel, instances_apart);
        kernel->count_with(only.empty() ? counting : image(ImageKind::counting, only));
        kernel->check_with(only.empty() ? checking : image(ImageKind::checking, only));
    }
}

void Module::leave_unchecked(const std::string& reason) {
    for (const auto& kernel : kernels_) kernel->leave_unchecked(reason);
}

std::shared_ptr<Module> Module::load(const DevicePtr& device, std::string image, const std::string& origin) {
    const DeviceScope scope(*device);
    device->sweep();
    auto module = std::make_shared<Module>(device);
    module->library_ = load_library(device, image, origin);
    Runtime& runtime = device->runtime();
    unsigned count = 0;
    device->check(runtime.library_get_kernel_count(&count, module->library_->get()),
                  "cudaLibraryGetKernelCount");
    std::vector<KernelHandle> handles(count);
    device->check(runtime.library_enumerate_kernels(handles.data(), count, module->library_->get()),
                  "cudaLibraryEnumerateKernels");
    for (KernelHandle handle : handles) {
        module->kernels_.push_back(std::make_shared<Kernel>(device, module->library_, handle));
    }
    for (const auto& kernel : module->kernels_) {
        const bool overloaded =
            std::count_if(module->kernels_.begin(), module->kernels_.end(), [&](const auto& other) {
                return other->name() == kernel->name() || other->name().starts_with(kernel->name() + "(");
            }) > 1;
        if (overloaded) kernel->name_by_parameters();
    }
    module->image_ = std::move(image);
    return module;
}

std::shared_ptr<Kernel> Module::kernel(const std::string& name) const {
    const std::string wanted = without_spaces(name);
    std::vector<std::shared_ptr<Kernel>> overloads;
    for (const auto& kernel : kernels_) {
        const std::string known = without_spaces(kernel->name());
        if (known == wanted || kernel->lowered() == name) return kernel;
        if (known.substr(0, known.find('(')) == wanted) overloads.push_back(kernel);
    }
    std::ostringstream message;
    if (!overloads.empty()) {
        message << "there are " << overloads.size() << " kernels '" << name
                << "' in this module; name one by its "
                << "parameters, or by its mangled name: ";
        for (std::size_t i = 0; i < overloads.size(); ++i) {
            message << (i ? ", " : "") << "'" << overloads[i]->name() << "' (" << overloads[i]->lowered()
                    << ")";
        }
        throw std::out_of_range(message.str());
    }
    message << "there is no kernel '" << name << "' in this module; ";
    if (kernels_.empty()) {
        message << "it has none (kernels are declared __global__)";
        if (!log_.empty()) message << ". The compiler said:\n" << log_;
    } else {
        message << "it has: ";
        for (std::size_t i = 0; i < kernels_.size(); ++i) message << (i ? ", " : "") << kernels_[i]->name();
    }
    const std::string base = wanted.substr(0, wanted.find('<'));
    if (std::find(templates_.begin(), templates_.end(), base) != templates_.end()) {
        message << ". " << base << " is a template: name its instances, name_expressions=['"
                << (base == wanted ? base + "<float>" : name) << "']";
    }
    throw std::out_of_range(message.str());
}

namespace {

// The mangled name of a variable of a namespace: _ZN1a1xE for a::x. Other names stay as they are.
std::string mangled_variable(const std::string& name) {
    std::string parts;
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos; begin = end + 2) {
        end = name.find("::", begin);
        const std::string part = name.substr(begin, end == std::string::npos ? end : end - begin);
        parts += std::to_string(part.size()) + part;
    }
    return name.find("::") == std::string::npos ? name : "_ZN" + parts + "E";
}

}  // namespace

std::shared_ptr<DeviceMemory> Module::symbol(const std::string& name) const {
    device_->check_generation(library_->generation(), "Module");
    const DeviceScope scope(*device_);
    Runtime& runtime = device_->runtime();
    void* pointer = nullptr;
    std::size_t bytes = 0;
    Status status = Status::symbol_not_found;
    // GPUs know variables of namespaces by their mangled names, simulated devices by their names.
    for (const std::string& known : {name, mangled_variable(name), demangle(name.c_str())}) {
        if (status != Status::symbol_not_found) break;
        status = runtime.library_get_global(&pointer, &bytes, library_->get(), known.c_str());
        if (status == Status::symbol_not_found) runtime.get_last_error();
    }
    if (status == Status::symbol_not_found) {
        throw std::out_of_range("there is no variable '" + name +
                                "' in this module: variables are declared __device__ or __constant__, and "
                                "used by a kernel");
    }
    device_->check(status, "cudaLibraryGetGlobal");
    return DeviceMemory::borrow(device_, pointer, nullptr, bytes, library_, nullptr);
}

Kernel::Kernel(DevicePtr device, std::shared_ptr<Library> library, const KernelDescription& description)
    : device_(std::move(device)),
      library_(std::move(library)),
      name_(description.name),
      lowered_(description.lowered) {
    device_->check(device_->runtime().library_get_kernel(&handle_, library_->get(), lowered_.c_str()),
                   "cudaLibraryGetKernel");
    label_ = interned(name_);
    load_parameters(description.parameters);
}

Kernel::Kernel(DevicePtr device, std::shared_ptr<Library> library, KernelHandle handle)
    : device_(std::move(device)), library_(std::move(library)), handle_(handle) {
    const char* mangled = nullptr;
    device_->check(device_->runtime().func_get_name(&mangled, handle_), "cudaFuncGetName");
    lowered_ = mangled;
    const std::string demangled = demangle(mangled);
    name_ = demangled.substr(0, demangled.find('('));
    // "void scale<float>(float*)": the demangled name of a template's instance begins with its return type.
    if (name_.starts_with("void ")) name_.erase(0, 5);
    label_ = interned(name_);
    load_parameters(demangled == lowered_ ? std::vector<Parameter>{} : parse_parameters(demangled));
}

InstrumentedImage::InstrumentedImage(DevicePtr device, std::shared_ptr<const CompileRequest> request,
                                     ImageKind kind, std::string only)
    : device_(std::move(device)), request_(std::move(request)), kind_(kind), only_(std::move(only)) {}

void KernelTiming::prepare_once(KernelHandle kernel) {
    const char* const choice = std::getenv("CUSCOPE_KERNEL_TIME");
    const std::string_view source = choice == nullptr ? "" : choice;
    if (!source.empty() && source != "counts" && source != "bytes")
        throw std::invalid_argument("CUSCOPE_KERNEL_TIME is '" + std::string(source) +
                                    "': allowed are 'counts' (the default) and 'bytes'");
    if (source != "bytes") {
        CompileRequest request = *request_;
        request.only = only_;
        const DeviceScope scope(*device_);
        const Look looking;
        const Doing doing({.doing = "compiling " + request.file_name + " once more"});
        const Status status = device_->runtime().kernel_time_by_counts(kernel, request);
        if (status != Status::success) device_->runtime().get_last_error();
        if (status == Status::not_ready) throw Interrupted();
    }
    done_.store(true, std::memory_order_release);
}

KernelHandle InstrumentedImage::kernel(const std::string& lowered) {
    const DeviceScope scope(*device_);
    const Look looking;
    // If several threads compile at once, the first one's library is kept. Null asks for the one that is
    // kept.
    const auto keep = [this](const std::shared_ptr<Library>& made) {
        const std::scoped_lock lock(mutex_);
        if (!library_) library_ = made;
        return library_;
    };
    std::shared_ptr<Library> library = keep(nullptr);
    if (!library) {
        // Not under the lock, because compiling takes long and may be interrupted.
        CompileRequest request = *request_;
        request.kind = kind_;
        request.only = only_;
        CompileResult result;
        const Doing doing({.doing = "compiling " + request.file_name + " once more"});
        const Status status = device_->runtime().compile(request, &result);
        if (status != Status::success) fail_compile(*device_, status, request, result.log);
        library = keep(load_library(device_, result.image, request.file_name));
    }
    KernelHandle handle = nullptr;
    device_->check(device_->runtime().library_get_kernel(&handle, library->get(), lowered.c_str()),
                   "cudaLibraryGetKernel");
    return handle;
}

void Kernel::name_by_parameters() {
    name_ = name_with_parameters(lowered_);
    label_ = interned(name_);
}

void Kernel::load_parameters(std::vector<Parameter> known) {
    const bool complete = !known.empty() && std::all_of(known.begin(), known.end(),
                                                        [](const Parameter& p) { return p.size != 0; });
    if (!complete) {
        // The image knows the number and the sizes of the parameters. A signature that disagrees with it is
        // ignored.
        std::vector<std::size_t> sizes;
        std::size_t offset = 0, size = 0;
        Runtime& runtime = device_->runtime();
        while (runtime.func_get_param_info(handle_, sizes.size(), &offset, &size) == Status::success) {
            sizes.push_back(size);
        }
        runtime.get_last_error();  // the loop ends by asking for one parameter too many, which fails
        if (known.size() != sizes.size()) known.assign(sizes.size(), Parameter{});
        for (std::size_t i = 0; i < sizes.size(); ++i) known[i].size = sizes[i];
    }
    for (Parameter& parameter : known) {
        const ElementType element = element_type(parameter.element);
        VectorType vector;
        if (parameter.kind == ParameterKind::opaque) vector = vector_type(parameter.type);
        if (vector.bytes() != parameter.size) vector = {};
        parameters_.push_back({std::move(parameter), element, vector});
    }
}

}  // namespace cuscope::core
