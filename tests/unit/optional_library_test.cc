// SPDX-License-Identifier: Apache-2.0
// Libraries that need not be there: why one is not usable, and which variable names another file.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/gpu/api_load.h"
#include "support/apart.h"
#include "support/library_without.h"

namespace beeswax::gpu {
namespace {

constexpr const char* kVariable = "BEESWAX_SOME_LIBRARY";
const std::string kFake = BW_BINARY_DIR "/lib-fake/libcuda.so";

OptionalLibrary::Wanted wanted(std::vector<std::string> names) {
  return {"Some library", kVariable, std::move(names), "install it"};
}

TEST(OptionalLibrary, ThatIsNotThereSaysWhatToDo) {
  OptionalLibrary library(wanted({"libsome_library_of_nobody.so"}));
  EXPECT_FALSE(library.load([](Symbols&) { ADD_FAILURE() << "looked into no library"; }));
  EXPECT_FALSE(library.is_usable());
  EXPECT_EQ(library.reason().find("Some library not found; install it, or name the file in "
                                  "BEESWAX_SOME_LIBRARY (libsome_library_of_nobody.so: "),
            0u)
      << library.reason();
  EXPECT_EQ(OptionalLibrary(wanted({})).reason(),
            "Some library not found; install it, or name the file in BEESWAX_SOME_LIBRARY");
}

// Of several names the first that is a file tells most, whatever is wrong with it.
TEST(OptionalLibrary, AFileThatDoesNotOpenIsTheReason) {
  const std::string absent = "libsome_library_of_nobody.so";
  const std::string garbage = testing::TempDir() + "beeswax_no_library.so";
  std::ofstream(garbage) << "no library";
  for (const auto& names : {std::vector{absent, garbage, absent}, std::vector{garbage, absent}}) {
    const std::string reason = OptionalLibrary(wanted(names)).reason();
    EXPECT_EQ(reason.find("Some library does not open; install it, or name the file in "
                          "BEESWAX_SOME_LIBRARY (" +
                          garbage + ": "),
              0u)
        << reason;
  }
  std::filesystem::remove(garbage);
}

TEST(OptionalLibrary, ALibraryThatAFileLacksIsTheReason) {
  const std::string lacking = test::library_without(kFake, "libc.so.6");  // needs _ibc.so.6 now
  const std::string reason = OptionalLibrary(wanted({"libsome_library_of_nobody.so", lacking})).reason();
  EXPECT_NE(reason.find(" does not open; "), std::string::npos) << reason;
  EXPECT_NE(reason.find("(" + lacking + ": _ibc.so.6: "), std::string::npos) << reason;
  std::filesystem::remove(lacking);
}

TEST(OptionalLibrary, TheFirstNameThatOpensServes) {
  OptionalLibrary library(wanted({"libsome_library_of_nobody.so", kFake}));
  int (*init)(unsigned) = nullptr;
  void (*nothing)() = nullptr;
  EXPECT_TRUE(library.load([&](Symbols& symbols) {
    symbols.find(init, "cuInit", Need::Required);
    symbols.find(nothing, "cuNothing", Need::Optional);
  }));
  EXPECT_NE(init, nullptr);
  EXPECT_EQ(nothing, nullptr);
  EXPECT_EQ(library.library().name(), kFake);
  EXPECT_FALSE(library.load([&](Symbols& symbols) {
    symbols.find(nothing, "cuNothing", Need::Required);
    symbols.find(nothing, "cuNobody", Need::Required);
  }));
  EXPECT_EQ(library.reason(),
            kFake + " lacks cuNothing, cuNobody; install it, or name the file in BEESWAX_SOME_LIBRARY");
}

TEST(OptionalLibrary, TheVariableNamesTheOnlyFile) {
  test::run_apart([] {
    ::setenv(kVariable, "/nowhere/libsome.so", 1);
    EXPECT_NE(OptionalLibrary(wanted({kFake})).reason().find("(/nowhere/libsome.so: "), std::string::npos);
    ::setenv(kVariable, kFake.c_str(), 1);
    EXPECT_TRUE(OptionalLibrary(wanted({})).is_usable());
    ::setenv(kVariable, "", 1);  // as if it were not set
    EXPECT_TRUE(OptionalLibrary(wanted({kFake})).is_usable());
    return "";
  });
}

}  // namespace
}  // namespace beeswax::gpu
