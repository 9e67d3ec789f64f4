// SPDX-License-Identifier: Apache-2.0
// Normal forms: what the Unicode standard says must hold for every character, and its own examples.
#include "text/unicode.h"

#include <gtest/gtest.h>

#include <string>

#include "text/normal_form.h"
#include "text/utf8.h"

namespace beeswax::text {
namespace {

std::string form(std::string_view text, NormalForm form) { return normal_form(text, form); }

TEST(NormalForm, ExamplesOfTheStandard) {  // UAX #15, figures 3 to 6
  EXPECT_EQ(form("\u212b", NormalForm::Nfc), "\u00c5");
  EXPECT_EQ(form("\u212b", NormalForm::Nfd), "A\u030a");
  EXPECT_EQ(form("\u1e0b\u0323", NormalForm::Nfd), "d\u0323\u0307");
  EXPECT_EQ(form("\u1e0b\u0323", NormalForm::Nfc), "\u1e0d\u0307");
  EXPECT_EQ(form("q\u0307\u0323", NormalForm::Nfc), "q\u0323\u0307");
  EXPECT_EQ(form("\ufb01", NormalForm::Nfd), "\ufb01");
  EXPECT_EQ(form("\ufb01", NormalForm::Nfkd), "fi");
  EXPECT_EQ(form("2\u2075", NormalForm::Nfkc), "25");
  EXPECT_EQ(form("\u1e9b\u0323", NormalForm::Nfc), "\u1e9b\u0323");
  EXPECT_EQ(form("\u1e9b\u0323", NormalForm::Nfd), "\u017f\u0323\u0307");
  EXPECT_EQ(form("\u1e9b\u0323", NormalForm::Nfkc), "\u1e69");
  EXPECT_EQ(form("\u1e9b\u0323", NormalForm::Nfkd), "s\u0323\u0307");
}

TEST(NormalForm, HangulAndExclusions) {
  EXPECT_EQ(form("\ud55c", NormalForm::Nfd), "\u1112\u1161\u11ab");
  EXPECT_EQ(form("\u1112\u1161\u11ab", NormalForm::Nfc), "\ud55c");
  EXPECT_EQ(form("\uac00\u11a7", NormalForm::Nfc), "\uac00\u11a7");  // no trailing consonant
  EXPECT_EQ(form("\u0958", NormalForm::Nfc), "\u0915\u093c");        // excluded from composition
  EXPECT_EQ(form("\u0344", NormalForm::Nfc), "\u0308\u0301");
}

TEST(NormalForm, FormsOfEveryCharacterAreStable) {
  for (uint32_t code = 0; code <= 0x10ffff; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    std::string text;
    append_utf8(code, text);
    const std::string nfc = form(text, NormalForm::Nfc), nfd = form(text, NormalForm::Nfd);
    const std::string nfkd = form(text, NormalForm::Nfkd);
    ASSERT_EQ(form(nfc, NormalForm::Nfc), nfc) << code;
    ASSERT_EQ(form(nfd, NormalForm::Nfd), nfd) << code;
    ASSERT_EQ(form(nfc, NormalForm::Nfd), nfd) << code;
    ASSERT_EQ(form(nfd, NormalForm::Nfc), nfc) << code;
    ASSERT_EQ(form(nfd, NormalForm::Nfkd), nfkd) << code;
    ASSERT_EQ(form(nfkd, NormalForm::Nfkc), form(text, NormalForm::Nfkc)) << code;
  }
}

TEST(Unicode, LettersOfEveryVersionHaveTheirLowerCase) {
  EXPECT_EQ(to_lower(0x1c4), 0x1c6u);
  EXPECT_EQ(to_lower(0x1e9e), 0xdfu);
  EXPECT_EQ(to_lower(0x1c89), 0x1c8au);  // 16
  EXPECT_EQ(to_lower(0xa7cb), 0x264u);
  EXPECT_EQ(to_lower(0xa7cc), 0xa7cdu);
  EXPECT_EQ(to_lower(0xa7cd), 0xa7cdu);
  EXPECT_EQ(to_lower(0xa7da), 0xa7dbu);
  EXPECT_EQ(to_lower(0xa7dc), 0x19bu);
  EXPECT_EQ(to_lower(0x10d50), 0x10d70u);
  EXPECT_EQ(to_lower(0x10d65), 0x10d85u);
  EXPECT_EQ(to_lower(0x16ea0), 0x16ebbu);  // 17
  EXPECT_EQ(to_lower(0x16eb8), 0x16ed3u);
  EXPECT_EQ(to_lower(0xab6d), 0xab4cu);  // 18
  EXPECT_EQ(to_lower(0x1df7e), 0x1df7fu);
}

TEST(Unicode, Properties) {
  EXPECT_TRUE(is_word(0x24b6) && is_word(0x200d) && is_word('_') && is_word(0x660) && is_word(0x2160));
  EXPECT_FALSE(is_word(0xbd) || is_word('-') || is_word(0x1f600));
  EXPECT_TRUE(is_punctuation('$') && is_punctuation('~') && is_punctuation(0x3001) && is_punctuation(0x2014));
  EXPECT_FALSE(is_punctuation(0xa3) || is_punctuation('a') || is_punctuation(' '));
  EXPECT_TRUE(is_numeric(0xbd) && is_numeric('7') && is_numeric(0x2167));
}

}  // namespace
}  // namespace beeswax::text
