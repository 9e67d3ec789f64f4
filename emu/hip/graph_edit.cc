// SPDX-License-Identifier: Apache-2.0
// Graphs changed after they were made: parameters of nodes and of their instances, edges, copies.
#include <algorithm>
#include <map>

#include "emu/hip/graph_nodes.h"
#include "emu/hip/module.h"
#include "emu/hip/runtime.h"

using namespace emu::hip;

namespace {

// A node takes another operation of its type.
template <class Make>
int change(const char* name, GraphNode* node, Make make) {
  return api(name, [&] {
    graph_of(node);
    Operation operation = make();
    require(node->operation.type == operation.type, hipErrorInvalidValue, "the node is of another type");
    node->operation = std::move(operation);
  });
}

template <class Make>
int change_exec(const char* name, GraphExec* exec, GraphNode* node, Make make) {
  return api(name, [&] { set(handles<GraphExec>().check(exec), node, make()); });
}

}  // namespace

EMU_API int hipGraphMemcpyNodeSetParams1D(GraphNode* node, void* to, const void* from, size_t bytes, int) {
  return change("hipGraphMemcpyNodeSetParams1D", node, [&] { return copy_operation(to, from, bytes); });
}
EMU_API int hipGraphExecMemcpyNodeSetParams1D(GraphExec* exec, GraphNode* node, void* to, const void* from,
                                              size_t bytes, int) {
  return change_exec("hipGraphExecMemcpyNodeSetParams1D", exec, node,
                     [&] { return copy_operation(to, from, bytes); });
}
EMU_API int hipGraphMemsetNodeSetParams(GraphNode* node, const MemsetParams* params) {
  return change("hipGraphMemsetNodeSetParams", node, [&] { return memset_operation(params); });
}
EMU_API int hipGraphHostNodeSetParams(GraphNode* node, const HostParams* params) {
  return change("hipGraphHostNodeSetParams", node, [&] { return host_operation(params); });
}
EMU_API int hipGraphExecHostNodeSetParams(GraphExec* exec, GraphNode* node, const HostParams* params) {
  return change_exec("hipGraphExecHostNodeSetParams", exec, node, [&] { return host_operation(params); });
}
EMU_API int hipGraphExecChildGraphNodeSetParams(GraphExec* exec, GraphNode* node, Graph* child) {
  return change_exec("hipGraphExecChildGraphNodeSetParams", exec, node, [&] {
    return Operation{NodeType::Graph, GraphExec(handles<Graph>().check(child)).work(), nullptr};
  });
}

EMU_API int hipGraphKernelNodeGetParams(GraphNode* node, KernelNodeParams* params) {
  return api("hipGraphKernelNodeGetParams", [&] {
    graph_of(node);
    require(params != nullptr && node->operation.type == NodeType::Kernel, hipErrorInvalidValue,
            "not a kernel node");
    const KernelCall& call = *node->operation.kernel;
    *params = {call.block, nullptr,           const_cast<void*>(call.function),
               call.grid,  call.parameters(), call.dynamic_lds};
  });
}

EMU_API int hipGraphRemoveDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                       size_t count) {
  return api("hipGraphRemoveDependencies", [&] {
    const Graph& home = handles<Graph>().check(graph);
    const auto before = checked(home, from, count), after = checked(home, to, count);
    for (size_t i = 0; i < count; ++i)
      require(std::erase(after[i]->after, before[i]) == 1, hipErrorInvalidValue,
              "the nodes do not depend so");
  });
}

EMU_API int hipGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to, size_t* count) {
  return api("hipGraphGetEdges", [&] {
    require((from == nullptr) == (to == nullptr), hipErrorInvalidValue, "one list of two");
    std::vector<GraphNode*> before, after;
    for (const auto& node : handles<Graph>().check(graph).nodes())
      for (GraphNode* earlier : node->after) {
        before.push_back(earlier);
        after.push_back(node.get());
      }
    require(count != nullptr, hipErrorInvalidValue);
    size_t room = *count;
    list_nodes(before, from, count);
    list_nodes(after, to, &room);
  });
}

EMU_API int hipGraphNodeGetDependentNodes(GraphNode* node, GraphNode** nodes, size_t* count) {
  return api("hipGraphNodeGetDependentNodes", [&] {
    std::vector<GraphNode*> found;
    for (const auto& other : graph_of(node).nodes())
      if (std::find(other->after.begin(), other->after.end(), node) != other->after.end())
        found.push_back(other.get());
    list_nodes(found, nodes, count);
  });
}

EMU_API int hipGraphClone(Graph** clone, Graph* graph) {
  return api("hipGraphClone", [&] {
    require(clone != nullptr, hipErrorInvalidValue, "no place for the graph");
    const Graph& original = handles<Graph>().check(graph);
    auto copy = std::make_unique<Graph>();
    std::map<const GraphNode*, GraphNode*> twin;
    for (const auto& node : original.nodes()) {
      twin[node.get()] = copy->add(node->operation, {});
      twin[node.get()]->original = node.get();
    }
    for (const auto& node : original.nodes())
      for (const GraphNode* before : node->after) twin[node.get()]->after.push_back(twin[before]);
    *clone = handles<Graph>().add(std::move(copy));
  });
}
EMU_API int hipGraphNodeFindInClone(GraphNode** found, GraphNode* original, Graph* clone) {
  return api("hipGraphNodeFindInClone", [&] {
    require(found != nullptr, hipErrorInvalidValue, "no place for the node");
    *found = nullptr;
    for (const auto& node : handles<Graph>().check(clone).nodes())
      if (node->original == original) *found = node.get();
    require(*found != nullptr, hipErrorInvalidValue, "the clone has no such node");
  });
}
