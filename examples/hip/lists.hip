// SPDX-License-Identifier: Apache-2.0
// new and delete in kernels: each work-item makes a list of its own, another kernel adds it up and frees it.
#include <vector>

#include "check.h"

struct Node {
  int value;
  Node* next;
};

__global__ void make(Node** lists, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  Node* first = nullptr;
  for (int k = 0; k < i % n; ++k) first = new Node{i + k, first};
  lists[i] = first;
}

__global__ void sum(Node** lists, int* sums, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  // And an array, whose size only the kernel knows.
  int* values = static_cast<int*>(malloc(static_cast<size_t>(n) * sizeof(int)));
  int count = 0;
  for (Node* node = lists[i]; node != nullptr;) {
    values[count++] = node->value;
    Node* next = node->next;
    delete node;
    node = next;
  }
  int total = 0;
  for (int k = 0; k < count; ++k) total += values[k];
  free(values);
  sums[i] = total;
}

int main() {
  constexpr int blocks = 4, threads = 64, n = 10;
  Buffer<Node*> lists(blocks * threads);
  Buffer<int> sums(blocks * threads);
  std::vector<int> result(blocks * threads);
  make<<<blocks, threads>>>(lists.get(), n);
  sum<<<blocks, threads>>>(lists.get(), sums.get(), n);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  sums.take(result.data());
  int wrong = 0;
  for (int i = 0; i < blocks * threads; ++i) {
    int expected = 0;
    for (int k = 0; k < i % n; ++k) expected += i + k;
    wrong += result[i] != expected;
  }
  std::printf("%d lists, %d wrong\n", blocks * threads, wrong);
  return wrong != 0;
}
