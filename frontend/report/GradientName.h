// Which gradient a name on the command line means.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace syncline::report {

/// The names by which people may call a gradient.
struct GradientName {
  std::string parameter;           ///< the parameter's name, or a trace's layer
  std::vector<std::string> layers; ///< operations that read the parameter: "/fc/Gemm"
  std::int64_t bytes = 0;
};

/// The gradient that `text` means: a parameter, or a layer by name ("/fc/Gemm", or "fc" of
/// "fc.weight"); else what begins with `text`; else what the glob matches. Of a layer's gradients
/// it is the largest. badInput where that is none, with a name that is near, or gradients of
/// several layers.
Result<std::size_t> findGradient(std::span<const GradientName> gradients, const std::string &text);

} // namespace syncline::report
