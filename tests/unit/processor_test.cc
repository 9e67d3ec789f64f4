// SPDX-License-Identifier: Apache-2.0
// The variable that takes the loops of another maker's processors.
#include "backends/cpu/processor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "support/expect_error.h"

namespace beeswax::cpu {
namespace {

TEST(Processor, HasTheLoopsThatTheVariableNames) {
  const char* name = std::getenv("BEESWAX_CPU_MAKER");
  if (name == nullptr || *name == 0)
    GTEST_SKIP() << "BEESWAX_CPU_MAKER is not set; maker/processor_NAME sets it";
  const std::string_view maker = name;
  EXPECT_EQ(kMaker == Maker::intel, maker == "intel");
  EXPECT_EQ(kMaker == Maker::zen5, maker == "zen5");
  EXPECT_EQ(foresees_streams(), maker != "intel");
  EXPECT_EQ(reads_further(), maker == "zen5");
}

TEST(Processor, SaysWhichMakersThereAre) {
  const char* before = std::getenv("BEESWAX_CPU_MAKER");
  const std::string kept = before == nullptr ? "" : before;
  setenv("BEESWAX_CPU_MAKER", "zen9", 1);
  EXPECT_ERROR(check_maker(), InvalidArgument,
               "BEESWAX_CPU_MAKER=zen9 is not one of intel, zen5 (and later ones of AMD), other");
  for (const char* name : {"intel", "zen5", "other", ""}) {
    setenv("BEESWAX_CPU_MAKER", name, 1);
    EXPECT_NO_THROW(check_maker()) << name;
  }
  setenv("BEESWAX_CPU_MAKER", kept.c_str(), 1);
}

}  // namespace
}  // namespace beeswax::cpu
