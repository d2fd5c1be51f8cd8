// Columns of text.
#include "frontend/report/Table.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::report;

// A column is as wide as its widest cell; numbers end at the same place.
TEST(Table, AlignsColumns) {
  Table table({{"name"}, {"bytes", Align::right}});
  table.addRow({"a", "12345678"});
  table.addRow({"longer", "1"});
  EXPECT_EQ(table.toString(), "name       bytes\n"
                              "a       12345678\n"
                              "longer         1\n");
}

// Two bytes of UTF-8 are one character wide.
TEST(Table, CountsCharacters) {
  Table table({{"n"}, {"t", Align::right}});
  table.addRow({"é", "1"});
  table.addRow({"ab", "2"});
  EXPECT_EQ(table.toString(), "n   t\né   1\nab  2\n");
}

TEST(Table, LeavesNoBlanksAtTheEndOfALine) {
  Table table({{"a"}, {"b"}});
  table.addRow({"x", ""});
  EXPECT_EQ(table.toString(), "a  b\nx\n");
}

TEST(Table, WithoutRowsIsItsTitles) { EXPECT_EQ(Table({{"a"}, {"b"}}).toString(), "a  b\n"); }
