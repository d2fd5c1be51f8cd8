// The planner of a build without Z3.
#include "frontend/driver/Z3Planner.h"

#include "passes/z3/Z3Judge.h"

#include <gtest/gtest.h>

namespace syncline::driver {
namespace {

/// It is refused by name, before anything is read.
TEST(WithoutZ3, RefusesThePlannerThatAsksIt) {
  const auto planner = z3Planner(**solver::parsePlanner("z3:messages=2"), 60);
  ASSERT_FALSE(planner);
  EXPECT_EQ(planner.status().exitCode(), 1);
  EXPECT_EQ(planner.status().message(),
            "planner 'z3:messages=2': " + z3judge::checkAvailable().message());
  EXPECT_NE(planner.status().message().find("built without Z3"), std::string::npos);
}

} // namespace
} // namespace syncline::driver
