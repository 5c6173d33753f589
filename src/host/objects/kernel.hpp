// Kernels of the host runtime: their settings on each device, and which launches they allow. Private to
// src/host.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "host/executor/image.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::host {

struct Device;
struct KernelShapes;
struct LaunchRequest;
struct Library;

struct Kernel {
    // The settings that func_set_attribute changes.
    struct Settings {
        int max_dynamic_shared = -1;  // -1: not set
        int carveout = -1;            // per cent; -1: no preference
        Dim3 cluster{0, 0, 0};        // required size; all zero: none
        int cluster_scheduling_policy = 0;
        bool non_portable_cluster = false;
    };

    Library* library;
    std::string lowered;
    std::map<int, Settings> settings;  // by device; only devices with a setting
    KernelHandle checked = nullptr;    // the kernel in an image that checks; it may be gone
    std::uint32_t activity_name = 0;   // an index into activity_names(); 0: not launched yet
    // By device: the image that counts the kernel's instructions and accesses, and the times of the shapes of
    // its launches. On a device without such an image, times come from the bytes of the arguments.
    std::map<int, std::shared_ptr<simt::Image>> counting{};
    std::map<int, std::shared_ptr<KernelShapes>> shapes{};
};

// A kernel on the thread's current device, where its code is loaded.
struct LoadedKernel {
    int max_dynamic_shared() const;
    int max_cluster_blocks() const;
    FunctionAttributes attributes() const;
    Status set_attribute(FunctionAttribute attribute, int value) const;

    // Refuses a grid, a block or shared memory that the kernel does not allow.
    Status check_launch(const LaunchConfig& config) const;
    // Finds the clusters of a launch, and how many of its blocks a multiprocessor holds.
    Status resolve(const LaunchConfig& config, LaunchRequest* request) const;
    // Does such a launch have clusters, if only of one block?
    bool has_clusters(const LaunchRequest& request) const;
    // How many blocks of such a launch a multiprocessor holds; 0 if it cannot hold one.
    int blocks_per_multiprocessor(const LaunchConfig& config) const;
    int blocks_per_multiprocessor(unsigned threads, std::size_t dynamic_shared_bytes) const;

    Kernel* kernel = nullptr;
    Device* device = nullptr;
    Kernel::Settings settings;  // of the kernel on this device, when it was loaded
    std::shared_ptr<simt::Image> image;
    const cuscope_simt::KernelEntry* entry = nullptr;
};

}  // namespace cuscope::host
