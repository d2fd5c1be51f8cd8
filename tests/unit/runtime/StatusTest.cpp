// Early returns of errors.
#include "syncline/Status.h"

#include "gtest/gtest.h"

namespace syncline {
namespace {

Status checked(int number) { return number < 0 ? Status::badInput("negative") : Status::ok(); }

Result<int> halved(int number) {
  if (number % 2 != 0)
    return Status::badInput("odd");
  return number / 2;
}

/// The quarter of a number, which must not be negative.
Result<int> quartered(int number) {
  SYNCLINE_TRY(checked(number));
  SYNCLINE_TRY_GET(half, halved(number));
  SYNCLINE_TRY(halved(*half));
  return *half / 2;
}

// The first error ends the function, whichever type it comes in; without one all of it runs.
TEST(Status, TryReturnsTheFirstError) {
  EXPECT_EQ(quartered(-4).status().message(), "negative");
  EXPECT_EQ(quartered(3).status().message(), "odd");
  EXPECT_EQ(quartered(6).status().message(), "odd");
  EXPECT_EQ(*quartered(8), 2);
}

// A good status has no error, and says nothing that was never written.
TEST(Status, GoodOneHasNoMessage) {
  EXPECT_EQ(Status::ok().kind(), ErrorKind::internal);
  EXPECT_EQ(Result<int>(1).status().message(), "");
  EXPECT_EQ(Status::ok().exitCode(), 0);
}

} // namespace
} // namespace syncline
