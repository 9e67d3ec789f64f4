// SPDX-License-Identifier: Apache-2.0
// Tensors print as NumPy prints them: the expected texts are str() of the same arrays in NumPy 2.4.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "beeswax/tensor.h"
#include "support/devices.h"

namespace beeswax {
namespace {

Tensor of(const std::vector<float>& values, const Shape& shape) { return Tensor::from_vec(values, shape); }

struct Case {
  Tensor tensor;
  const char* text;
};

TEST(Print, LikeNumPy) {
  const Case cases[] = {
      {of({1, 2.5, -3, 0.1f}, {4}), "[ 1.   2.5 -3.   0.1]"},
      {of({1, 2, 3, 4, 5, 6}, {2, 3}), "[[1. 2. 3.]\n [4. 5. 6.]]"},
      {of({1e-5f, 1, 2}, {3}), "[1.e-05 1.e+00 2.e+00]"},
      {of({1e9, 1, -2}, {3}), "[ 1.e+09  1.e+00 -2.e+00]"},
      {of({NAN, 1, INFINITY, -INFINITY}, {4}), "[ nan   1.  inf -inf]"},
      {of({NAN, 0.001f, 1e10}, {3}), "[   nan 1.e-03 1.e+10]"},
      {of({0.1f}, {1}), "[0.1]"},
      {of({static_cast<float>(1.0 / 3)}, {1}), "[0.33333334]"},
      {of({static_cast<float>(1.0 / 3)}, {1}).to_dtype(DType::F16), "[0.3333]"},
      {Tensor::from_vec(std::vector<double>{1.0 / 3, 2}, {2}), "[0.33333333 2.        ]"},
      {Tensor::from_vec(std::vector<double>{3.14159265358979, -100}, {2}), "[   3.14159265 -100.        ]"},
      {of({7}, {}), "7.0"},
      {of({0.1f}, {}), "0.1"},
      {Tensor::from_vec(std::vector<int64_t>{1, -20, 300}, {3}), "[  1 -20 300]"},
      {Tensor::from_vec(std::vector<uint8_t>{1, 2, 3, 4}, {2, 2}), "[[1 2]\n [3 4]]"},
      {Tensor::arange(0, 24, DType::F32).reshape({2, 3, 4}),
       "[[[ 0.  1.  2.  3.]\n  [ 4.  5.  6.  7.]\n  [ 8.  9. 10. 11.]]\n\n [[12. 13. 14. 15.]\n  [16. 17. "
       "18. 19.]\n  [20. 21. 22. 23.]]]"},
      {Tensor::arange(0, 2000, DType::I32), "[   0    1    2 ... 1997 1998 1999]"},
      {Tensor::arange(0, 40, DType::F32),
       "[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.\n 18. 19. 20. 21. 22. 23. "
       "24. 25. 26. 27. 28. 29. 30. 31. 32. 33. 34. 35.\n 36. 37. 38. 39.]"},
      {Tensor::arange(0, 10000, DType::F32).reshape({100, 100}),
       "[[0.000e+00 1.000e+00 2.000e+00 ... 9.700e+01 9.800e+01 9.900e+01]\n [1.000e+02 1.010e+02 1.020e+02 "
       "... 1.970e+02 1.980e+02 1.990e+02]\n [2.000e+02 2.010e+02 2.020e+02 ... 2.970e+02 2.980e+02 "
       "2.990e+02]\n ...\n [9.700e+03 9.701e+03 9.702e+03 ... 9.797e+03 9.798e+03 9.799e+03]\n [9.800e+03 "
       "9.801e+03 9.802e+03 ... 9.897e+03 9.898e+03 9.899e+03]\n [9.900e+03 9.901e+03 9.902e+03 ... "
       "9.997e+03 9.998e+03 9.999e+03]]"},
      {Tensor::arange(0, 1200, DType::F32).reshape({2, 4, 150}),
       "[[[0.000e+00 1.000e+00 2.000e+00 ... 1.470e+02 1.480e+02 1.490e+02]\n  [1.500e+02 1.510e+02 "
       "1.520e+02 ... 2.970e+02 2.980e+02 2.990e+02]\n  [3.000e+02 3.010e+02 3.020e+02 ... 4.470e+02 "
       "4.480e+02 4.490e+02]\n  [4.500e+02 4.510e+02 4.520e+02 ... 5.970e+02 5.980e+02 5.990e+02]]\n\n "
       "[[6.000e+02 6.010e+02 6.020e+02 ... 7.470e+02 7.480e+02 7.490e+02]\n  [7.500e+02 7.510e+02 7.520e+02 "
       "... 8.970e+02 8.980e+02 8.990e+02]\n  [9.000e+02 9.010e+02 9.020e+02 ... 1.047e+03 1.048e+03 "
       "1.049e+03]\n  [1.050e+03 1.051e+03 1.052e+03 ... 1.197e+03 1.198e+03 1.199e+03]]]"},
      {Tensor::zeros({0}, DType::F32), "[]"},
  };
  for (const Case& c : cases) EXPECT_EQ(c.tensor.to_string(), c.text);
}

// Where lines end, digits are filled up or dropped, exponents begin, and exponents of three digits.
TEST(Print, AtTheEdgesOfTheRules) {
  const Case cases[] = {
      {Tensor::arange(10, 35, DType::I32),
       "[10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33\n 34]"},
      {Tensor::arange(10, 34, DType::I32).reshape({1, 24}),
       "[[10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33]]"},
      {of({26.375f, 45.5f, 27.625f, 54.125f, -56.25f, 60.125f, 29.625f, 8.25f, -42.375f, 9.25f}, {10}),
       "[ 26.375  45.5    27.625  54.125 -56.25   60.125  29.625   8.25  -42.375\n   9.25 ]"},
      {Tensor::from_vec(std::vector<double>{0.0151174000001, 1.0 / 3}, {2}), "[0.0151174  0.33333333]"},
      {of({1e8f, 1.0f / 3}, {2}), "[1.0000000e+08 3.3333334e-01]"},
      {of({7.272999e-08f, 78386774e3f}, {2}), "[7.272999e-08 7.838677e+10]"},
      {Tensor::from_vec(std::vector<double>{1e100, 1, -1e-5}, {3}), "[ 1.e+100  1.e+000 -1.e-005]"},
      {Tensor::from_vec(std::vector<double>{NAN, 1e-300}, {2}), "[    nan 1.e-300]"},
      {of({999999, 1000}, {2}), "[999999.   1000.]"},
      {of({1000000, 1000}, {2}), "[1.e+06 1.e+03]"},
      {Tensor::from_vec(std::vector<double>{99999999, 1000000}, {2}), "[99999999.  1000000.]"},
      {of({1000, 1}, {2}).to_dtype(DType::F16), "[1.e+03 1.e+00]"},
      {of({999, 1}, {2}).to_dtype(DType::F16), "[999.   1.]"},
      {of({0.0001f, 0.0002f}, {2}), "[0.0001 0.0002]"},
  };
  for (const Case& c : cases) EXPECT_EQ(c.tensor.to_string(), c.text);
}

// Neighbours that share a byte can be shown, and cut, too.
// Only what is shown is looked at.
TEST(Print, HugeBroadcasts) {
  constexpr int64_t kMany = 1 << 20;
  const Tensor two = Tensor::full({1}, 2, DType::F32);
  EXPECT_EQ(two.broadcast_as({kMany, kMany, kMany}).to_string(),
            Tensor::full({11, 11, 11}, 2, DType::F32).to_string());
  const Tensor row = Tensor::arange(0, 8, DType::I32);
  EXPECT_EQ(row.broadcast_as({kMany * kMany, 8}).to_string(), row.broadcast_as({200, 8}).copy().to_string());
  EXPECT_EQ(row.unsqueeze(1).broadcast_as({8, kMany * kMany}).to_string(),
            row.unsqueeze(1).broadcast_as({8, 200}).copy().to_string());
  const Tensor power = Tensor::from_bytes(std::vector<std::byte>{std::byte{129}}, {1}, DType::F8E8M0);
  EXPECT_EQ(power.broadcast_as({kMany * kMany}).to_string(), "[4. 4. 4. ... 4. 4. 4.]");
}

TEST(Print, PackedBelowAByte) {
  for (const DType dtype : {DType::F4, DType::F6E2M3, DType::F6E3M2}) {
    EXPECT_EQ(Tensor::ones({2}, DType::F32).to_dtype(dtype).to_string(), "[1. 1.]");
    EXPECT_EQ(Tensor::ones({1200}, DType::F32).to_dtype(dtype).to_string(), "[1. 1. 1. ... 1. 1. 1.]");
  }
}

TEST(Print, Scalars) {
  const Case cases[] = {
      {of({0.0001f}, {}), "1e-04"},
      {of({0.00015f}, {}), "0.00015"},
      {of({123456789.0f}, {}), "1.2345679e+08"},
      {of({999999}, {}), "999999.0"},
      {of({1e20f}, {}), "1e+20"},
      {of({2050}, {}).to_dtype(DType::F16), "2.05e+03"},
      {Tensor::scalar(9.99999e15, DType::F64), "9999990000000000.0"},
      {Tensor::scalar(1e16, DType::F64), "1e+16"},
      {Tensor::scalar(1.0 / 3, DType::F64), "0.3333333333333333"},
      {Tensor::scalar(1.0 / 3000, DType::F64), "0.0003333333333333333"},
      {Tensor::scalar(-1.5e-300, DType::F64), "-1.5e-300"},
      {of({-0.0f}, {}), "-0.0"},
      {of({-INFINITY}, {}), "-inf"},
  };
  for (const Case& c : cases) EXPECT_EQ(c.tensor.to_string(), c.text);
}

TEST(Print, StreamAddsWhatItIs) {
  std::ostringstream out;
  out << of({1, 2}, {2});
  EXPECT_EQ(out.str(), test::here("[1. 2.]\nTensor[2] f32 cpu"));
}

}  // namespace
}  // namespace beeswax
