// What a Result holds, for tests that expect one or the other.
#pragma once

#include "syncline/Status.h"

#include <gtest/gtest.h>
#include <string>

namespace syncline::test {

/// The value. Without one the test fails and a default value is returned.
template <typename T> T valueOf(const Result<T> &result) {
  EXPECT_TRUE(result.isOk()) << result.status().message();
  return result ? *result : T();
}

/// The error's message, or "no error".
template <typename T> std::string messageOf(const Result<T> &result) {
  return result ? "no error" : result.status().message();
}

} // namespace syncline::test
