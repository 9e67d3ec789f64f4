// SPDX-License-Identifier: Apache-2.0
// Minimax polynomials. Written by tools/minimax.py; change that and run it again instead of editing this.
#pragma once

#include "core/math/basic.h"

// clang-format off
namespace beeswax::m {

// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2
BW_FN float exp_tail(float x) {
  return horner(x, 0x1.fffffcp-2f, 0x1.555488p-3f, 0x1.555842p-5f, 0x1.1240aap-7f,
                0x1.6ae266p-10f);
}
BW_FN double exp_tail(double x) {
  return horner(x, 0x1.000000000000ap-1, 0x1.5555555555478p-3, 0x1.55555555503c4p-5, 0x1.1111111125616p-7,
                0x1.6c16c18623993p-10, 0x1.a01a01bffc0bep-13, 0x1.a01992891bf97p-16, 0x1.71dced4eae99ep-19,
                0x1.28b5e26c53b07p-22, 0x1.b226f77b60684p-26);
}

// (sinh(r) - r) / r^3 in z = r^2, |r| <= ln(2)/2
BW_FN float sinh_tail(float x) {
  return horner(x, 0x1.555556p-3f, 0x1.110fcp-7f, 0x1.a2dd44p-13f);
}
BW_FN double sinh_tail(double x) {
  return horner(x, 0x1.5555555555555p-3, 0x1.1111111111382p-7, 0x1.a01a019ea64d3p-13, 0x1.71de405e81f14p-19,
                0x1.ae4d83e083ea9p-26, 0x1.817f6a37f78ffp-33);
}

// (cosh(r) - 1) / r^2 in z = r^2, |r| <= ln(2)/2
BW_FN float cosh_tail(float x) {
  return horner(x, 0x1p-1f, 0x1.5554e4p-5f, 0x1.6d51dcp-10f);
}
BW_FN double cosh_tail(double x) {
  return horner(x, 0x1p-1, 0x1.5555555555558p-5, 0x1.6c16c16c14fdbp-10, 0x1.a01a01ad93495p-16,
                0x1.27e4cbd21c413p-22, 0x1.1f8c5ad90ef61p-29);
}

// (sin(r) - r) / r^3 in z = r^2, |r| <= pi/4
BW_FN float sin_tail(float x) {
  return horner(x, -0x1.555546p-3f, 0x1.110772p-7f, -0x1.99504p-13f);
}
BW_FN double sin_tail(double x) {
  return horner(x, -0x1.5555555555548p-3, 0x1.111111110f716p-7, -0x1.a01a019be3477p-13, 0x1.71de354e2c742p-19,
                -0x1.ae5e43ae3272ep-26, 0x1.5d881d3510ed8p-33);
}

// (cos(r) - 1 + r^2/2) / r^4 in z = r^2, |r| <= pi/4
BW_FN float cos_tail(float x) {
  return horner(x, 0x1.55554ap-5f, -0x1.6c0c1ap-10f, 0x1.99e0e6p-16f);
}
BW_FN double cos_tail(double x) {
  return horner(x, 0x1.555555555554bp-5, -0x1.6c16c16c15003p-10, 0x1.a01a019c8b317p-16, -0x1.27e4f7ed0b6b8p-22,
                0x1.1ee9d79c7c23cp-29, -0x1.8fa3c8824b557p-37);
}

// (tan(r) - r) / r^3 in z = r^2, |r| <= pi/4
BW_FN float tan_tail(float x) {
  return horner(x, 0x1.555562p-2f, 0x1.110d1cp-3f, 0x1.baefd8p-5f, 0x1.5be3e4p-6f,
                0x1.6727cep-7f, -0x1.192e52p-14f, 0x1.23d256p-8f);
}
BW_FN double tan_tail(double x) {
  return horner(x, 0x1.5555555555554p-2, 0x1.11111111112f2p-3, 0x1.ba1ba1b9fde18p-5, 0x1.664f488a3a94cp-6,
                0x1.226e343f896d2p-7, 0x1.d6d4090cd815cp-9, 0x1.7d9f98bef84dp-10, 0x1.35871445a4567p-11,
                0x1.f22d1b850a187p-13, 0x1.aca0937a066cap-14, 0x1.b803873a5bfb5p-16, 0x1.4c67531cf98c7p-15,
                -0x1.9b046283fdda3p-16, 0x1.fe8663deb4163p-16, -0x1.ed90169a76a89p-17, 0x1.4dbf646d834e7p-18);
}

// (log(1+f) - f + f^2/2) / f^3 for 1+f between sqrt(1/2) and sqrt(2)
BW_FN float log_tail(float x) {
  return horner(x, 0x1.555548p-2f, -0x1.00007p-2f, 0x1.99a54p-3f, -0x1.552f0ep-3f,
                0x1.23034ap-3f, -0x1.01052ep-3f, 0x1.eff8e8p-4f, -0x1.bf15b6p-4f,
                0x1.b5353p-5f);
}

// (2 atanh(s) - 2 s) / s^3 in z = s^2, |s| <= (sqrt(2)-1)/(sqrt(2)+1)
BW_FN double atanh_tail(double x) {
  return horner(x, 0x1.5555555555593p-1, 0x1.999999997f9f4p-2, 0x1.249249422af8p-2, 0x1.c71c51d68d318p-3,
                0x1.74664a1d24d4fp-3, 0x1.39a085e733f17p-3, 0x1.2f124ae276b99p-3);
}

// (2 atanh(s) - 2 s - 2 s^3/3) / s^5 in z = s^2, |s| <= (sqrt(2)-1)/(sqrt(2)+1)
BW_FN float atanh_tail5(float x) {
  return horner(x, 0x1.999ap-2f, 0x1.24527ap-2f, 0x1.dfa31ap-3f);
}
BW_FN double atanh_tail5(double x) {
  return horner(x, 0x1.9999999999b33p-2, 0x1.2492492457789p-2, 0x1.c71c722dedea3p-3, 0x1.745ce9b21d15fp-3,
                0x1.3b1ef59268dddp-3, 0x1.0f7efa4c9e1fep-3, 0x1.0e4c020d176dcp-3);
}

// (tanh(x) - x) / x^3 in z = x^2, |x| <= 1
BW_FN float tanh_tail(float x) {
  return horner(x, -0x1.555552p-2f, 0x1.11103ap-3f, -0x1.b9f65cp-5f, 0x1.64bac2p-6f,
                -0x1.18be34p-7f, 0x1.8ee76ep-9f, -0x1.ace1b8p-11f, 0x1.e3ead4p-14f);
}
BW_FN double tanh_tail(double x) {
  return horner(x, -0x1.555555555554fp-2, 0x1.1111111110b31p-3, -0x1.ba1ba1b9de4d2p-5, 0x1.664f487893265p-6,
                -0x1.226e345b76ab8p-7, 0x1.d6d3af1d8bdd6p-9, -0x1.7da1dcdaffecep-10, 0x1.354b5a5145e6fp-11,
                -0x1.f4df2e11fc22bp-13, 0x1.939d5e49ef50dp-14, -0x1.3f504cd7af1e7p-15, 0x1.df2e190cc9ecp-17,
                -0x1.3f542acce0823p-18, 0x1.554ce3ddf7b51p-20, -0x1.f4740fd57c842p-23, 0x1.6e15984f3354fp-26);
}

// erf(x)/x - 1 in z = x^2, |x| <= 1
BW_FN float erf_tail(float x) {
  return horner(x, 0x1.06eba8p-3f, -0x1.81274p-2f, 0x1.ce2d5p-4f, -0x1.b7fe9p-6f,
                0x1.542e0ep-8f, -0x1.a50ae8p-11f, 0x1.4c339cp-14f);
}
BW_FN double erf_tail(double x) {
  return horner(x, 0x1.06eba8214db69p-3, -0x1.812746b037a32p-2, 0x1.ce2f21a046da6p-4, -0x1.b82ce313f238bp-6,
                0x1.565bcd4ef1a2fp-8, -0x1.c02dc1b54b1f3p-11, 0x1.f9a5054ffdb87p-14, -0x1.f4fe0a0ee7491p-17,
                0x1.bca16585b496ep-20, -0x1.7d680c9f6ce8fp-23, 0x1.dc3d77b54b7dap-26, -0x1.331e7ff2cca15p-27,
                0x1.7d0a3191f0401p-29, -0x1.cacdd1eaab668p-32);
}

// (t + 2) e^(t^2) erfc(t) - 1 in u = (2 - t) / (2 + t), 0 <= t <= 28 (11 for float)
BW_FN float erfcx_tail(float x) {
  return horner(x, 0x1.619c6ep-6f, 0x1.5fd386p-1f, 0x1.1e2decp-2f, 0x1.2a8966p-5f,
                -0x1.606c48p-6f, -0x1.a8ad52p-8f, 0x1.94b94ep-9f, 0x1.b6c924p-11f,
                -0x1.55c378p-11f, -0x1.03c6cp-15f, 0x1.f4711cp-14f, -0x1.e4012p-16f);
}
BW_FN double erfcx_tail(double x) {
  return horner(x, 0x1.619c6d4b1dd7cp-6, 0x1.5fd386754effap-1, 0x1.1e2deea6b115ep-2, 0x1.2a88e6107cbc1p-5,
                -0x1.606e4155243dap-6, -0x1.a89eaff7af45dp-8, 0x1.9517bb6c132ccp-9, 0x1.b6fbf92de66a5p-11,
                -0x1.5ba4375d14274p-11, -0x1.2053cc031be8cp-15, 0x1.2efa0b0baaf7dp-13, -0x1.1e781d5cfd892p-15,
                -0x1.6bfc330183cp-16, 0x1.0e86a8e660175p-16, -0x1.2f37c39ca9b45p-20, -0x1.ea68b0d964353p-19,
                0x1.0e39ef96ddc8ep-19, 0x1.105ffe696566cp-26, -0x1.3ecf9c6d5e3f8p-21, 0x1.46ad4549f4ee7p-22,
                0x1.c877cc50cb1efp-26, -0x1.a2e19dac758c6p-24, 0x1.1a46b712ded24p-25, 0x1.f781b9b7055a2p-28,
                -0x1.f0ee357b9a5f1p-28, 0x1.dea0a3715ae1bp-30, -0x1.c586562ea4c19p-33);
}

}  // namespace beeswax::m
// clang-format on
