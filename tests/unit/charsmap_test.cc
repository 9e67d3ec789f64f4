// SPDX-License-Identifier: Apache-2.0
// SentencePiece's tables of texts and what they become, and grapheme clusters, against the Python packages
// tokenizers and regex (tests/text/charsmap.json, written by tools/make_charsmap_cases.py).
#include "text/charsmap.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/base64.h"
#include "models/tokenizer_json.h"
#include "support/expect_error.h"
#include "text/grapheme.h"

namespace beeswax::text {
namespace {

std::string folder() { return std::string(BW_SOURCE_DIR) + "/tests/text/"; }

nlohmann::json read(const std::string& name) {
  std::ifstream in(folder() + name);
  return nlohmann::json::parse(in);
}

std::vector<std::byte> table() {
  const nlohmann::json file = read("json/precompiled.json");
  const auto text = file["normalizer"]["normalizers"][0]["precompiled_charsmap"].get<std::string>();
  return io::base64_decode(text).value();
}

TEST(Charsmap, TextsAndIdsAreThoseOfThePythonPackage) {
  const nlohmann::json cases = read("charsmap.json");
  const auto texts = cases["texts"].get<std::vector<std::string>>();
  ASSERT_GE(texts.size(), 300u);
  const TextStep step = charsmap_step(table());
  const auto tokenizer =
      BW_HAS_PCRE2 ? models::load_tokenizer_json(folder() + "json/precompiled.json") : nullptr;
  for (size_t i = 0; i < texts.size(); ++i) {
    bool beheaded = false;
    EXPECT_EQ(step(texts[i], beheaded), cases["normalized"][i].get<std::string>()) << i << ": " << texts[i];
    if (tokenizer == nullptr) continue;
    EXPECT_EQ(tokenizer->encode(texts[i], {.parse_special = true}),
              cases["ids"][i].get<std::vector<int32_t>>())
        << i << ": " << texts[i];
  }
}

TEST(Charsmap, ClustersAreUnicodes) {
  const nlohmann::json cases = read("charsmap.json");
  for (size_t i = 0; i < cases["texts"].size(); ++i) {
    const auto text = cases["texts"][i].get<std::string>();
    std::vector<std::string> clusters;
    for (size_t at = 0; at < text.size(); at += clusters.back().size())
      clusters.push_back(text.substr(at, cluster_length(std::string_view(text).substr(at))));
    EXPECT_EQ(clusters, cases["clusters"][i].get<std::vector<std::string>>()) << i << ": " << text;
  }
}

// Bytes of a table: the units, then the texts.
std::vector<std::byte> bytes_of(const std::vector<uint32_t>& units, std::string_view texts,
                                int32_t more_units = 0) {
  std::vector<std::byte> out;
  const auto add = [&](uint32_t value) {
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  add(4 * (static_cast<uint32_t>(units.size()) + static_cast<uint32_t>(more_units)));
  for (const uint32_t unit : units) add(unit);
  for (const char c : texts) out.push_back(static_cast<std::byte>(c));
  return out;
}

// "a" (byte 0x61) becomes the text at `place`. The root's children are at 0x100 xor their byte.
std::vector<uint32_t> one_rule(uint32_t place) {
  std::vector<uint32_t> units(0x200, 0x80000000);
  units[0] = 0x100u << 10;
  units[0x161] = 0x61 | (1u << 8) | ((0x161u ^ 0x120u) << 10);
  units[0x120] = 0x80000000 | place;
  return units;
}

TEST(Charsmap, SmallestTable) {
  const Charsmap map(bytes_of(one_rule(2), std::string("x\0yz\0", 5)));
  EXPECT_EQ(map.find("a").value(), "yz");
  EXPECT_EQ(map.find("ab").value(), "yz");
  EXPECT_FALSE(map.find("b").has_value());
  EXPECT_FALSE(map.find("").has_value());
  EXPECT_FALSE(map.find(std::string_view("\0a", 2)).has_value());
}

TEST(Charsmap, UnsoundTablesAreRefused) {
  const auto sound = bytes_of(one_rule(0), std::string("\xc3\xa9\0", 3));
  EXPECT_EQ(Charsmap(sound).find("a").value(), "\u00e9");
  const std::span<const std::byte> all(sound);
  for (size_t size = 0; size <= 4 + 4 * 0x200; ++size)  // cut anywhere before the texts
    EXPECT_ERROR(Charsmap(all.first(size)), Format, "the precompiled charsmap");
  EXPECT_ERROR(Charsmap(bytes_of(one_rule(3), "abc")), Format, "leads to 3");
  EXPECT_ERROR(Charsmap(bytes_of(one_rule(1), "\u00e9")), Format, "leads to 1");
  EXPECT_ERROR(Charsmap(bytes_of(one_rule(0x7fffffff), "abc")), Format, "leads to 2147483647");
  EXPECT_ERROR(Charsmap(bytes_of(one_rule(0), "a\xff")), Format, "not UTF-8");
  EXPECT_ERROR(Charsmap(bytes_of(one_rule(0), "abc", 1)), Format, "claims a trie of 2052 bytes in 2055");
  auto far = one_rule(0);
  far[0x161] |= (0x1fffffu << 10) | (1u << 9);
  EXPECT_ERROR(Charsmap(bytes_of(far, "abc")), Format, "has an end at");
  auto ring = one_rule(0);  // "a" leads back to the root's children, so any number of them is a text
  ring[0x161] = 0x61 | ((0x161u ^ 0x100u) << 10);
  EXPECT_FALSE(Charsmap(bytes_of(ring, "abc")).find("aaaa").has_value());
}

TEST(Base64, DecodesWhatTheStandardShows) {
  const auto text = [](std::string_view in) -> std::string {
    const auto bytes = io::base64_decode(in);
    return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "refused";
  };
  // RFC 4648, section 10
  for (const auto& [in, out] : std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                                                {"Zg==", "f"},
                                                                                {"Zm8=", "fo"},
                                                                                {"Zm9v", "foo"},
                                                                                {"Zm9vYg==", "foob"},
                                                                                {"Zm9vYmE=", "fooba"},
                                                                                {"Zm9vYmFy", "foobar"},
                                                                                {"Zg", "f"},
                                                                                {"+/+/", "\xfb\xff\xbf"}})
    EXPECT_EQ(text(in), out) << in;
  for (const char* bad : {"Z", "Zg=", "Zh==", "Z===", "Zm9v\n", "Zm 9v", "Zm9=v", "-_-_"})
    EXPECT_EQ(text(bad), "refused") << bad;
}

}  // namespace
}  // namespace beeswax::text
