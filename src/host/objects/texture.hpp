// Texture objects and surface objects of the host runtime. Private to src/host.
#pragma once

#include <memory>
#include <vector>

#include "cuscope_simt/texture_object.h"
#include "runtime/memory_types.hpp"
#include "runtime/status.hpp"

namespace cuscope::host {

struct Machine;

// The object behind the handle of a texture or a surface, as kernels read it.
struct TextureObject : cuscope_simt::Texture {
    // Of memory or an array on the current device. Refused, `made` stays as it was.
    static Status make_texture(const Machine& machine, const ResourceDescription& resource,
                               const TextureDescription& description, std::unique_ptr<TextureObject>* made);
    static Status make_surface(const Machine& machine, const ResourceDescription& resource,
                               std::unique_ptr<TextureObject>* made);

    std::vector<cuscope_simt::Level> own_levels;
};

}  // namespace cuscope::host
