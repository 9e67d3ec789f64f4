// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantized_matmul.h"

BW_QUANTIZED_MATMUL(Q2_K, q2_k)
BW_QUANTIZED_MATMUL(Q3_K, q3_k)
BW_QUANTIZED_MATMUL(Q4_K, q4_k)
BW_QUANTIZED_MATMUL(Q5_K, q5_k)
BW_QUANTIZED_MATMUL(Q6_K, q6_k)
BW_QUANTIZED_MATMUL(Q8_K, q8_k)
