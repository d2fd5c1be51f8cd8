// The judge of a build without Z3.
#include "passes/z3/BestPlan.h"

#include <gtest/gtest.h>

namespace syncline::z3judge {
namespace {

/// Every function refuses, and says what to install.
TEST(WithoutZ3, SaysHowToGetIt) {
  const Status available = checkAvailable();
  ASSERT_FALSE(available);
  EXPECT_EQ(available.exitCode(), 1);
  EXPECT_NE(available.message().find("built without Z3"), std::string::npos);
  EXPECT_NE(available.message().find("libz3-dev"), std::string::npos);
  EXPECT_EQ(findPlan({}, {1, {}}, 1).status().message(), available.message());
  EXPECT_EQ(canFinishBy({}, 1).status().message(), available.message());
  EXPECT_EQ(findBestPlan({}, 1, {}, 1, {}).status().message(), available.message());
}

} // namespace
} // namespace syncline::z3judge
