// SPDX-License-Identifier: Apache-2.0
// Graphs as programs call them: instances and launches, and nodes added by hand.
#include <algorithm>
#include <cstdio>

#include "emu/hip/copy.h"
#include "emu/hip/device.h"
#include "emu/hip/graph.h"
#include "emu/hip/graph_nodes.h"
#include "emu/hip/module.h"
#include "emu/hip/runtime.h"
#include "emu/hip/tables.h"

namespace emu::hip {
namespace {

Handles<Graph> live_graphs;
Handles<GraphExec> live_execs;

// hipGraphExecUpdateResult, as far as it is used.
enum UpdateResult { kUpdated = 0, kTopologyChanged = 2, kNodeTypeChanged = 3 };

// Whether one may take the other's operation.
UpdateResult compare(const GraphExec::Step& old, const GraphExec::Step& fresh) {
  if (old.after != fresh.after) return kTopologyChanged;
  return old.operation.type == fresh.operation.type ? kUpdated : kNodeTypeChanged;
}

}  // namespace

std::vector<GraphNode*> checked(const Graph& graph, GraphNode* const* nodes, size_t count) {
  require(nodes != nullptr || count == 0, hipErrorInvalidValue, "a null pointer");
  std::vector<GraphNode*> result;
  for (size_t i = 0; i < count; ++i) {
    const auto mine = [&](const auto& node) { return node.get() == nodes[i]; };
    require(std::any_of(graph.nodes().begin(), graph.nodes().end(), mine), hipErrorInvalidValue,
            "a node of another graph");
    result.push_back(nodes[i]);
  }
  return result;
}

// The graph that a node belongs to, by looking at all of them: a handle may be stale.
Graph& graph_of(const GraphNode* node) {
  for (Graph* graph : live_graphs.all())
    for (const auto& mine : graph->nodes())
      if (mine.get() == node) return *graph;
  throw ApiError(hipErrorInvalidValue, "no such node");
}

namespace {

template <class Make>
int add_call(const char* name, GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
             Make make) {
  return api(name, [&] {
    require(node != nullptr, hipErrorInvalidValue, "no place for the node");
    Graph& home = live_graphs.check(graph);
    auto before = checked(home, after, count);
    *node = home.add(make(), std::move(before));
  });
}

}  // namespace

Operation kernel_operation(const KernelNodeParams* p) {
  require(p != nullptr, hipErrorInvalidValue, "a null pointer");
  const auto call = make_call(find_function(p->function), p->grid, p->block, p->shared, p->params, p->extra);
  std::const_pointer_cast<KernelCall>(call)->function = p->function;
  return {NodeType::Kernel, [call] { call->run(); }, call};
}

Operation memset_operation(const MemsetParams* p) {
  require(p != nullptr && (p->element_bytes == 1 || p->element_bytes == 2 || p->element_bytes == 4),
          hipErrorInvalidValue, "elements have 1, 2 or 4 bytes");
  const size_t height = std::max<size_t>(1, p->height), width = product(p->width, p->element_bytes);
  const size_t pitch = height == 1 ? width : p->pitch;
  require(width <= pitch, hipErrorInvalidValue, "a row is wider than the pitch");
  return {NodeType::Memset,
          fill_work({static_cast<std::byte*>(p->to), pitch, product(pitch, height)}, {width, height, 1},
                    p->value, p->element_bytes),
          nullptr};
}

Operation copy_operation(void* to, const void* from, size_t bytes) {
  auto* source = const_cast<std::byte*>(static_cast<const std::byte*>(from));
  return {NodeType::Memcpy,
          copy_work({static_cast<std::byte*>(to), bytes, bytes}, {source, bytes, bytes}, {bytes, 1, 1}),
          nullptr};
}

Operation host_operation(const HostParams* params) {
  require(params != nullptr && params->function != nullptr, hipErrorInvalidValue, "no function");
  return {NodeType::Host, host_work([p = *params] { p.function(p.data); }), nullptr};
}

void set(GraphExec& exec, const GraphNode* node, Operation operation) {
  for (GraphExec::Step& step : exec.steps)
    if (step.node == node) {
      require(step.operation.type == operation.type, hipErrorInvalidValue, "the node is of another type");
      step.operation = std::move(operation);
      return;
    }
  throw ApiError(hipErrorInvalidValue, "the node is not in the graph this was made from");
}

void list_nodes(const std::vector<GraphNode*>& found, GraphNode** nodes, size_t* count) {
  require(count != nullptr, hipErrorInvalidValue);
  if (nodes != nullptr)
    for (size_t i = 0; i < *count; ++i) nodes[i] = i < found.size() ? found[i] : nullptr;
  *count = nodes == nullptr ? found.size() : std::min(*count, found.size());
}

template <>
Handles<Graph>& handles<Graph>() {
  return live_graphs;
}
template <>
Handles<GraphExec>& handles<GraphExec>() {
  return live_execs;
}
void clear_graphs() {
  live_execs.clear();
  live_graphs.clear();
}

}  // namespace emu::hip

using namespace emu::hip;

EMU_API int hipGraphCreate(Graph** graph, unsigned flags) {
  return api("hipGraphCreate", [&] {
    require(graph != nullptr && flags == 0, hipErrorInvalidValue, "flags must be 0");
    *graph = live_graphs.add(std::make_unique<Graph>());
  });
}
EMU_API int hipGraphDestroy(Graph* graph) {
  return api("hipGraphDestroy", [&] { live_graphs.take(graph); });
}

EMU_API int hipGraphInstantiate(GraphExec** exec, Graph* graph, GraphNode** error_node, char* log,
                                size_t log_bytes) {
  return api("hipGraphInstantiate", [&] {
    require(exec != nullptr, hipErrorInvalidValue, "no place for the graph");
    *exec = nullptr;
    if (error_node != nullptr) *error_node = nullptr;
    if (log != nullptr && log_bytes > 0) *log = 0;
    *exec = live_execs.add(std::make_unique<GraphExec>(live_graphs.check(graph)));
  });
}
EMU_API int hipGraphInstantiateWithFlags(GraphExec** exec, Graph* graph, unsigned long long) {
  return hipGraphInstantiate(exec, graph, nullptr, nullptr, 0);
}
EMU_API int hipGraphExecDestroy(GraphExec* exec) {
  return api("hipGraphExecDestroy", [&] { live_execs.take(exec); });
}
EMU_API int hipGraphUpload(GraphExec* exec, StreamHandle stream) {
  return api("hipGraphUpload", [&] {
    live_execs.check(exec);
    find_stream(stream);
  });
}
EMU_API int hipGraphLaunch(GraphExec* exec, StreamHandle stream) {
  return api("hipGraphLaunch", [&] {
    enqueue(find_stream(stream), {NodeType::Graph, live_execs.check(exec).work(), nullptr});
  });
}

EMU_API int hipGraphExecUpdate(GraphExec* exec_handle, Graph* graph_handle, GraphNode** error_node,
                               int* result) {
  return api("hipGraphExecUpdate", [&] {
    GraphExec& exec = live_execs.check(exec_handle);
    const Graph& graph = live_graphs.check(graph_handle);
    if (error_node != nullptr) *error_node = nullptr;
    int scratch = 0;
    int& verdict = result != nullptr ? *result : scratch;
    // Nodes correspond by their order; both are ordered by the same rule.
    const GraphExec fresh(graph);
    verdict = fresh.steps.size() == exec.steps.size() ? kUpdated : kTopologyChanged;
    for (size_t i = 0; verdict == kUpdated && i < fresh.steps.size(); ++i) {
      verdict = compare(exec.steps[i], fresh.steps[i]);
      if (verdict != kUpdated && error_node != nullptr)
        *error_node = const_cast<GraphNode*>(fresh.steps[i].node);
    }
    require(verdict == kUpdated, hipErrorGraphExecUpdateFailure, "the graph has other nodes or edges");
    for (size_t i = 0; i < fresh.steps.size(); ++i) exec.steps[i].operation = fresh.steps[i].operation;
  });
}

EMU_API int hipGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
                                  const KernelNodeParams* params) {
  return add_call("hipGraphAddKernelNode", node, graph, after, count,
                  [&] { return kernel_operation(params); });
}
EMU_API int hipGraphAddMemcpyNode1D(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
                                    void* to, const void* from, size_t bytes, int) {
  return add_call("hipGraphAddMemcpyNode1D", node, graph, after, count,
                  [&] { return copy_operation(to, from, bytes); });
}
EMU_API int hipGraphAddMemsetNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
                                  const MemsetParams* params) {
  return add_call("hipGraphAddMemsetNode", node, graph, after, count,
                  [&] { return memset_operation(params); });
}
EMU_API int hipGraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
                                const HostParams* params) {
  return add_call("hipGraphAddHostNode", node, graph, after, count, [&] { return host_operation(params); });
}
EMU_API int hipGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count) {
  return add_call("hipGraphAddEmptyNode", node, graph, after, count, [] { return Operation{}; });
}
EMU_API int hipGraphAddChildGraphNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
                                      Graph* child) {
  return add_call("hipGraphAddChildGraphNode", node, graph, after, count, [&] {
    return Operation{NodeType::Graph, GraphExec(live_graphs.check(child)).work(), nullptr};
  });
}

EMU_API int hipGraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                    size_t count) {
  return api("hipGraphAddDependencies", [&] {
    const Graph& home = live_graphs.check(graph);
    const auto before = checked(home, from, count), after = checked(home, to, count);
    for (size_t i = 0; i < count; ++i) {
      auto& list = after[i]->after;
      require(before[i] != after[i] && std::find(list.begin(), list.end(), before[i]) == list.end(),
              hipErrorInvalidValue, "the nodes are the same, or depend so already");
      list.push_back(before[i]);
    }
  });
}

EMU_API int hipGraphDestroyNode(GraphNode* node) {
  return api("hipGraphDestroyNode", [&] {
    auto& nodes = graph_of(node).nodes();
    for (const auto& other : nodes) std::erase(other->after, node);
    std::erase_if(nodes, [&](const auto& mine) { return mine.get() == node; });
  });
}

EMU_API int hipGraphGetNodes(Graph* graph, GraphNode** nodes, size_t* count) {
  return api("hipGraphGetNodes", [&] {
    std::vector<GraphNode*> found;
    for (const auto& node : live_graphs.check(graph).nodes()) found.push_back(node.get());
    list_nodes(found, nodes, count);
  });
}
EMU_API int hipGraphGetRootNodes(Graph* graph, GraphNode** nodes, size_t* count) {
  return api("hipGraphGetRootNodes", [&] {
    std::vector<GraphNode*> found;
    for (const auto& node : live_graphs.check(graph).nodes())
      if (node->after.empty()) found.push_back(node.get());
    list_nodes(found, nodes, count);
  });
}
EMU_API int hipGraphNodeGetDependencies(GraphNode* node, GraphNode** nodes, size_t* count) {
  return api("hipGraphNodeGetDependencies", [&] {
    graph_of(node);
    list_nodes(node->after, nodes, count);
  });
}
EMU_API int hipGraphNodeGetType(GraphNode* node, int* type) {
  return api("hipGraphNodeGetType", [&] {
    require(type != nullptr, hipErrorInvalidValue);
    graph_of(node);
    *type = static_cast<int>(node->operation.type);
  });
}

EMU_API int hipGraphKernelNodeSetParams(GraphNode* node, const KernelNodeParams* params) {
  return api("hipGraphKernelNodeSetParams", [&] {
    graph_of(node);
    require(node->operation.type == NodeType::Kernel, hipErrorInvalidValue, "not a kernel node");
    node->operation = kernel_operation(params);
  });
}
EMU_API int hipGraphExecKernelNodeSetParams(GraphExec* exec, GraphNode* node,
                                            const KernelNodeParams* params) {
  return api("hipGraphExecKernelNodeSetParams",
             [&] { set(live_execs.check(exec), node, kernel_operation(params)); });
}
EMU_API int hipGraphExecMemsetNodeSetParams(GraphExec* exec, GraphNode* node, const MemsetParams* params) {
  return api("hipGraphExecMemsetNodeSetParams",
             [&] { set(live_execs.check(exec), node, memset_operation(params)); });
}
