// Lists of consistencies on the command line.
#include "frontend/sweep/ConsistencySweep.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::sweep;

// A comma before a number belongs to the form, one before a letter ends it.
TEST(ConsistencySweepTest, SplitsForms) {
  Result<std::vector<std::string>> forms =
      splitForms("bsp,ssp:3,asp,dssp:3,15,easgd:async,0.1,4,local:8,diloco:8,2,1,.5");
  ASSERT_TRUE(forms) << forms.status().message();
  EXPECT_EQ(*forms, (std::vector<std::string>{"bsp", "ssp:3", "asp", "dssp:3,15",
                                              "easgd:async,0.1,4", "local:8", "diloco:8,2,1,.5"}));
}

TEST(ConsistencySweepTest, RefusesWhatIsNoList) {
  for (const char *text : {"", "bsp,", ",bsp", "bsp,,asp", "asp,asp", "dssp:3,15,dssp:3,15"}) {
    Result<std::vector<std::string>> forms = splitForms(text);
    ASSERT_FALSE(forms) << text;
    EXPECT_EQ(forms.status().exitCode(), 2) << text;
  }
}
