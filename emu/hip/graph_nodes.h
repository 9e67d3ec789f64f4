// SPDX-License-Identifier: Apache-2.0
// What nodes of graphs are made of, as programs hand it over.
#pragma once

#include <vector>

#include "emu/hip/graph.h"

namespace emu::hip {

struct KernelNodeParams {
  Dim3 block;
  void** extra;
  void* function;
  Dim3 grid;
  void** params;
  unsigned shared;
};

struct MemsetParams {
  void* to;
  unsigned element_bytes;
  size_t height, pitch;
  unsigned value;
  size_t width;  // in elements
};

struct HostParams {
  void (*function)(void*);
  void* data;
};

/// These nodes of the graph; throws where one is of another graph.
std::vector<GraphNode*> checked(const Graph& graph, GraphNode* const* nodes, size_t count);
/// The graph that a node belongs to, by looking at all of them: a handle may be stale.
Graph& graph_of(const GraphNode* node);
/// HIP's way to hand out lists: nodes may be null to ask for their number.
void list_nodes(const std::vector<GraphNode*>& found, GraphNode** nodes, size_t* count);

Operation kernel_operation(const KernelNodeParams* params);
Operation memset_operation(const MemsetParams* params);
Operation copy_operation(void* to, const void* from, size_t bytes);
Operation host_operation(const HostParams* params);
/// Another operation of the same type for a node of an instance.
void set(GraphExec& exec, const GraphNode* node, Operation operation);

}  // namespace emu::hip
