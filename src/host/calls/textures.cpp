// The host runtime's texture objects and surface objects.
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

Status HostRuntime::create_texture_object(TextureHandle* texture, const ResourceDescription* resource,
                                          const TextureDescription* description) {
    ENTER(other);
    if (texture == nullptr || resource == nullptr || description == nullptr)
        return fail(Status::invalid_value);
    *texture = 0;
    TRY(machine_.captures.forbidden());
    std::unique_ptr<TextureObject> made;
    TRY(TextureObject::make_texture(machine_, *resource, *description, &made));
    *texture = machine_.textures.add(std::move(made));
    return Status::success;
}

Status HostRuntime::destroy_texture_object(TextureHandle texture) {
    ENTER(other);
    const Found<const TextureObject> found = machine_.textures.find(texture);
    if (found == nullptr || found->surface) return fail(Status::invalid_value);
    machine_.textures.remove(texture);
    return Status::success;
}

Status HostRuntime::create_surface_object(SurfaceHandle* surface, const ResourceDescription* resource) {
    ENTER(other);
    if (surface == nullptr || resource == nullptr) return fail(Status::invalid_value);
    *surface = 0;
    TRY(machine_.captures.forbidden());
    std::unique_ptr<TextureObject> made;
    TRY(TextureObject::make_surface(machine_, *resource, &made));
    *surface = machine_.textures.add(std::move(made));
    return Status::success;
}

Status HostRuntime::destroy_surface_object(SurfaceHandle surface) {
    ENTER(other);
    const Found<const TextureObject> found = machine_.textures.find(surface);
    if (found == nullptr || !found->surface) return fail(Status::invalid_value);
    machine_.textures.remove(surface);
    return Status::success;
}

}  // namespace cuscope::host
