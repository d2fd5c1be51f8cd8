// Literals and names that a compiler reads back.
#include "codegen/step/Text.h"
#include "codegen/step/Names.h"

#include <gtest/gtest.h>

#include <limits>

using namespace syncline::codegen;

TEST(Text, QuotesWhatAStringLiteralCannotHold) {
  EXPECT_EQ(quoted("layer1.0.conv1"), "\"layer1.0.conv1\"");
  EXPECT_EQ(quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\012\"");
  EXPECT_EQ(quoted("\xc3\xa9"
                   "1"),
            "\"\\303\\2511\"");
  EXPECT_EQ(quoted("?\?="), "\"\\?\\?=\"");
}

TEST(Text, RealsReadBackExactly) {
  for (double value : {0.1, 1e-5, 3.0, 1e300, 2.2250738585072014e-308})
    EXPECT_EQ(std::stod(realLiteral(value)), value);
  EXPECT_EQ(realLiteral(3), "3.0");
  EXPECT_EQ(realLiteral(-std::numeric_limits<double>::infinity()), "-__builtin_inf()");
}

TEST(Text, NamesAreIdentifiersAndUnique) {
  Names names;
  EXPECT_EQ(names.unique("", "layer1.0.conv1"), "layer1_0_conv1");
  EXPECT_EQ(names.unique("", "layer1/0/conv1"), "layer1_0_conv1_2");
  EXPECT_EQ(names.unique("", "/features/0"), "features_0");
  EXPECT_EQ(names.unique("", "7"), "t7");
  EXPECT_EQ(names.unique("", "new"), "new_2");
  EXPECT_EQ(names.unique("d_", "fc.weight"), "d_fc_weight");
  EXPECT_EQ(names.unique("", "\xc3\xa9"), "t");
}
