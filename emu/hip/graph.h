// SPDX-License-Identifier: Apache-2.0
// Graphs: nodes with what must be done before them. A capture turns what is asked of streams into nodes.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "emu/hip/launch.h"
#include "emu/hip/runtime.h"
#include "emu/hip/stream.h"

namespace emu::hip {

enum class NodeType : int { Kernel = 1, Memcpy = 2, Memset = 3, Host = 4, Graph = 5, Empty = 6 };

/// One thing to do, for a stream or as a node of a graph; may be done many times.
struct Operation {
  NodeType type = NodeType::Empty;
  Work work;
  std::shared_ptr<const KernelCall> kernel;  // of a kernel node
  bool always = false;                       // on a stream, even when a kernel has stopped the device
};

struct GraphNode {
  Operation operation;
  std::vector<GraphNode*> after;
  Graph* graph = nullptr;
  const GraphNode* original = nullptr;  // of a clone; a key only
};

class Graph {
 public:
  GraphNode* add(Operation operation, std::vector<GraphNode*> after);
  const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }
  std::vector<std::unique_ptr<GraphNode>>& nodes() { return nodes_; }
  /// Nodes in an order that respects them; throws hipErrorInvalidValue for a circle. A seed picks another
  /// such order.
  std::vector<GraphNode*> ordered(uint64_t seed) const;

 private:
  std::vector<std::unique_ptr<GraphNode>> nodes_;
};

class GraphExec {
 public:
  /// A copy: the graph may change or go.
  explicit GraphExec(const Graph& graph);
  /// What one launch does, in order.
  Work work() const;
  struct Step {
    const GraphNode* node;  // of the graph it was made from, as a key only
    Operation operation;
    std::vector<size_t> after;  // places in `steps` of the nodes it depends on, in order
  };
  std::vector<Step> steps;
};

template <>
Handles<Graph>& handles<Graph>();
template <>
Handles<GraphExec>& handles<GraphExec>();

class Capture {
 public:
  Capture(Stream& origin, int mode);
  Stream& origin;
  const int mode;
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::vector<Stream*> streams;
  bool spoiled = false;
  const uint64_t id;
};

/// What an event remembers of a capture it was recorded in.
struct CapturedPlace {
  std::weak_ptr<Capture> capture;
  std::vector<GraphNode*> tail;
};

/// Appends to the stream, or to the capture it takes part in (then the ticket is null).
/// staged: what to do outside a capture instead, when that differs.
Ticket enqueue(Stream& stream, Operation operation, Work staged = nullptr);

/// The place an event would remember; without a capture when the stream does not take part in one.
CapturedPlace captured_place(Stream& stream);
/// The stream waits for an event that was recorded in a capture, and joins it. False when that capture is
/// over.
bool wait_for_captured(Stream& stream, const CapturedPlace& place);
/// Throws hipErrorStreamCaptureUnsupported, and spoils the capture, when the stream takes part in one.
void forbid_captured(Stream& stream);
bool is_capturing(const Stream& stream);
/// The stream goes: its capture is spoiled.
void leave_capture(Stream& stream);

}  // namespace emu::hip
