// Which cases a suite consists of, and their names.
#pragma once

#include "tests/conformance/StepCase.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace syncline::conformance {

/// A suite's parameters: every backend with plain operands and with blocked ones, and every
/// combination of these with `between`.
template <typename... Generators> auto inBothForms(const Generators &...between) {
  return testing::Combine(testing::ValuesIn(backends()), between...,
                          testing::Values(Form::plain, Form::blocked));
}

inline std::string nameEnd(Form form) { return form == Form::plain ? "" : "_blocked"; }
template <typename Shape> std::string nameEnd(const Shape &shape) {
  return std::string("_") + shape.name;
}

/// Names a case after its backend, its shape where it has one, and its form unless that is plain.
inline constexpr auto caseName = [](const auto &info) {
  return std::apply([](const Backend &backend,
                       const auto &...rest) { return (backend.name + ... + nameEnd(rest)); },
                    info.param);
};

} // namespace syncline::conformance
