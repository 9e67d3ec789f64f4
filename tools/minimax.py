# SPDX-License-Identifier: Apache-2.0
"""Makes src/core/math/polynomials.h: minimax polynomials by Remez exchange, from the definitions below.

    python3 tools/minimax.py > src/core/math/polynomials.h

Each row names a function g, an interval and a weight w, and asks for the polynomial P of n coefficients that
minimizes max |w (P - g)|. Coefficients are rounded one after the other, the most important first; the rest
are fitted again after each rounding, so that what is left is close to the best for the rounded ones.
The error that remains goes to stderr, in units of the last place of the result (2^-24 or 2^-53).
"""

import sys

from mpmath import mp, mpf, matrix, lu_solve, exp, expm1, log, log1p, sin, cos, tanh, sinh, cosh, atanh
from mpmath import erf, erfc, sqrt, pi, ln, frexp, ldexp, nint

mp.prec = 300
ROOT = sqrt(mpf(2))
TINY = mpf(2) ** -60
T_MAX = {24: mpf(11), 53: mpf(28)}


def round_to(value, digits):
    """value rounded to so many binary digits."""
    if value == 0:
        return value
    mantissa, exponent = frexp(value)
    return ldexp(nint(ldexp(mantissa, digits)), exponent - digits)


def remez(g, weight, low, high, powers):
    """Coefficients for the given powers of the variable, and the largest weighted error."""
    count = len(powers)
    grid = [
        (low + high) / 2 - (high - low) / 2 * cos(pi * i / (24 * (count + 1))) for i in range(24 * (count + 1) + 1)
    ]
    values = [(x, g(x), weight(x)) for x in grid if abs(x) > TINY]
    step = (len(values) - 1) / mpf(count)
    nodes = [values[int(nint(step * i))] for i in range(count + 1)]
    coefficients, worst = None, None
    for _ in range(40):
        system = matrix(count + 1, count + 1)
        right = matrix(count + 1, 1)
        for row, (x, y, w) in enumerate(nodes):
            for column, power in enumerate(powers):
                system[row, column] = x**power
            system[row, count] = (1 if row % 2 else -1) / w
            right[row] = y
        solution = lu_solve(system, right)
        coefficients = [solution[i] for i in range(count)]
        level = abs(solution[count])
        errors = [w * (sum(c * x**p for c, p in zip(coefficients, powers)) - y) for x, y, w in values]
        # One extremum for each run of equal sign; keep the count + 1 best in a row.
        extrema = []
        for index, error in enumerate(errors):
            if extrema and (errors[extrema[-1]] < 0) == (error < 0):
                if abs(error) > abs(errors[extrema[-1]]):
                    extrema[-1] = index
            else:
                extrema.append(index)
        while len(extrema) > count + 1:
            if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]):
                extrema.pop(0)
            else:
                extrema.pop()
        worst = max(abs(e) for e in errors)
        if len(extrema) < count + 1 or worst <= level * (1 + mpf(10) ** -4):
            break
        nodes = [values[i] for i in extrema]
    return coefficients, worst


def fit(g, weight, low, high, count, digits, order=1):
    """Rounded coefficients, lowest power first. `order`: +1 rounds the lowest power first."""
    fixed = {}
    sequence = list(range(count))[::order]
    for number, power in enumerate(sequence):
        if number < 4 or number == count - 1 or count < 8:
            free = [p for p in range(count) if p not in fixed]
            rest = lambda x: g(x) - sum(c * x**p for p, c in fixed.items())
            coefficients, _ = remez(rest, weight, low, high, free)
            found = dict(zip(free, coefficients))
        fixed[power] = round_to(found[power], digits)
    points = [low + (high - low) * i / mpf(997) for i in range(998)]
    worst = max(abs(weight(x) * (sum(c * x**p for p, c in fixed.items()) - g(x))) for x in points if abs(x) > TINY)
    return [fixed[p] for p in range(count)], worst


def literal(value, double):
    """Hexadecimal literal."""
    sign = "-" if value < 0 else ""
    mantissa, exponent = frexp(abs(value))
    bits = 52 if double else 23
    whole = int(ldexp(mantissa, bits + 1))
    assert ldexp(mpf(whole), exponent - bits - 1) == abs(value)
    fraction = whole - (1 << bits)
    shift = 0 if double else 1
    digits = f"{fraction << shift:0{13 if double else 6}x}".rstrip("0")
    return f"{sign}0x1{'.' + digits if digits else ''}p{exponent - 1}{'' if double else 'f'}"


def erfcx(t):
    return exp(t * t) * erfc(t)


HALF_LN2 = ln(mpf(2)) / 2 * (1 + mpf(2) ** -8)
QUARTER_PI = pi / 4 * (1 + mpf(2) ** -8)
ATANH_MAX = ((ROOT - 1) / (ROOT + 1)) ** 2 * (1 + mpf(2) ** -10)


def in_square(f):
    """f of the square root of the variable."""
    return lambda z: f(sqrt(z))


# name, comment, function, weight, low, high, coefficients for float, for double
ROWS = [
    ("exp_tail", "(e^r - 1 - r) / r^2 for |r| <= ln(2)/2", lambda r: (exp(r) - 1 - r) / r**2,
     lambda r: r * r / exp(r), -HALF_LN2, HALF_LN2, 5, 10),
    ("sinh_tail", "(sinh(r) - r) / r^3 in z = r^2, |r| <= ln(2)/2", in_square(lambda r: (sinh(r) - r) / r**3),
     lambda z: z, TINY, HALF_LN2**2, 3, 6),
    ("cosh_tail", "(cosh(r) - 1) / r^2 in z = r^2, |r| <= ln(2)/2", in_square(lambda r: (cosh(r) - 1) / r**2),
     lambda z: z, TINY, HALF_LN2**2, 3, 6),
    ("sin_tail", "(sin(r) - r) / r^3 in z = r^2, |r| <= pi/4", in_square(lambda r: (sin(r) - r) / r**3),
     lambda z: z, TINY, QUARTER_PI**2, 3, 6),
    ("cos_tail", "(cos(r) - 1 + r^2/2) / r^4 in z = r^2, |r| <= pi/4",
     in_square(lambda r: (cos(r) - 1 + r * r / 2) / r**4), lambda z: z * z, TINY, QUARTER_PI**2, 3, 6),
    ("log_tail", "(log(1+f) - f + f^2/2) / f^3 for 1+f between sqrt(1/2) and sqrt(2)",
     lambda f: (log1p(f) - f + f * f / 2) / f**3, lambda f: f**3 / log1p(f), 1 / ROOT - 1 - mpf(2) ** -20,
     ROOT - 1 + mpf(2) ** -20, 9, 0),
    ("atanh_tail", "(2 atanh(s) - 2 s) / s^3 in z = s^2, |s| <= (sqrt(2)-1)/(sqrt(2)+1)",
     in_square(lambda s: (2 * atanh(s) - 2 * s) / s**3), lambda z: z, TINY, ATANH_MAX, 0, 7),
    ("atanh_tail5", "(2 atanh(s) - 2 s - 2 s^3/3) / s^5 in z = s^2, |s| <= (sqrt(2)-1)/(sqrt(2)+1)",
     in_square(lambda s: (2 * atanh(s) - 2 * s - 2 * s**3 / 3) / s**5), lambda z: z * z, TINY, ATANH_MAX, 3, 7),
    ("tanh_tail", "(tanh(x) - x) / x^3 in z = x^2, |x| <= 0.8", in_square(lambda x: (tanh(x) - x) / x**3),
     lambda z: z, TINY, mpf("0.8") ** 2, 6, 13),
    ("erf_tail", "erf(x)/x - 1 in z = x^2, |x| <= 1", in_square(lambda x: erf(x) / x - 1), lambda z: mpf(1), TINY,
     mpf(1), 7, 14),
    ("log_erfc", "log(erfc(t)), 1 <= t <= 6 (4 for float)", lambda t: log(erfc(t)), erfc, mpf(1),
     lambda digits: mpf(4) if digits == 24 else mpf(6), 8, 20),
    ("erfcx_tail", "(t + 2) e^(t^2) erfc(t) - 1 in u = (2 - t) / (2 + t), 0 <= t <= 28 (11 for float)",
     lambda u: erfcx(2 * (1 - u) / (1 + u)) * 4 / (1 + u) - 1, lambda u: mpf(1), lambda digits: (2 - T_MAX[digits]) / (2 + T_MAX[digits]), mpf(1),
     12, 27),
    # For results of 16 and 8 bits: 2^-14 is enough.
    ("exp_tail_short", "(e^r - 1 - r) / r^2 for |r| <= ln(2)/2, to 2^-17", lambda r: (exp(r) - 1 - r) / r**2,
     lambda r: r * r / exp(r), -HALF_LN2, HALF_LN2, 3, 0),
    ("log_tail_short", "(log(1+f) - f) / f^2 for 1+f between sqrt(1/2) and sqrt(2), to 2^-17",
     lambda f: (log1p(f) - f) / f**2, lambda f: f**2 / log1p(f), 1 / ROOT - 1 - mpf(2) ** -20,
     ROOT - 1 + mpf(2) ** -20, 7, 0),
    ("erfcx_tail_short", "(t + 2) e^(t^2) erfc(t) - 1 in u = (2 - t) / (2 + t), 0 <= t <= 11, to 2^-16",
     lambda u: erfcx(2 * (1 - u) / (1 + u)) * 4 / (1 + u) - 1, lambda u: mpf(1) / erfcx(2 * (1 - u) / (1 + u)) / 4 * (1 + u),
     (2 - T_MAX[24]) / (2 + T_MAX[24]), mpf(1), 7, 0),
]


def main():
    print("""// SPDX-License-Identifier: Apache-2.0
// Minimax polynomials. Written by tools/minimax.py; change that and run it again instead of editing this.
#pragma once

#include "core/math/basic.h"

// clang-format off
namespace beeswax::m {
""")
    only = sys.argv[1:]
    for name, comment, g, weight, low, high, single, double in ROWS:
        if only and name not in only:
            continue
        print(f"// {comment}")
        for ctype, count, digits in (("float", single, 24), ("double", double, 53)):
            if count == 0:
                continue
            ends = [end(digits) if callable(end) else end for end in (low, high)]
            coefficients, worst = fit(g, weight, *ends, count, digits)
            ulps = float(worst * mpf(2) ** digits)
            print(f"{name} {ctype} {count} coefficients: {ulps:.3g} ulp", file=sys.stderr, flush=True)
            print(f"BW_FN {ctype} {name}({ctype} x) {{")
            parts = [literal(c, ctype == "double") for c in coefficients]
            # Three coefficients are as soon done by Horner's rule, which needs no square.
            call = "  return " + ("horner" if count == 3 and name.endswith("_short") else "polynomial") + "(x, "
            print(call + (",\n" + " " * len(call)).join(
                ", ".join(parts[i:i + 4]) for i in range(0, len(parts), 4)) + ");")
            print("}")
        print()
    print("}  // namespace beeswax::m\n// clang-format on")


if __name__ == "__main__":
    main()
