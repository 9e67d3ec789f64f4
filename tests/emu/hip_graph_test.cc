// SPDX-License-Identifier: Apache-2.0
// Graphs built by hand, copied, and changed after they were made or instantiated; the order that their nodes
// run in.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "emu/support/compile.h"
#include "emu/support/hip.h"

extern "C" {
struct hipMemsetParams {
  void* dst;
  unsigned elementSize;
  size_t height, pitch;
  unsigned value;
  size_t width;
};
struct hipHostNodeParams {
  void (*fn)(void*);
  void* userData;
};
int hipGraphAddMemsetNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t, const hipMemsetParams*);
int hipGraphAddHostNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t, const hipHostNodeParams*);
int hipGraphAddEmptyNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t);
int hipGraphAddChildGraphNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t, hipGraph_t);
int hipGraphAddDependencies(hipGraph_t, const hipGraphNode_t*, const hipGraphNode_t*, size_t);
int hipGraphRemoveDependencies(hipGraph_t, const hipGraphNode_t*, const hipGraphNode_t*, size_t);
int hipGraphGetEdges(hipGraph_t, hipGraphNode_t*, hipGraphNode_t*, size_t*);
int hipGraphGetRootNodes(hipGraph_t, hipGraphNode_t*, size_t*);
int hipGraphNodeGetDependencies(hipGraphNode_t, hipGraphNode_t*, size_t*);
int hipGraphNodeGetDependentNodes(hipGraphNode_t, hipGraphNode_t*, size_t*);
int hipGraphDestroyNode(hipGraphNode_t);
int hipGraphClone(hipGraph_t*, hipGraph_t);
int hipGraphNodeFindInClone(hipGraphNode_t*, hipGraphNode_t, hipGraph_t);
int hipGraphMemcpyNodeSetParams1D(hipGraphNode_t, void*, const void*, size_t, int);
int hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t, hipGraphNode_t, void*, const void*, size_t, int);
int hipGraphMemsetNodeSetParams(hipGraphNode_t, const hipMemsetParams*);
int hipGraphExecMemsetNodeSetParams(hipGraphExec_t, hipGraphNode_t, const hipMemsetParams*);
int hipGraphHostNodeSetParams(hipGraphNode_t, const hipHostNodeParams*);
int hipGraphExecHostNodeSetParams(hipGraphExec_t, hipGraphNode_t, const hipHostNodeParams*);
int hipGraphExecChildGraphNodeSetParams(hipGraphExec_t, hipGraphNode_t, hipGraph_t);
int hipGraphKernelNodeGetParams(hipGraphNode_t, hipKernelNodeParams*);
int hipGraphKernelNodeSetParams(hipGraphNode_t, const hipKernelNodeParams*);
int hipGraphExecKernelNodeSetParams(hipGraphExec_t, hipGraphNode_t, const hipKernelNodeParams*);
}

namespace {

const emu::test::Environment kEnvironment("gfx1030");
// Nodes that are free to have another order get one.
const int kSeeded = setenv("BEESWAX_EMU_SEED", "3", 1);

std::vector<int> ran;
template <int number>
void note(void*) {
  ran.push_back(number);
}
constexpr hipHostNodeParams kNotes[] = {{note<0>, nullptr}, {note<1>, nullptr}, {note<2>, nullptr},
                                        {note<3>, nullptr}, {note<4>, nullptr}, {note<5>, nullptr}};

class Graphs : public testing::Test {
 protected:
  void SetUp() override {
    ran.clear();
    HIP_OK(hipStreamCreate(&stream));
    HIP_OK(hipGraphCreate(&graph, 0));
    HIP_OK(hipMalloc(reinterpret_cast<void**>(&device), 256));
    HIP_OK(hipMemset(device, 0, 256));
    HIP_OK(hipDeviceSynchronize());
  }
  void TearDown() override {
    if (exec != nullptr) {
      EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
    }
    EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
    EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
    EXPECT_EQ(hipFree(device), hipSuccess);
    hipGetLastError();
  }
  void instantiate() { ASSERT_EQ(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess); }
  void run() {
    ran.clear();
    ASSERT_EQ(hipGraphLaunch(exec, stream), hipSuccess);
    ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
  }
  std::vector<char> bytes() {
    std::vector<char> all(256);
    EXPECT_EQ(hipMemcpy(all.data(), device, 256, hipMemcpyDeviceToHost), hipSuccess);
    return all;
  }
  hipGraphNode_t host_node(int number, const std::vector<hipGraphNode_t>& after = {}) {
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(hipGraphAddHostNode(&node, graph, after.data(), after.size(), &kNotes[number]), hipSuccess);
    return node;
  }
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  char* device = nullptr;
};

TEST_F(Graphs, RunInAnOrderThatRespectsTheirEdges) {
  std::vector<hipGraphNode_t> free;
  for (int i = 0; i < 5; ++i) free.push_back(host_node(i));
  host_node(5, {free[1], free[4]});
  instantiate();
  run();
  ASSERT_EQ(ran.size(), 6u);
  const auto place = [](int number) { return std::find(ran.begin(), ran.end(), number); };
  EXPECT_LT(place(1), place(5));
  EXPECT_LT(place(4), place(5));
  EXPECT_NE(ran, (std::vector<int>{0, 1, 2, 3, 4, 5})) << "a seed is set";
  const std::vector<int> first = ran;
  run();
  EXPECT_EQ(ran, first) << "every replay in the same order";
}

TEST_F(Graphs, EdgesAreListedAddedAndRemoved) {
  hipGraphNode_t a = host_node(0), b = host_node(1), c = host_node(2, {a});
  HIP_OK(hipGraphAddDependencies(graph, &c, &b, 1));  // a, c, b
  EXPECT_EQ(hipGraphAddDependencies(graph, &c, &b, 1), hipErrorInvalidValue) << "a second time";
  hipGraphNode_t from[4] = {}, to[4] = {};
  size_t count = 0;
  HIP_OK(hipGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT_EQ(count, 2u);
  count = 4;
  HIP_OK(hipGraphGetEdges(graph, from, to, &count));
  EXPECT_EQ(count, 2u);
  const std::set<std::pair<hipGraphNode_t, hipGraphNode_t>> edges = {{from[0], to[0]}, {from[1], to[1]}};
  EXPECT_EQ(edges, (std::set<std::pair<hipGraphNode_t, hipGraphNode_t>>{{a, c}, {c, b}}));
  count = 4;
  HIP_OK(hipGraphNodeGetDependentNodes(c, to, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(to[0], b);
  count = 4;
  HIP_OK(hipGraphGetRootNodes(graph, from, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(from[0], a);
  instantiate();
  run();
  EXPECT_EQ(ran, (std::vector<int>{0, 2, 1}));
  // A circle cannot be instantiated.
  HIP_OK(hipGraphAddDependencies(graph, &b, &a, 1));
  hipGraphExec_t circle = nullptr;
  EXPECT_EQ(hipGraphInstantiate(&circle, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
  HIP_OK(hipGraphRemoveDependencies(graph, &b, &a, 1));
  EXPECT_EQ(hipGraphRemoveDependencies(graph, &b, &a, 1), hipErrorInvalidValue);
  HIP_OK(hipGraphDestroyNode(c));
  HIP_OK(hipGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);
  run();
  EXPECT_EQ(ran.size(), 3u) << "the instance is a copy";
}

TEST_F(Graphs, FillsAndCopiesChange) {
  hipMemsetParams ones{device, 1, 1, 64, 1, 64}, twos{device, 2, 1, 64, 0x0202, 32};
  hipGraphNode_t fill = nullptr, copy = nullptr, note = nullptr;
  HIP_OK(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &ones));
  HIP_OK(hipGraphAddMemcpyNode1D(&copy, graph, &fill, 1, device + 64, device, 64, hipMemcpyDeviceToDevice));
  note = host_node(0, {copy});
  instantiate();
  run();
  EXPECT_EQ(bytes()[127], 1);
  EXPECT_EQ(bytes()[128], 0);
  // The instance alone.
  HIP_OK(hipGraphExecMemsetNodeSetParams(exec, fill, &twos));
  HIP_OK(hipGraphExecMemcpyNodeSetParams1D(exec, copy, device + 128, device, 64, hipMemcpyDeviceToDevice));
  HIP_OK(hipGraphExecHostNodeSetParams(exec, note, &kNotes[3]));
  EXPECT_EQ(hipGraphExecMemsetNodeSetParams(exec, copy, &twos), hipErrorInvalidValue) << "of another type";
  hipMemsetParams wrapped = twos;
  wrapped.width += SIZE_MAX / 2 + 1;
  EXPECT_EQ(hipGraphExecMemsetNodeSetParams(exec, fill, &wrapped), hipErrorInvalidValue);
  run();
  EXPECT_EQ(bytes()[127], 1);
  EXPECT_EQ(bytes()[191], 2);
  EXPECT_EQ(ran, std::vector<int>{3});
  // The graph alone, then its instance by an update.
  twos.value = 0x0303;
  HIP_OK(hipGraphMemsetNodeSetParams(fill, &twos));
  HIP_OK(hipGraphMemcpyNodeSetParams1D(copy, device + 192, device, 64, hipMemcpyDeviceToDevice));
  HIP_OK(hipGraphHostNodeSetParams(note, &kNotes[4]));
  EXPECT_EQ(hipGraphHostNodeSetParams(fill, &kNotes[4]), hipErrorInvalidValue);
  run();
  EXPECT_EQ(bytes()[255], 0);
  int result = -1;
  hipGraphNode_t where = nullptr;
  HIP_OK(hipGraphExecUpdate(exec, graph, &where, &result));
  EXPECT_EQ(result, 0);
  run();
  EXPECT_EQ(bytes()[255], 3);
  EXPECT_EQ(ran, std::vector<int>{4});
  host_node(1);
  EXPECT_NE(hipGraphExecUpdate(exec, graph, &where, &result), hipSuccess) << "the graph has a node more";
  EXPECT_NE(result, 0);
}

// An instance takes the parameters of a graph with the same nodes and edges, and says what differs.
TEST_F(Graphs, AnUpdateNeedsTheSameEdges) {
  const hipMemsetParams ones{device, 1, 1, 0, 1, 64};
  const auto chain = [&](hipGraph_t* made, bool third_after_second, bool fill) {
    hipGraphNode_t nodes[3] = {};
    EXPECT_EQ(hipGraphCreate(made, 0), hipSuccess);
    EXPECT_EQ(hipGraphAddHostNode(&nodes[0], *made, nullptr, 0, &kNotes[3]), hipSuccess);
    EXPECT_EQ(hipGraphAddHostNode(&nodes[1], *made, &nodes[0], 1, &kNotes[4]), hipSuccess);
    const hipGraphNode_t* before = &nodes[third_after_second ? 1 : 0];
    EXPECT_EQ(fill ? hipGraphAddMemsetNode(&nodes[2], *made, before, 1, &ones)
                   : hipGraphAddHostNode(&nodes[2], *made, before, 1, &kNotes[5]),
              hipSuccess);
    return nodes[2];
  };
  const hipGraphNode_t a = host_node(0), b = host_node(1, {a});
  host_node(2, {b});
  instantiate();
  hipGraph_t same = nullptr, fan = nullptr, filling = nullptr, longer = nullptr;
  chain(&same, true, false);
  chain(&fan, false, false);
  const hipGraphNode_t third_filling = chain(&filling, true, true), last = chain(&longer, true, false);
  hipGraphNode_t where = nullptr, fourth = nullptr;
  int result = -1;
  EXPECT_EQ(hipGraphExecUpdate(exec, fan, &where, &result), hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, 2) << "hipGraphExecUpdateErrorTopologyChanged";
  size_t count = 1;
  hipGraphNode_t before = nullptr;
  HIP_OK(hipGraphNodeGetDependencies(where, &before, &count));
  EXPECT_EQ(count, 1u) << "a node of the new graph";
  EXPECT_EQ(hipGraphExecUpdate(exec, filling, &where, &result), hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, 3) << "hipGraphExecUpdateErrorNodeTypeChanged";
  EXPECT_EQ(where, third_filling);
  HIP_OK(hipGraphAddEmptyNode(&fourth, longer, &last, 1));
  EXPECT_EQ(hipGraphExecUpdate(exec, longer, &where, &result), hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, 2);
  EXPECT_EQ(where, nullptr) << "no single node";
  run();
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 2})) << "nothing changed";
  HIP_OK(hipGraphExecUpdate(exec, same, &where, &result));
  EXPECT_EQ(result, 0);
  run();
  EXPECT_EQ(ran, (std::vector<int>{3, 4, 5}));
  for (const hipGraph_t made : {same, fan, filling, longer}) HIP_OK(hipGraphDestroy(made));
}

TEST_F(Graphs, ClonesAndChildren) {
  hipGraphNode_t a = host_node(0), b = host_node(1, {a}), twin = nullptr, child = nullptr;
  hipGraph_t clone = nullptr;
  HIP_OK(hipGraphClone(&clone, graph));
  HIP_OK(hipGraphNodeFindInClone(&twin, b, clone));
  EXPECT_NE(twin, b);
  size_t count = 1;
  hipGraphNode_t before = nullptr;
  HIP_OK(hipGraphNodeGetDependencies(twin, &before, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_NE(before, a) << "the clone's own node";
  HIP_OK(hipGraphHostNodeSetParams(twin, &kNotes[2]));
  HIP_OK(hipGraphAddChildGraphNode(&child, graph, &b, 1, clone));
  host_node(3, {child});
  instantiate();
  run();
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 0, 2, 3}));
  HIP_OK(hipGraphHostNodeSetParams(twin, &kNotes[5]));
  HIP_OK(hipGraphExecChildGraphNodeSetParams(exec, child, clone));
  HIP_OK(hipGraphDestroy(clone));
  run();
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 0, 5, 3}));
}

TEST_F(Graphs, KernelsTakeOtherArguments) {
  EMU_NEEDS_CLANG();
  const auto code = emu::test::compile(
      "extern \"C\" __global__ void put(int* to, int value) { to[global_x()] = value; }", "gfx1030");
  hipModule_t module = nullptr;
  hipFunction_t put = nullptr;
  HIP_OK(hipModuleLoadData(&module, code.data()));
  HIP_OK(hipModuleGetFunction(&put, module, "put"));
  int* to = reinterpret_cast<int*>(device);
  int value = 7;
  void* params[] = {&to, &value};
  HIP_OK(hipStreamBeginCapture(stream, 0));
  HIP_OK(hipModuleLaunchKernel(put, 2, 1, 1, 16, 1, 1, 0, stream, params, nullptr));
  hipGraph_t captured = nullptr;
  HIP_OK(hipStreamEndCapture(stream, &captured));
  hipGraphNode_t node = nullptr;
  size_t count = 1;
  HIP_OK(hipGraphGetNodes(captured, &node, &count));
  hipKernelNodeParams what{};
  HIP_OK(hipGraphKernelNodeGetParams(node, &what));
  EXPECT_EQ(what.gridDim.x, 2u);
  EXPECT_EQ(what.blockDim.x, 16u);
  EXPECT_EQ(what.func, put);
  EXPECT_EQ(*static_cast<int**>(what.kernelParams[0]), to);
  EXPECT_EQ(*static_cast<int*>(what.kernelParams[1]), 7);
  HIP_OK(hipGraphInstantiate(&exec, captured, nullptr, nullptr, 0));
  run();
  EXPECT_EQ(bytes()[31 * 4], 7);
  // Changed in the graph by what it said, and carried over.
  int other = 8;
  what.kernelParams[1] = &other;
  what.gridDim.x = 4;
  HIP_OK(hipGraphKernelNodeSetParams(node, &what));
  HIP_OK(hipGraphExecUpdate(exec, captured, nullptr, nullptr));
  run();
  EXPECT_EQ(bytes()[63 * 4], 8);
  // And in the instance.
  HIP_OK(hipGraphKernelNodeGetParams(node, &what));
  other = 9;
  void* again[] = {&to, &other};
  what.kernelParams = again;
  HIP_OK(hipGraphExecKernelNodeSetParams(exec, node, &what));
  run();
  EXPECT_EQ(bytes()[0], 9);
  HIP_OK(hipGraphDestroy(captured));
  HIP_OK(hipModuleUnload(module));
  run();
  EXPECT_EQ(bytes()[63 * 4], 9) << "a graph keeps the code";
}

}  // namespace
