// The table that a calibration ends with.
#include "Invented.h"

#include "runtime/calibrate/ResultTable.h"

#include <gtest/gtest.h>

namespace syncline::calibrate {
namespace {

using testing::steady;

TEST(ResultTable, NamesTheFastestSchemeOfEverySize) {
  Findings f;
  f.schemes = {{Scheme::ring, {{1 << 10, steady(200e-6)}, {1 << 20, steady(4e-3)}}},
               {Scheme::tree, {{1 << 10, steady(90.04e-6)}, {1 << 20, steady(5e-3)}}},
               {Scheme::factors, {{1 << 10, steady(1e-6)}}}};
  EXPECT_EQ(resultTable(f), "size    ring   tree  factors  fastest    GB/s\n"
                            "1KiB  200 us  90 us     1 us     tree  0.0114\n"
                            "1MiB    4 ms   5 ms        -     ring   0.262\n");
}

// Sizes that only factors have, and schemes that no size was short enough for.
TEST(ResultTable, LeavesOpenWhatWasNotMeasured) {
  Findings f;
  f.schemes = {{Scheme::ring, {}}, {Scheme::factors, {{4096, steady(2)}}}};
  EXPECT_EQ(resultTable(f), "size  ring  factors  fastest  GB/s\n"
                            "4KiB     -      2 s        -     -\n");
  f.schemes[1].sizes.clear();
  EXPECT_EQ(resultTable(f), "");
}

} // namespace
} // namespace syncline::calibrate
