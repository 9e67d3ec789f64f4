// SPDX-License-Identifier: Apache-2.0
// The product that stand-ins compute, and the device under them.
#pragma once

#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "fake_blas/fake_blas.h"

#define BW_FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {

enum class Type : char { None = 0, Half = 'h', Brain = 'b', Single = 'f', Double = 'd' };
size_t bytes_of(Type type);

/// d = alpha op(a) op(b) + beta c for each of a batch, by columns.
struct Matrices {
  BlasCall call;
  Type type;
  double alpha, beta;
  const void *a, *b, *c;
  void* d;
  void* workspace;
};

class Blas {
 public:
  static Blas& get();
  BlasControl control{};
  std::recursive_mutex mutex;

  /// 0, or what the fault says.
  int enter(const char* name);
  /// Notes an argument that is not taken, and gives `status`.
  int refuse(int status, const std::string& why);

  void* make();
  bool is_alive(const void* handle) const { return handles_.contains(handle); }
  bool release(const void* handle);

  /// Whether sizes are whole and every byte that the product touches lies in live memory of the device; "" or
  /// what is wrong.
  std::string wrong_with(const Matrices& product) const;
  /// Computes it when the stream comes to it, again whenever a graph does; false where the device refuses.
  bool submit(const Matrices& product, void* stream);

 private:
  std::set<const void*> handles_;
};

}  // namespace fake
