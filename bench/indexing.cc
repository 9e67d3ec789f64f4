// SPDX-License-Identifier: Apache-2.0
// Operations by ids, and joining. The ids are random, so rows of a large table come from all over the memory.
#include "core/fail.h"
#include "harness.h"
#include "inputs.h"

namespace beeswax::bench {
namespace {

constexpr int64_t kColumns = 1024;

}  // namespace

BW_BENCH_GROUP(indexing, list, sizes) {
  const int64_t rows = sizes.memory_elements(DType::F32) / kColumns;
  const int64_t count = rows * kColumns;
  const Shape table{rows, kColumns};
  const double whole = bytes_of(DType::F32, count);
  const double ids_bytes = bytes_of(DType::U32, rows);
  const auto add = [&](const char* what, const std::string& shape, double bytes, Ceiling ceiling,
                       auto&& make) {
    list.add({.name = join_text("indexing/", what, "/f32"),
              .dtype = "f32",
              .shape = shape,
              .bytes = bytes,
              .ceiling = ceiling,
              .make = make});
  };
  const std::string shape = table.to_string();
  add("index_select_rows", shape, 2 * whole + ids_bytes, Ceiling::Copy, [=]() -> Body {
    return [x = shared_input(table, DType::F32), ids = random_ids({rows}, rows)] {
      static_cast<void>(x.index_select(ids, 0));
    };
  });
  add("index_select_columns", shape, 2 * whole, Ceiling::Copy, [=]() -> Body {
    return [x = shared_input(table, DType::F32), ids = random_ids({kColumns}, kColumns)] {
      static_cast<void>(x.index_select(ids, 1));
    };
  });
  add("gather_columns", shape, 3 * whole, Ceiling::Triad, [=]() -> Body {
    return [x = shared_input(table, DType::F32), ids = random_ids(table, kColumns)] {
      static_cast<void>(x.gather(ids, 1));
    };
  });
  add("gather_rows", shape, 3 * whole, Ceiling::Triad, [=]() -> Body {
    return [x = shared_input(table, DType::F32), ids = random_ids(table, rows)] {
      static_cast<void>(x.gather(ids, 0));
    };
  });
  // Both copy the destination first, then read the source and the touched rows and write these.
  const int64_t few = rows / 4;
  const double source = bytes_of(DType::F32, few * kColumns);
  const std::string pair = shape + " += " + Shape{few, kColumns}.to_string();
  add("index_add_rows", pair, 2 * whole + 3 * source, Ceiling::Copy, [=]() -> Body {
    return [x = shared_input(table, DType::F32), y = shared_input({few, kColumns}, DType::F32),
            ids = random_ids({few}, rows)] { static_cast<void>(x.index_add(ids, y, 0)); };
  });
  add("scatter_add_columns", pair, 2 * whole + 4 * source, Ceiling::Copy, [=]() -> Body {
    return [x = shared_input(table, DType::F32), y = shared_input({few, kColumns}, DType::F32),
            ids = random_ids({few, kColumns}, kColumns)] { static_cast<void>(x.scatter_add(ids, y, 1)); };
  });
  add("scatter_columns", pair, 2 * whole + 3 * source, Ceiling::Copy, [=]() -> Body {
    return [x = shared_input(table, DType::F32), y = shared_input({few, kColumns}, DType::F32),
            ids = random_ids({few, kColumns}, kColumns)] { static_cast<void>(x.scatter(ids, y, 1)); };
  });
  // What training an embedding does: many contributions to few rows.
  const int64_t words = 64;
  add("index_add_many_to_few", join_text("[", words, ", ", kColumns, "] += ", shape), whole, Ceiling::Read,
      [=]() -> Body {
        return [x = Tensor::zeros({words, kColumns}, DType::F32), y = shared_input(table, DType::F32),
                ids = random_ids({rows}, words)] { static_cast<void>(x.index_add(ids, y, 0)); };
      });
  const int64_t half = kColumns / 2;
  add("cat_columns", join_text("[", rows, ", ", half, "] x 2"), 2 * whole, Ceiling::Copy, [=]() -> Body {
    return [a = shared_input({rows, half}, DType::F32), b = shared_input({rows, half}, DType::F32, -2, 2)] {
      static_cast<void>(Tensor::cat({a, b}, 1));
    };
  });
  add("cat_rows", join_text("[", rows / 2, ", ", kColumns, "] x 2"), 2 * whole, Ceiling::Copy, [=]() -> Body {
    return [a = shared_input({rows / 2, kColumns}, DType::F32),
            b = shared_input({rows / 2, kColumns}, DType::F32, -2, 2)] {
      static_cast<void>(Tensor::cat({a, b}, 0));
    };
  });
}

}  // namespace beeswax::bench
