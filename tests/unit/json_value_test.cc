// SPDX-License-Identifier: Apache-2.0
#include "io/json_value.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/expect_error.h"

namespace beeswax::io {
namespace {

JsonValue parse(std::string_view text) { return JsonValue::parse(text, "test.json"); }

TEST(JsonValue, Kinds) {
  const JsonValue all = parse(
      R"({"a": [1, -2, 2.5, 1e3, true, false, null, "t\u00e9", {"b": {}}], "c": 18446744073709551615, "d": []})");
  const JsonValue::List& list = *all.find("a")->as_list();
  ASSERT_EQ(list.size(), 9u);
  EXPECT_EQ(list[0].as_whole(), 1);
  EXPECT_EQ(list[0].as_number(), 1.0);
  EXPECT_EQ(list[1].as_whole(), -2);
  EXPECT_EQ(list[2].as_whole(), std::nullopt);
  EXPECT_EQ(list[2].as_number(), 2.5);
  EXPECT_EQ(list[3].as_whole(), 1000);
  EXPECT_EQ(list[4].as_bool(), true);
  EXPECT_EQ(list[5].as_bool(), false);
  EXPECT_EQ(list[5].as_number(), std::nullopt);
  EXPECT_TRUE(list[6].is_null());
  EXPECT_EQ(*list[7].as_text(), "t\u00e9");
  EXPECT_EQ(list[7].as_object(), nullptr);
  EXPECT_NE(list[8].find("b"), nullptr);
  EXPECT_EQ(list[8].find("c"), nullptr);
  EXPECT_EQ(all.find("c")->as_whole(), std::nullopt);
  EXPECT_EQ(all.find("c")->as_number(), 18446744073709551615.0);
  EXPECT_TRUE(all.find("d")->as_list()->empty());
  EXPECT_EQ(all.find("a")->find("a"), nullptr);
  EXPECT_EQ(parse("7").as_whole(), 7);
}

TEST(JsonValue, AsText) {
  EXPECT_EQ(parse(R"({"a": [1, -2.5, 1e300, true, null], "b": {"c": "d"}})").to_string(),
            R"({"a": [1, -2.5, 1e+300, true, ...], "b": {"c": "d"}})");
}

TEST(JsonValue, Refusals) {
  EXPECT_ERROR(parse("{"), Format, "test.json is not JSON");
  EXPECT_ERROR(parse("[1] 2"), Format, "is not JSON");
  EXPECT_ERROR(parse(R"({"a": 1, "a": 2})"), Format, "names 'a' twice");
  EXPECT_ERROR(parse(std::string(17, '[') + std::string(17, ']')), Format, "deeper than 16 levels");
  EXPECT_NO_THROW(parse(std::string(16, '[') + std::string(16, ']')));
  EXPECT_ERROR(parse("NaN"), Format, "is not JSON");
  EXPECT_ERROR(parse("1e999"), Format, "is not JSON");
}

TEST(JsonValue, Files) {
  const auto path = std::filesystem::temp_directory_path() / "beeswax_json_value_test.json";
  std::ofstream(path) << R"({"a": 1})";
  EXPECT_EQ(JsonValue::read(path.string(), 8).find("a")->as_whole(), 1);
  EXPECT_ERROR(JsonValue::read(path.string(), 7), Format, "is 8 bytes long; at most 7");
  std::filesystem::remove(path);
  EXPECT_ERROR(JsonValue::read(path.string(), 7), Io, "beeswax_json_value_test.json");
}

}  // namespace
}  // namespace beeswax::io
