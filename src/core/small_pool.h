// SPDX-License-Identifier: Apache-2.0
// SmallPool<T>: memory for objects of one type. Each thread keeps a short list of freed blocks, so making and
// dropping a tensor takes no lock and no heap call. Under sanitizers it goes straight to the heap, so that
// they see every object.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace beeswax {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kPoolSmallObjects = false;
#else
inline constexpr bool kPoolSmallObjects = true;
#endif

template <class T>
class SmallPool {
 public:
  static void* take() {
    List& list = mine();
    if (!kPoolSmallObjects || list.head == nullptr) return ::operator new(sizeof(Block));
    Block* block = std::exchange(list.head, list.head->next);
    --list.count;
    return block;
  }

  static void give(void* memory) {
    List& list = mine();
    if (!kPoolSmallObjects || list.closed || list.count >= kKeep) {
      ::operator delete(memory);
      return;
    }
    auto* block = static_cast<Block*>(memory);
    block->next = std::exchange(list.head, block);
    ++list.count;
  }

 private:
  static constexpr int kKeep = 1024;
  union Block {
    Block* next;
    alignas(T) std::byte object[sizeof(T)];
  };
  struct List {
    Block* head = nullptr;
    int count = 0;
    bool closed = false;  // the thread is ending; later frees go to the heap
    ~List() {
      closed = true;
      while (head != nullptr) ::operator delete(std::exchange(head, head->next));
    }
  };
  static List& mine() {
    static thread_local List list;
    return list;
  }
};

}  // namespace beeswax
