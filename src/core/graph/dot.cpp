// Writes a graph in the DOT language of Graphviz.
#include <concepts>
#include <map>
#include <sstream>

#include "core/graph/graph.hpp"
#include "runtime/compile/signature.hpp"

namespace cuscope::core {
namespace {

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return result;
}

std::string dims(const Dim3& d) {
    std::string text = std::to_string(d.x);
    if (d.y != 1 || d.z != 1) text += ", " + std::to_string(d.y);
    if (d.z != 1) text += ", " + std::to_string(d.z);
    return d.y != 1 || d.z != 1 ? "(" + text + ")" : text;
}

const char* direction(Device& device, const Memcpy3DParameters& copy) {
    const auto on_device = [&](ArrayHandle array, const PitchedPointer& pitched) {
        if (array != nullptr) return true;
        PointerAttributes attributes;
        if (device.runtime().pointer_get_attributes(&attributes, pitched.pointer) != Status::success) {
            device.runtime().get_last_error();
            return false;
        }
        return attributes.type == MemoryType::device || attributes.type == MemoryType::managed;
    };
    const bool from = on_device(copy.source_array, copy.source);
    const bool to = on_device(copy.destination_array, copy.destination);
    return from ? to ? "device to device" : "device to host" : to ? "host to device" : "host to host";
}

// The lines that a drawing shows for a node. A type without a function here is drawn by its name alone.
struct Text {
    Device& device;

    std::string operator()(const KernelNodeParameters& p) const {
        const char* name = nullptr;
        if (device.runtime().func_get_name(&name, p.kernel) != Status::success) {
            device.runtime().get_last_error();
            name = "kernel";
        }
        std::string plain = demangle(name);
        if (const auto end = plain.find('('); end != std::string::npos) plain.resize(end);
        if (plain.starts_with("void ")) plain.erase(0, 5);
        return plain + "\n[" + dims(p.grid) + ", " + dims(p.block) + "]";
    }
    std::string operator()(const MemcpyNodeParameters& p) const {
        const bool of_array = p.source_array != nullptr || p.destination_array != nullptr;
        return std::string("copy ") + direction(device, p) + "\n" +
               std::to_string(p.extent.width * p.extent.height * p.extent.depth) +
               (of_array ? " elements" : " bytes");
    }
    std::string operator()(const MemsetNodeParameters& p) const {
        return "memset\n" + std::to_string(p.width * p.height * p.element_bytes) + " bytes";
    }
    template <std::derived_from<ExternalSemaphoreNodeParameters> Parameters>
    std::string operator()(const Parameters& p) const {
        return name_of(node_type_of<Parameters>) +
               (p.count > 1 ? "\n" + std::to_string(p.count) + " semaphores" : std::string());
    }
    std::string operator()(const BatchMemOpNodeParameters& p) const {
        std::string text = name_of(node_type_of<BatchMemOpNodeParameters>);
        constexpr unsigned most_shown = 4;
        if (p.count > most_shown) return text + "\n" + std::to_string(p.count) + " operations";
        for (unsigned i = 0; i < p.count; ++i) {
            const MemoryOperation& one = p.operations[i];
            text += i == 0 ? "\n" : ", ";
            text += one.writes() ? "write" : one.waits() ? "wait" : "barrier";
        }
        return text;
    }
    // CUDA does not tell the kind of a node that was not made here, such as that of a clone.
    std::string operator()(const ConditionalNodeParameters& p) const {
        if (p.bodies == nullptr) return name_of(node_type_of<ConditionalNodeParameters>);
        return p.type == ConditionalType::if_ ? "if" : p.type == ConditionalType::while_ ? "while" : "switch";
    }
    template <class Other>
    std::string operator()(const Other&) const {
        return name_of(node_type_of<Other>);
    }
};

struct Writer {
    Device& device;
    std::ostringstream text;
    int next = 0;

    void write(Graph& graph, const std::string& indent) {
        std::map<const GraphNode*, int> numbers;
        const GraphNodes nodes = graph.nodes();
        for (const GraphNodePtr& node : nodes) {
            const int number = numbers[node.get()] = next++;
            const GraphNodeType type = node->type();
            const char* const shape = type == GraphNodeType::kernel   ? "box"
                                      : type == GraphNodeType::memcpy ? "cds"
                                      : type == GraphNodeType::empty  ? "circle"
                                                                      : "ellipse";
            const std::string shown = escaped(graph.label(*node));
            text << indent << "n" << number << " [shape=" << shape << ", label=\"" << shown << "\"];\n";
            int body = 0;
            for (const auto& inner : node->bodies()) {
                text << indent << "subgraph cluster_" << number << "_" << body++ << " {\n";
                text << indent << "  label=\"" << shown << "\"; style=dashed;\n";
                write(*inner, indent + "  ");
                text << indent << "}\n";
            }
        }
        // Sorted, so that equal graphs have equal texts in whatever order the runtime lists the edges.
        std::map<std::pair<int, int>, DependencyType> edges;
        for (const Graph::Edge& edge : graph.edges())
            edges[{numbers[edge.from.get()], numbers[edge.to.get()]}] = edge.data.type;
        for (const auto& [ends, type] : edges) {
            text << indent << "n" << ends.first << " -> n" << ends.second;
            if (type == DependencyType::programmatic) text << " [style=dashed]";
            text << ";\n";
        }
    }
};

}  // namespace

std::string Graph::label(const GraphNode& node) const {
    check_of_here(node, "node");
    return std::visit(Text{*device_}, node.parameters());
}

std::string Graph::to_dot() {
    check_usable();
    const DeviceScope scope(*device_);
    Writer writer{*device_, {}, 0};
    writer.text << "digraph graph_ {\n";
    writer.write(*this, "  ");
    writer.text << "}\n";
    return writer.text.str();
}

}  // namespace cuscope::core
