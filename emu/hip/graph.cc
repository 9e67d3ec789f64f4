// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/graph.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <unordered_map>

#include "emu/hip/device.h"
#include "emu/hip/runtime.h"
#include "emu/hip/tables.h"

namespace emu::hip {
namespace {

// Guards every capture and every stream's part in one.
std::mutex capture_mutex;
std::vector<std::weak_ptr<Capture>> captures;
std::atomic<uint64_t> next_id{1};

enum Mode { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
thread_local int thread_mode = kGlobal;
thread_local std::vector<std::weak_ptr<Capture>> captures_of_thread;

void add_once(std::vector<GraphNode*>& list, GraphNode* node) {
  if (std::find(list.begin(), list.end(), node) == list.end()) list.push_back(node);
}

// Every node from which one of these can be reached, and these.
std::set<GraphNode*> ancestors(std::vector<GraphNode*> nodes) {
  std::set<GraphNode*> seen;
  while (!nodes.empty()) {
    GraphNode* node = nodes.back();
    nodes.pop_back();
    if (seen.insert(node).second) nodes.insert(nodes.end(), node->after.begin(), node->after.end());
  }
  return seen;
}

void end(Capture& capture) {
  for (Stream* stream : capture.streams) {
    stream->capture.reset();
    stream->capture_tail.clear();
  }
  capture.streams.clear();
}

// hipErrorStreamCaptureInvalidated where an earlier call spoiled the capture.
void require_whole(const Capture& capture) {
  require(!capture.spoiled, hipErrorStreamCaptureInvalidated, "an earlier call spoiled the capture");
}

}  // namespace

GraphNode* Graph::add(Operation operation, std::vector<GraphNode*> after) {
  auto node = std::make_unique<GraphNode>();
  node->operation = std::move(operation);
  node->after = std::move(after);
  node->graph = this;
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

std::vector<GraphNode*> Graph::ordered(uint64_t seed) const {
  std::unordered_map<const GraphNode*, size_t> missing;
  std::unordered_map<const GraphNode*, std::vector<GraphNode*>> next;
  std::vector<GraphNode*> ready, result;
  for (const auto& node : nodes_) {
    missing[node.get()] = node->after.size();
    for (const GraphNode* before : node->after) next[before].push_back(node.get());
    if (node->after.empty()) ready.push_back(node.get());
  }
  std::mt19937_64 random(seed);
  while (!ready.empty()) {
    const size_t pick = seed == 0 ? 0 : random() % ready.size();
    GraphNode* node = ready[pick];
    ready.erase(ready.begin() + static_cast<ptrdiff_t>(pick));
    result.push_back(node);
    for (GraphNode* follower : next[node])
      if (--missing[follower] == 0) ready.push_back(follower);
  }
  require(result.size() == nodes_.size(), hipErrorInvalidValue, "the graph has a circle");
  return result;
}

GraphExec::GraphExec(const Graph& graph) {
  std::unordered_map<const GraphNode*, size_t> places;
  for (const GraphNode* node : graph.ordered(Runtime::get().settings().options.seed)) {
    std::vector<size_t> after;
    for (const GraphNode* before : node->after) after.push_back(places.at(before));
    std::sort(after.begin(), after.end());
    places[node] = steps.size();
    steps.push_back({node, node->operation, std::move(after)});
  }
}

Work GraphExec::work() const {
  std::vector<Work> all;
  for (const Step& step : steps)
    if (step.operation.work) all.push_back(step.operation.work);
  return [all = std::move(all)] {
    for (const Work& one : all) one();
  };
}

Capture::Capture(Stream& origin_stream, int capture_mode)
    : origin(origin_stream), mode(capture_mode), streams{&origin_stream}, id(next_id++) {}

Ticket enqueue(Stream& stream, Operation operation, Work staged) {
  {
    const std::lock_guard lock(capture_mutex);
    if (stream.capture) {
      require_whole(*stream.capture);
      GraphNode* node = stream.capture->graph->add(std::move(operation), stream.capture_tail);
      stream.capture_tail = {node};
      return nullptr;
    }
    if (stream.is_null())
      for (const auto& weak : captures)
        if (const auto capture = weak.lock())
          for (const Stream* other : capture->streams)
            if (&other->device() == &stream.device() && other->blocking()) {
              capture->spoiled = true;
              throw ApiError(hipErrorStreamCaptureImplicit,
                             "the null stream would wait for a stream that is captured");
            }
  }
  stream.device().check();
  return stream.device().submit(stream, staged ? std::move(staged) : std::move(operation.work), {},
                                operation.always);
}

CapturedPlace captured_place(Stream& stream) {
  const std::lock_guard lock(capture_mutex);
  if (!stream.capture) return {};
  require_whole(*stream.capture);
  return {stream.capture, stream.capture_tail};
}

bool wait_for_captured(Stream& stream, const CapturedPlace& place) {
  const std::lock_guard lock(capture_mutex);
  const auto capture = place.capture.lock();
  if (!capture) {
    if (stream.capture) {
      stream.capture->spoiled = true;
      throw ApiError(hipErrorStreamCaptureIsolation,
                     "a captured stream waits for an event outside the capture");
    }
    return false;
  }
  require_whole(*capture);
  if (!stream.capture) {
    require(!stream.is_null(), hipErrorStreamCaptureImplicit, "the null stream cannot be captured");
    stream.capture = capture;
    capture->streams.push_back(&stream);
  }
  if (stream.capture != capture) {
    stream.capture->spoiled = capture->spoiled = true;
    throw ApiError(hipErrorStreamCaptureMerge, "two captures would become one");
  }
  for (GraphNode* node : place.tail) add_once(stream.capture_tail, node);
  return true;
}

void forbid_captured(Stream& stream) {
  const std::lock_guard lock(capture_mutex);
  if (!stream.capture) return;
  stream.capture->spoiled = true;
  throw ApiError(hipErrorStreamCaptureUnsupported, "the stream is being captured");
}

void forbid_while_capturing() {
  if (thread_mode == kRelaxed) return;
  const std::lock_guard lock(capture_mutex);
  const auto judge = [](const std::weak_ptr<Capture>& weak, bool other_thread) {
    const auto capture = weak.lock();
    if (!capture || capture->streams.empty() || capture->mode == kRelaxed) return;
    if (other_thread && (capture->mode != kGlobal || thread_mode != kGlobal)) return;
    capture->spoiled = true;
    throw ApiError(hipErrorStreamCaptureUnsupported, "a stream is being captured");
  };
  std::erase_if(captures_of_thread, [](const auto& weak) { return weak.expired(); });
  std::erase_if(captures, [](const auto& weak) { return weak.expired(); });
  for (const auto& weak : captures_of_thread) judge(weak, false);
  for (const auto& weak : captures) judge(weak, true);
}

bool is_capturing(const Stream& stream) {
  const std::lock_guard lock(capture_mutex);
  return stream.capture != nullptr;
}

void leave_capture(Stream& stream) {
  const std::lock_guard lock(capture_mutex);
  if (!stream.capture) return;
  const auto capture = stream.capture;
  capture->spoiled = true;
  std::erase(capture->streams, &stream);
  if (&capture->origin == &stream) end(*capture);
  stream.capture.reset();
}

}  // namespace emu::hip

using namespace emu::hip;

EMU_API int hipStreamBeginCapture(StreamHandle handle, int mode) {
  return api("hipStreamBeginCapture", [&] {
    Stream& stream = find_stream(handle);
    require(mode >= kGlobal && mode <= kRelaxed, hipErrorInvalidValue, "no such capture mode");
    require(!stream.is_null(), hipErrorStreamCaptureUnsupported, "the null stream cannot be captured");
    const std::lock_guard lock(capture_mutex);
    require(!stream.capture, hipErrorIllegalState, "the stream is being captured already");
    const auto capture = std::make_shared<Capture>(stream, mode);
    stream.capture = capture;
    stream.capture_tail.clear();
    captures.push_back(capture);
    captures_of_thread.push_back(capture);
  });
}

EMU_API int hipStreamEndCapture(StreamHandle handle, Graph** graph) {
  return api("hipStreamEndCapture", [&] {
    Stream& stream = find_stream(handle);
    require(graph != nullptr, hipErrorInvalidValue, "no place for the graph");
    *graph = nullptr;
    std::unique_ptr<Graph> made;
    {
      const std::lock_guard lock(capture_mutex);
      require(stream.capture != nullptr, hipErrorIllegalState, "the stream is not being captured");
      const auto capture = stream.capture;
      require(&capture->origin == &stream, hipErrorStreamCaptureUnmatched,
              "the capture began in another stream");
      const auto mine = [&](const auto& weak) { return weak.lock() == capture; };
      require(capture->mode == kRelaxed ||
                  std::any_of(captures_of_thread.begin(), captures_of_thread.end(), mine),
              hipErrorStreamCaptureWrongThread, "the capture began in another thread");
      const auto joined = ancestors(stream.capture_tail);
      bool all_joined = true;
      for (const Stream* other : capture->streams)
        for (GraphNode* node : other->capture_tail) all_joined = all_joined && joined.contains(node);
      const bool spoiled = capture->spoiled;
      end(*capture);
      std::erase_if(captures, mine);
      std::erase_if(captures_of_thread, mine);
      require(!spoiled, hipErrorStreamCaptureInvalidated, "an earlier call spoiled the capture");
      require(all_joined, hipErrorStreamCaptureUnjoined,
              "a stream that joined the capture has work that was not waited for");
      made = std::move(capture->graph);
    }
    *graph = handles<Graph>().add(std::move(made));
  });
}

EMU_API int hipStreamIsCapturing(StreamHandle handle, int* status) {
  return api("hipStreamIsCapturing", [&] {
    Stream& stream = find_stream(handle);
    require(status != nullptr, hipErrorInvalidValue);
    const std::lock_guard lock(capture_mutex);
    *status = !stream.capture ? 0 : stream.capture->spoiled ? 2 : 1;
  });
}

EMU_API int hipStreamGetCaptureInfo(StreamHandle handle, int* status, unsigned long long* id) {
  return api("hipStreamGetCaptureInfo", [&] {
    Stream& stream = find_stream(handle);
    require(status != nullptr, hipErrorInvalidValue);
    const std::lock_guard lock(capture_mutex);
    *status = !stream.capture ? 0 : stream.capture->spoiled ? 2 : 1;
    if (stream.capture && id != nullptr) *id = stream.capture->id;
  });
}

EMU_API int hipThreadExchangeStreamCaptureMode(int* mode) {
  return api("hipThreadExchangeStreamCaptureMode", [&] {
    require(mode != nullptr && *mode >= kGlobal && *mode <= kRelaxed, hipErrorInvalidValue,
            "no such capture mode");
    std::swap(*mode, thread_mode);
  });
}
