// Finds the identity of a process from variables that a test makes up.
#pragma once

#include "runtime/launch/Identity.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace syncline::testing {

using Variables = std::map<std::string, std::string>;

inline Result<launch::Identity> find(const Variables &variables, launch::IdentityFlags flags = {},
                                     const launch::RunShape &plan = {.ranks = 4}) {
  return launch::findIdentity(
      flags,
      [&](const char *name) {
        auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      plan);
}

inline void expectUsage(const Result<launch::Identity> &found, const std::string &message) {
  ASSERT_FALSE(found.isOk());
  EXPECT_EQ(found.status().exitCode(), 2);
  EXPECT_EQ(found.status().message(), message);
}

} // namespace syncline::testing
