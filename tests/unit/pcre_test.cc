// SPDX-License-Identifier: Apache-2.0
// Regular expressions of others: what PCRE2 matches, what would mean something else there, and bounds.
#include "text/pcre.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expect_error.h"
#include "text/expression.h"

namespace beeswax::text {
namespace {

std::vector<std::string> matches(std::string_view expression, std::string_view text) {
  std::vector<std::string> out;
  for (const Span& span : Expression(expression).matches(text))
    out.emplace_back(text.substr(span.from, span.to - span.from));
  return out;
}
using Texts = std::vector<std::string>;

TEST(Pcre, Translation) {
  EXPECT_EQ(to_pcre("[\\u4e00-\\u9fa5]\\\\u\\p{L}"), "[\\x{4e00}-\\x{9fa5}]\\\\u\\p{L}");
  EXPECT_EQ(to_pcre("[]a[:alpha:]](?i:x)(?<!b)"), "[\\]a[:alpha:]](?i:x)(?<!b)");
  for (const char* other : {"\\h", "\\G", "\\K", "\\1", "(?<n>a)", "(?m)a", "(?(1)a)", "(*UTF)", "[a[b]]",
                            "[a&&b]", "[^x&&y]", "(?R)", "\\Q", "\\u12"})
    EXPECT_ERROR(to_pcre(other), Unsupported, "is not understood");
}

TEST(Pcre, Matches) {
  if (!BW_HAS_PCRE2) GTEST_SKIP() << "built without PCRE2";
  EXPECT_FALSE(Expression("(?<=a)b+").known());
  EXPECT_TRUE(Expression("\\p{N}").known());
  EXPECT_EQ(matches("(?<=a)b+", "abb b ab"), (Texts{"bb", "b"}));
  EXPECT_EQ(matches("[\\u4e00-\\u9fa5]+", "a\u4e2d\u6587b"), (Texts{"\u4e2d\u6587"}));
  EXPECT_EQ(matches("\\w+", "\u00e9t\u00e9 \u0416x"), (Texts{"\u00e9t\u00e9", "\u0416x"}));
  EXPECT_EQ(matches("x*", "\u00e9xxa"), (Texts{"xx"}));  // empty matches are none
  EXPECT_EQ(matches("^.", "ab\ncd"), (Texts{"a", "c"}));
}

TEST(Pcre, BadExpressionsAndBounds) {
  if (!BW_HAS_PCRE2) GTEST_SKIP() << "built without PCRE2";
  EXPECT_ERROR(Pcre("a)"), Format, "unmatched closing parenthesis at byte 1 of a)");
  EXPECT_ERROR(Pcre("\\p{Elvish}"), Format, "unknown property");
  EXPECT_ERROR(Pcre("(?:(?:a{900}){900}){900}"), Format, "too large");
  EXPECT_ERROR(Pcre(std::string(100000, 'a')), TooLarge, "an expression of 100000 bytes");
  EXPECT_ERROR(Pcre("(a+)+$").matches(std::string(40, 'a').append("b")), TooLarge,
               "cannot be matched to a text of 41 bytes");
}

}  // namespace
}  // namespace beeswax::text
