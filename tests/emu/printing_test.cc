// SPDX-License-Identifier: Apache-2.0
// printf of kernels on the host: every conversion against the C library's, arguments as kernels pack them,
// and entries of a buffer.
#include "emu/printing.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace emu {
namespace {

class Packed {
 public:
  Packed& number(uint64_t value) { return append(&value, sizeof value); }
  Packed& real(double value) { return append(&value, sizeof value); }
  Packed& text(const std::string& value) {
    append(value.c_str(), value.size() + 1);
    bytes_.resize((bytes_.size() + 7) / 8 * 8, std::byte{0xee});
    return *this;
  }
  Packed& append(const void* from, size_t size) {
    const auto* at = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), at, at + size);
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

template <class... Values>
std::string by_library(const char* format, Values... values) {
  std::array<char, 1024> text;
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

TEST(Printing, IntegersOfEveryLengthAreTheLibrarys) {
  // A kernel extends what is shorter than 64 bits by zeros.
  for (const uint64_t bits : {uint64_t{0}, uint64_t{5}, uint64_t{0xffffffff}, uint64_t{0x80000000},
                              uint64_t{0xff80}, uint64_t{0xfffffffffffffffe}, uint64_t{0x8000000000000000}}) {
    const auto bytes = Packed().number(bits).bytes();
#define SAME(format, type) EXPECT_EQ(print_text(format, bytes), by_library(format, static_cast<type>(bits)))
    SAME("%d", int);
    SAME("%i", int);
    SAME("%u", unsigned);
    SAME("%x", unsigned);
    SAME("%#X", unsigned);
    SAME("%#o", unsigned);
    SAME("%+08d", int);
    SAME("%-12d|", int);
    SAME("%.7d", int);
    SAME("% 5.3d", int);
    SAME("%hd", short);
    SAME("%hu", unsigned short);
    SAME("%hhd", signed char);
    SAME("%hhx", unsigned char);
    SAME("%ld", long);
    SAME("%lu", unsigned long);
    SAME("%lld", long long);
    SAME("%llx", unsigned long long);
    SAME("%zu", size_t);
    SAME("%jd", intmax_t);
    SAME("%td", ptrdiff_t);
#undef SAME
    EXPECT_EQ(print_text("%p", bytes), by_library("%p", reinterpret_cast<void*>(bits)));
  }
  EXPECT_EQ(print_text("%c%c", Packed().number('o').number('k').bytes()), "ok");
  EXPECT_EQ(print_text("%4c|%-4c|", Packed().number('o').number('k').bytes()), "   o|k   |");
}

TEST(Printing, RealsAreTheLibrarys) {
  for (const double value : {0.0, -0.0, 1.5, -123456.789, 1e300, 5e-324, 1.0 / 0.0, 0.0 / 0.0}) {
    const auto bytes = Packed().real(value).bytes();
    for (const char* format :
         {"%f", "%F", "%e", "%E", "%g", "%G", "%a", "%A", "%10.3f|", "%-+12.2e|", "%#g", "%.0f", "%010.1f"})
      EXPECT_EQ(print_text(format, bytes), by_library(format, value)) << format;
    EXPECT_EQ(print_text("%Lf %lf", Packed().real(value).real(value).bytes()),
              by_library("%f %f", value, value));
  }
}

TEST(Printing, TextsStandInPlace) {
  const auto bytes =
      Packed().text("").text("seven..").text("eight...").number(3).text("longer than that").bytes();
  EXPECT_EQ(print_text("[%s][%s][%s] %d [%.6s]!", bytes), "[][seven..][eight...] 3 [longer]!");
  EXPECT_EQ(print_text("[%10s|%-10s]", Packed().text("right").text("left").bytes()),
            "[     right|left      ]");
}

TEST(Printing, StarsTakeArguments) {
  EXPECT_EQ(print_text("%*d|", Packed().number(5).number(42).bytes()), "   42|");
  EXPECT_EQ(print_text("%*d|", Packed().number(uint32_t(-5)).number(42).bytes()), "42   |");
  EXPECT_EQ(print_text("%.*f|%*.*f", Packed().number(2).real(1.25).number(7).number(1).real(2.5).bytes()),
            "1.25|    2.5");
  // A precision below 0 is none.
  EXPECT_EQ(print_text("%.*d", Packed().number(uint32_t(-1)).number(7).bytes()), "7");
}

TEST(Printing, OddFormats) {
  EXPECT_EQ(print_text("100%% of %d%%", Packed().number(7).bytes()), "100% of 7%");
  EXPECT_EQ(print_text("", {}), "");
  EXPECT_EQ(print_text("no arguments\n", {}), "no arguments\n");
  EXPECT_EQ(print_text("%n%d", Packed().number(1).number(2).bytes()), "2");
  // What is no conversion stands for itself, and the text ends where arguments do.
  EXPECT_EQ(print_text("%y %d", Packed().number(2).bytes()), "%y 2");
  EXPECT_EQ(print_text("%d and %d, %d", Packed().number(2).bytes()), "2 and ");
  EXPECT_EQ(print_text("a %s b", Packed().append("no end", 6).bytes()), "a ");
  EXPECT_EQ(print_text("%", {}), "%");
  EXPECT_EQ(print_text("%-", {}), "%-");
  EXPECT_EQ(print_text("%99999999999d", Packed().number(1).bytes()).size(), 65536u);
}

void put(std::vector<std::byte>& buffer, bool to_stderr, bool hashed, const std::vector<std::byte>& body) {
  const auto head = uint32_t((body.size() + 4) << 2 | unsigned(hashed) << 1 | unsigned(to_stderr));
  const auto* at = reinterpret_cast<const std::byte*>(&head);
  buffer.insert(buffer.end(), at, at + 4);
  buffer.insert(buffer.end(), body.begin(), body.end());
}

TEST(Printing, EntriesOfABuffer) {
  const std::map<uint64_t, std::string> formats = {{0xfedcba9876543210, "hashed %d %s\n"}};
  std::vector<std::byte> buffer;
  put(buffer, false, true, Packed().number(0xfedcba9876543210).number(5).text("five").bytes());
  put(buffer, true, false, Packed().text("in place %g").real(0.5).bytes());
  put(buffer, false, false, Packed().text("").bytes());
  const auto texts = buffered_texts(buffer, formats);
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].text, "hashed 5 five\n");
  EXPECT_FALSE(texts[0].to_stderr);
  EXPECT_EQ(texts[1].text, "in place 0.5");
  EXPECT_TRUE(texts[1].to_stderr);
  EXPECT_EQ(texts[2].text, "");
  // Every shorter buffer has as many whole entries as fit.
  for (size_t size = 0; size < buffer.size(); ++size)
    EXPECT_LE(buffered_texts(std::span(buffer).first(size), formats).size(), 2u) << size;
  EXPECT_TRUE(buffered_texts(buffer, {}).empty());
  const std::vector<std::byte> zeros(64);
  EXPECT_TRUE(buffered_texts(zeros, formats).empty());
}

}  // namespace
}  // namespace emu
