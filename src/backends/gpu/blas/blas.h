// SPDX-License-Identifier: Apache-2.0
// Vendors' libraries of matrix products, opened at run time where somebody wants them: what every one of them
// is to the GPU layer. Our own kernels need none of them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/gpu/blas/choice.h"
#include "backends/gpu/gemm.h"

namespace beeswax::gpu::blas {

/// c = op(a) op(b) for each matrix of a batch, column by column as BLAS has it: element (i, j) lies at
/// i + j * leading. op(a) is m by k, op(b) k by n; a turned side is stored transposed. Strides count
/// elements.
struct ColumnProduct {
  struct Side {
    const std::byte* data;
    int64_t leading, batch_stride;  ///< 0 broadcasts a or b over the batch
    bool turned;
  };
  DType type;  ///< of all three: F32, F16, BF16 or F64; sums are f32, or f64 of F64
  int64_t m, n, k, batch;
  Side a, b, c;  ///< c is never turned

  int64_t a_rows() const { return a.turned ? k : m; }
  int64_t a_columns() const { return a.turned ? m : k; }
  int64_t b_rows() const { return b.turned ? n : k; }
  int64_t b_columns() const { return b.turned ? k : n; }
};

/// The products that make `product`, one for each step of its batch that a stride does not tell; nothing
/// where a layout, a dtype or a size is none of BLAS.
std::optional<std::vector<ColumnProduct>> columns_of(const Product& product);

/// A library at work on one device. Calls come from any thread, with the device in use.
class Handle {
 public:
  virtual ~Handle() = default;
  /// Bytes of device memory that the library wants for a product, or nothing where it does not make such
  /// products.
  virtual std::optional<size_t> workspace(const ColumnProduct& product) = 0;
  /// Submits a product that workspace() took. Gives "function says ..." where the library refused, else "".
  virtual std::string multiply(const ColumnProduct& product, void* workspace, size_t bytes,
                               StreamHandle stream) = 0;
};

/// A library that may be there.
class Library {
 public:
  virtual ~Library() = default;
  virtual std::string_view product() const = 0;  ///< "rocBLAS"
  /// Why it is not usable, and what to install; empty where it is.
  virtual std::string reason() const = 0;
  /// With its version, where it tells: "rocBLAS 4.2.1".
  virtual std::string title() const = 0;
  /// The function that multiplies, for messages and traces.
  virtual const char* function() const = 0;
  /// Starts it on the device in use. Throws Device where the library refuses.
  virtual std::unique_ptr<Handle> start() const = 0;
};

/// The libraries for devices of a kind, the one to ask first first; opened at the first call.
std::span<const Library* const> libraries_for(DeviceKind kind);

/// What it is, or that it is not there, in few words: "cuBLASLt 13.1.0", "rocBLAS not found".
std::string summary_of(const Library& library);

/// Makes a product by a vendor's library where the choice falls on it: "own" never, "vendor" wherever the
/// library can, "auto" where the table of measurements says that it is faster and no graph is being recorded.
/// Tells whether it was made. With "vendor" throws Device where there is no library or it fails.
bool multiply(const Choice& choice, Gpu& gpu, Backend& backend, const Product& product);

}  // namespace beeswax::gpu::blas
