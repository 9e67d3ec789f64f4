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
  EXPECT_EQ(to_pcre("[]a[:digit:]](?i:x)(?<!b)"), "[\\]a\\p{Nd}](?i:x)(?<!b)");
  for (const char* other :
       {"\\h",    "\\G",     "\\K",  "\\1", "(?<n>a)", "(?m)a", "(?(1)a)", "(*UTF)",    "[a[b]]",
        "[a&&b]", "[^x&&y]", "(?R)", "\\Q", "\\u12",   "\\pL",  "\\p",     "[[:odd:]]", "(?i:[[:upper:]])",
        "a{,2}",  "a{1,2}+", "a{2}?"})
    EXPECT_ERROR(to_pcre(other), Unsupported, "is not understood");
  EXPECT_EQ(to_pcre("a{1,2}?{}+{x}+\\p{L}+"), "a{1,2}?{}+{x}+\\p{L}+");
  EXPECT_ERROR(to_pcre("a[b"), Format, "the class at byte 1 of a[b has no end");
}

TEST(Pcre, Matches) {
  if (!BW_HAS_PCRE2) GTEST_SKIP() << "built without PCRE2";
  EXPECT_FALSE(Expression("(?<=a)b+").known());
  EXPECT_TRUE(Expression("\\p{N}").known());
  EXPECT_EQ(matches("(?<=a)b+", "abb b ab"), (Texts{"bb", "b"}));
  EXPECT_EQ(matches("[\\u4e00-\\u9fa5]+", "a\u4e2d\u6587b"), (Texts{"\u4e2d\u6587"}));
  EXPECT_EQ(matches("\\w+", "\u00e9t\u00e9 \u0416x"), (Texts{"\u00e9t\u00e9", "\u0416x"}));
  EXPECT_EQ(matches("x*", "\u00e9xxa"), (Texts{"", "xx", ""}));
  EXPECT_EQ(matches("^.", "ab\ncd"), (Texts{"a", "c"}));
}

// Members as the Python package has them.
TEST(Pcre, SetsOfCharacters) {
  if (!BW_HAS_PCRE2) GTEST_SKIP() << "built without PCRE2";
  const std::string text = "a\u00b2-\u00bc.\u200d\u00e9\u0301 \u24b6\u0b72_\u2160";
  EXPECT_EQ(matches("\\w+", text), (Texts{"a\u00b2", "\u00bc", "\u00e9\u0301", "\u24b6", "_\u2160"}));
  EXPECT_EQ(matches("\\W+", text), (Texts{"-", ".\u200d", " ", "\u0b72"}));
  const Texts words = {"a", "\u00e9\u0301", "\u24b6", "_\u2160"};
  const Texts others = {"\u00b2-\u00bc.\u200d", " ", "\u0b72"};
  for (const char* word : {"[\\w]+", "[^\\W]+", "[[:word:]]+", "[^[:^word:]]+", "[\\u0001\\w]+"})
    EXPECT_EQ(matches(word, text), words) << word;
  for (const char* other : {"[\\W]+", "[^\\w]+", "[[:^word:]]+", "[^\\u0001\\w]+"})
    EXPECT_EQ(matches(other, text), others) << other;
  EXPECT_EQ(matches("[a\\W]+", text), (Texts{"a\u00b2-\u00bc.\u200d", " ", "\u0b72"}));
  EXPECT_EQ(matches("[^a\\W^]+", text), (Texts{"\u00e9\u0301", "\u24b6", "_\u2160"}));
  EXPECT_EQ(matches("[^\\W_]+(?<!\\S[\\W])", "ab_c"), (Texts{"ab", "c"}));
  const std::string hindi = "\u0928\u092e\u0938\u094d\u0924\u0947";
  EXPECT_EQ(matches("\\b\\w+\\b", hindi + " x"), (Texts{hindi, "x"}));
  EXPECT_EQ(matches("\\B.", "ab "), (Texts{"b"}));
  EXPECT_EQ(matches("\\s+", "a\u180e\u3000\u0085\n"), (Texts{"\u3000\u0085\n"}));
  EXPECT_EQ(matches("[^\\S\\n]+", "a\u180e \n"), (Texts{" "}));
  EXPECT_EQ(matches("[[:alpha:]]+", "a\u0345\u00b2\u0301"), (Texts{"a\u0345"}));
  EXPECT_EQ(matches("[[:alnum:]]+", "a1\u00b2"), (Texts{"a1"}));
  EXPECT_EQ(matches("[[:upper:]]+", "aA\u2160\u24b6"), (Texts{"A\u2160\u24b6"}));
  EXPECT_EQ(matches("[[:lower:]]+", "A\u00aaa"), (Texts{"\u00aaa"}));
  EXPECT_EQ(matches("[[:punct:]]+", "a+\u00a9."), (Texts{"+\u00a9."}));
  EXPECT_EQ(matches("[[:print:]]+", "\u2028 \ue000\n"), (Texts{" \ue000"}));
  EXPECT_EQ(matches("\\p{Han}+", "\u4e2d\u3005\u3001\u30fc"), (Texts{"\u4e2d\u3005"}));
  EXPECT_EQ(matches("\\P{Nd}*\\P{Lu}\\D*\\P{Ll}", "--b-"), (Texts{"--b-"}));
  EXPECT_EQ(matches("[\\P{^katakana}]+", "\u30ab\u30fc"), (Texts{"\u30ab"}));
}

// As the Python package goes from match to match.
TEST(Pcre, EmptyMatches) {
  if (!BW_HAS_PCRE2) GTEST_SKIP() << "built without PCRE2";
  const auto places = [](std::string_view expression, std::string_view text) {
    std::string out;
    for (const Span& span : Pcre(expression).matches(text))
      out += std::to_string(span.from) + "-" + std::to_string(span.to) + " ";
    return out;
  };
  EXPECT_EQ(places("(?=(\\d{3})+(?!\\d))", "1234567"), "1-1 4-4 ");
  EXPECT_EQ(places("x*", "\u00e9xxa\u00e9"), "0-0 2-4 5-5 7-7 ");
  EXPECT_EQ(places("^|$", "a\n"), "0-0 1-1 2-2 ");
  EXPECT_EQ(places("$", ""), "");
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
