// SPDX-License-Identifier: Apache-2.0
// Minimax polynomials. Written by tools/minimax.py; change that and run it again instead of editing this.
#pragma once

#include "core/math/basic.h"

// clang-format off
namespace beeswax::m {

// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2
BW_FN float exp_tail(float x) {
  return polynomial(x, 0x1.fffffcp-2f, 0x1.555488p-3f, 0x1.555842p-5f, 0x1.1240aap-7f,
                    0x1.6ae266p-10f);
}
BW_FN double exp_tail(double x) {
  return polynomial(x, 0x1.000000000000ap-1, 0x1.5555555555478p-3, 0x1.55555555503c4p-5, 0x1.1111111125616p-7,
                    0x1.6c16c18623993p-10, 0x1.a01a01bffc0bep-13, 0x1.a01992891bf97p-16, 0x1.71dced4eae99ep-19,
                    0x1.28b5e26c53b07p-22, 0x1.b226f77b60684p-26);
}

// (sinh(r) - r) / r^3 in z = r^2, |r| <= ln(2)/2
BW_FN float sinh_tail(float x) {
  return polynomial(x, 0x1.555556p-3f, 0x1.110fcp-7f, 0x1.a2dd44p-13f);
}
BW_FN double sinh_tail(double x) {
  return polynomial(x, 0x1.5555555555555p-3, 0x1.1111111111382p-7, 0x1.a01a019ea64d3p-13, 0x1.71de405e81f14p-19,
                    0x1.ae4d83e083ea9p-26, 0x1.817f6a37f78ffp-33);
}

// (cosh(r) - 1) / r^2 in z = r^2, |r| <= ln(2)/2
BW_FN float cosh_tail(float x) {
  return polynomial(x, 0x1p-1f, 0x1.5554e4p-5f, 0x1.6d51dcp-10f);
}
BW_FN double cosh_tail(double x) {
  return polynomial(x, 0x1p-1, 0x1.5555555555558p-5, 0x1.6c16c16c14fdbp-10, 0x1.a01a01ad93495p-16,
                    0x1.27e4cbd21c413p-22, 0x1.1f8c5ad90ef61p-29);
}

// (sin(r) - r) / r^3 in z = r^2, |r| <= pi/4
BW_FN float sin_tail(float x) {
  return polynomial(x, -0x1.555546p-3f, 0x1.110772p-7f, -0x1.99504p-13f);
}
BW_FN double sin_tail(double x) {
  return polynomial(x, -0x1.5555555555548p-3, 0x1.111111110f716p-7, -0x1.a01a019be3477p-13, 0x1.71de354e2c742p-19,
                    -0x1.ae5e43ae3272ep-26, 0x1.5d881d3510ed8p-33);
}

// (cos(r) - 1 + r^2/2) / r^4 in z = r^2, |r| <= pi/4
BW_FN float cos_tail(float x) {
  return polynomial(x, 0x1.55554ap-5f, -0x1.6c0c1ap-10f, 0x1.99e0e6p-16f);
}
BW_FN double cos_tail(double x) {
  return polynomial(x, 0x1.555555555554bp-5, -0x1.6c16c16c15003p-10, 0x1.a01a019c8b317p-16, -0x1.27e4f7ed0b6b8p-22,
                    0x1.1ee9d79c7c23cp-29, -0x1.8fa3c8824b557p-37);
}

// (log(1+f) - f + f^2/2) / f^3 for 1+f between sqrt(1/2) and sqrt(2)
BW_FN float log_tail(float x) {
  return polynomial(x, 0x1.555548p-2f, -0x1.00007p-2f, 0x1.99a54p-3f, -0x1.552f0ep-3f,
                    0x1.23034ap-3f, -0x1.01052ep-3f, 0x1.eff8e8p-4f, -0x1.bf15b6p-4f,
                    0x1.b5353p-5f);
}

// (2 atanh(s) - 2 s) / s^3 in z = s^2, |s| <= (sqrt(2)-1)/(sqrt(2)+1)
BW_FN double atanh_tail(double x) {
  return polynomial(x, 0x1.5555555555593p-1, 0x1.999999997f9f4p-2, 0x1.249249422af8p-2, 0x1.c71c51d68d318p-3,
                    0x1.74664a1d24d4fp-3, 0x1.39a085e733f17p-3, 0x1.2f124ae276b99p-3);
}

// (2 atanh(s) - 2 s - 2 s^3/3) / s^5 in z = s^2, |s| <= (sqrt(2)-1)/(sqrt(2)+1)
BW_FN float atanh_tail5(float x) {
  return polynomial(x, 0x1.999ap-2f, 0x1.24527ap-2f, 0x1.dfa31ap-3f);
}
BW_FN double atanh_tail5(double x) {
  return polynomial(x, 0x1.9999999999b33p-2, 0x1.2492492457789p-2, 0x1.c71c722dedea3p-3, 0x1.745ce9b21d15fp-3,
                    0x1.3b1ef59268dddp-3, 0x1.0f7efa4c9e1fep-3, 0x1.0e4c020d176dcp-3);
}

// (tanh(x) - x) / x^3 in z = x^2, |x| <= 0.8
BW_FN float tanh_tail(float x) {
  return polynomial(x, -0x1.55553ep-2f, 0x1.110b5ap-3f, -0x1.b92b3ep-5f, 0x1.5d146ap-6f,
                    -0x1.e5cd72p-8f, 0x1.9fb46p-10f);
}
BW_FN double tanh_tail(double x) {
  return polynomial(x, -0x1.5555555555525p-2, 0x1.111111110e1a4p-3, -0x1.ba1ba1b812912p-5, 0x1.664f482885249p-6,
                    -0x1.226e2c2119625p-7, 0x1.d6d298762e82bp-9, -0x1.7d95610641e0ep-10, 0x1.34e77362b5a0ep-11,
                    -0x1.f0732071a98cdp-13, 0x1.81d97ff84abf8p-14, -0x1.0d51af7602c81p-15, 0x1.1fbf60018d7e7p-17,
                    -0x1.4cd92ed339bbp-20);
}

// erf(x)/x - 1 in z = x^2, |x| <= 1
BW_FN float erf_tail(float x) {
  return polynomial(x, 0x1.06eba8p-3f, -0x1.81274p-2f, 0x1.ce2d5p-4f, -0x1.b7fe9p-6f,
                    0x1.542e0ep-8f, -0x1.a50ae8p-11f, 0x1.4c339cp-14f);
}
BW_FN double erf_tail(double x) {
  return polynomial(x, 0x1.06eba8214db69p-3, -0x1.812746b037a32p-2, 0x1.ce2f21a046da6p-4, -0x1.b82ce313f238bp-6,
                    0x1.565bcd4ef1a2fp-8, -0x1.c02dc1b54b1f3p-11, 0x1.f9a5054ffdb87p-14, -0x1.f4fe0a0ee7491p-17,
                    0x1.bca16585b496ep-20, -0x1.7d680c9f6ce8fp-23, 0x1.dc3d77b54b7dap-26, -0x1.331e7ff2cca15p-27,
                    0x1.7d0a3191f0401p-29, -0x1.cacdd1eaab668p-32);
}

// log(erfc(t)), 1 <= t <= 6 (4 for float)
BW_FN float log_erfc(float x) {
  return polynomial(x, 0x1.8a5356p-13f, -0x1.212c0cp0f, -0x1.44356cp-1f, -0x1.bc14dep-4f,
                    0x1.9d0254p-6f, -0x1.138b88p-8f, 0x1.cec18ap-12f, -0x1.6bcd92p-16f);
}
BW_FN double log_erfc(double x) {
  return polynomial(x, -0x1.f95f71fbfac95p-26, -0x1.20dd70857d268p0, -0x1.45f329caf63b6p-1, -0x1.a4f2c37fde25bp-4,
                    0x1.3962c8e9f1b91p-6, 0x1.a9d5f16378311p-13, -0x1.b750324afb439p-10, 0x1.2205db44f8c31p-11,
                    0x1.6732fba369b4ep-16, -0x1.cf2def31c1ad2p-14, 0x1.0eec189622038p-14, -0x1.96450c3d3ac99p-16,
                    0x1.c5ef2a2b8ff45p-18, -0x1.8932d6324fb5cp-20, 0x1.096a0ce18a02bp-22, -0x1.13561a15831fep-25,
                    0x1.a90d9e14ec808p-29, -0x1.cc58bda68da75p-33, 0x1.382d70218e74p-37, -0x1.8ee3c5a1d99fap-43);
}

// (t + 2) e^(t^2) erfc(t) - 1 in u = (2 - t) / (2 + t), 0 <= t <= 28 (11 for float)
BW_FN float erfcx_tail(float x) {
  return polynomial(x, 0x1.619c6ep-6f, 0x1.5fd386p-1f, 0x1.1e2decp-2f, 0x1.2a8966p-5f,
                    -0x1.606c48p-6f, -0x1.a8ad52p-8f, 0x1.94b94ep-9f, 0x1.b6c924p-11f,
                    -0x1.55c378p-11f, -0x1.03c6cp-15f, 0x1.f4711cp-14f, -0x1.e4012p-16f);
}
BW_FN double erfcx_tail(double x) {
  return polynomial(x, 0x1.619c6d4b1dd7cp-6, 0x1.5fd386754effap-1, 0x1.1e2deea6b115ep-2, 0x1.2a88e6107cbc1p-5,
                    -0x1.606e4155243dap-6, -0x1.a89eaff7af45dp-8, 0x1.9517bb6c132ccp-9, 0x1.b6fbf92de66a5p-11,
                    -0x1.5ba4375d14274p-11, -0x1.2053cc031be8cp-15, 0x1.2efa0b0baaf7dp-13, -0x1.1e781d5cfd892p-15,
                    -0x1.6bfc330183cp-16, 0x1.0e86a8e660175p-16, -0x1.2f37c39ca9b45p-20, -0x1.ea68b0d964353p-19,
                    0x1.0e39ef96ddc8ep-19, 0x1.105ffe696566cp-26, -0x1.3ecf9c6d5e3f8p-21, 0x1.46ad4549f4ee7p-22,
                    0x1.c877cc50cb1efp-26, -0x1.a2e19dac758c6p-24, 0x1.1a46b712ded24p-25, 0x1.f781b9b7055a2p-28,
                    -0x1.f0ee357b9a5f1p-28, 0x1.dea0a3715ae1bp-30, -0x1.c586562ea4c19p-33);
}

// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2, to 2^-17
BW_FN float exp_tail_short(float x) {
  return horner(x, 0x1.0006d4p-1f, 0x1.57207cp-3f, 0x1.521ec8p-5f);
}

// (log(1+f) - f) / f^2 for 1+f between sqrt(1/2) and sqrt(2), to 2^-17
BW_FN float log_tail_short(float x) {
  return polynomial(x, -0x1.0000a8p-1f, 0x1.55566ap-2f, -0x1.ff323ep-3f, 0x1.98676ap-3f,
                    -0x1.61d3fcp-3f, 0x1.4b30acp-3f, -0x1.b5b5ep-4f);
}

// (t + 2) e^(t^2) erfc(t) - 1 in u = (2 - t) / (2 + t), 0 <= t <= 11, to 2^-16
BW_FN float erfcx_tail_short(float x) {
  return polynomial(x, 0x1.619d94p-6f, 0x1.5fd59ep-1f, 0x1.1e2cdap-2f, 0x1.28b65p-5f,
                    -0x1.5f998ep-6f, -0x1.78415p-8f, 0x1.656668p-9f);
}

}  // namespace beeswax::m
// clang-format on
