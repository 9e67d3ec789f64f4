// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantized_rows.h"

BW_QUANTIZED_ROWS(Q2_K, q2_k)
BW_QUANTIZED_ROWS(Q3_K, q3_k)
BW_QUANTIZED_ROWS(Q4_K, q4_k)
BW_QUANTIZED_ROWS(Q5_K, q5_k)
BW_QUANTIZED_ROWS(Q6_K, q6_k)
BW_QUANTIZED_ROWS(Q8_K, q8_k)
