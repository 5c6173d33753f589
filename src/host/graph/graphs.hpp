// All graphs, nodes and executables of the host runtime, by their handles. Private to src/host; everything
// happens under the runtime's lock.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "host/graph/exec.hpp"
#include "host/graph/graph.hpp"
#include "host/runtime/objects.hpp"

namespace cuscope::host {

class Graphs {
  public:
    explicit Graphs(Machine& machine);
    ~Graphs();

    Found<Graph> find(GraphHandle handle) const { return alive_.find(handle); }
    Found<GraphNode> find_node(GraphNodeHandle handle) const { return nodes_.find(handle); }
    Found<GraphExec> find_exec(GraphExecHandle handle) const { return execs_.find(handle); }

    // A graph without a handle yet.
    std::unique_ptr<Graph> make();
    // Hidden: of an executable. There are no handles of its nodes.
    std::unique_ptr<Graph> copy(const Graph& graph, bool hidden);
    // A handle names the graph from now on. A node or a capture owns it.
    GraphHandle show(Graph& graph) { return alive_.add(graph); }
    // No handles name the graph, its nodes and its bodies any more.
    void hide(const Graph& graph);
    // The program owns the graph from now on.
    GraphHandle add(std::unique_ptr<Graph> graph);
    Status destroy(GraphHandle handle);
    // False if a stream is being captured to the graph. A graph that belongs to a node stays.
    bool destroy_unless_captured(GraphHandle handle);

    GraphNode& add_node(Graph& graph, std::unique_ptr<GraphNode> node);
    void destroy_node(GraphNode& node);

    // A graph with conditional nodes, or that allocates memory, has no other executable than `exec`.
    Status check_unique(const Graph& graph, const GraphExec* exec) const;
    GraphExecHandle add_exec(std::unique_ptr<GraphExec> exec) { return execs_.add(std::move(exec)); }
    void destroy_exec(GraphExecHandle handle);

    // The memory of allocation nodes. Null if no node allocates at the address.
    GraphMemory* memory_at(const void* address) const;
    Status make_memory(AllocNodeParameters& parameters, std::shared_ptr<GraphMemory>* made);
    // The commands that may still use the memory have to end before it goes back.
    void retire(const GraphMemory& memory);
    void sweep_memory();

    // For a reset of the device. The caller gives the memory of the device back.
    void forget_device(int device);

  private:
    struct Retired {
        std::byte* base;
        std::size_t bytes;
        int device;
        std::vector<CommandRef> last;
    };

    void hide_node(const GraphNode& node);

    Machine& machine_;
    Handles<Graph, GraphHandle> alive_;  // all graphs that have handles
    Handles<GraphNode, GraphNodeHandle> nodes_;
    Objects<Graph, GraphHandle> graphs_;  // the graphs that no node owns
    Objects<GraphExec, GraphExecHandle> execs_;
    std::map<const void*, GraphMemory*> memory_;  // by address
    std::vector<Retired> retired_;
    unsigned long long last_serial_ = 0;
    unsigned last_graph_ = 0;
};

}  // namespace cuscope::host
