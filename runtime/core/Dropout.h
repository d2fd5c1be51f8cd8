// Which elements dropout keeps. All backends keep the same ones, in any order of computation.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/core/HostDevice.h"
#include "runtime/core/Random.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace syncline::core {

/// The inputs of a dropout's random numbers besides the step and the element.
struct DropoutStream {
  std::array<std::uint32_t, 2> key;
  std::uint32_t rank;
  std::uint32_t threshold; ///< an element is dropped when its random word is below it
};

inline DropoutStream dropoutStream(const ExecutableOptions &options, std::string_view layer,
                                   double ratio) {
  const std::uint64_t mixed = stableHash(layer) ^ options.seed * 0x9E3779B97F4A7C15u;
  return {{static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)},
          static_cast<std::uint32_t>(options.rank),
          static_cast<std::uint32_t>(std::min(ratio * 4294967296.0, 4294967295.0))};
}

/// The factor by which kept elements are scaled.
inline float keptScale(double ratio) {
  return ratio < 1 ? static_cast<float>(1 / (1 - ratio)) : 0.0f;
}

/// The random words of the elements 4·block to 4·block + 3, in this order.
SYNCLINE_HOST_DEVICE inline std::array<std::uint32_t, 4>
dropoutWords(const DropoutStream &stream, std::int64_t step, std::uint64_t block) {
  return philox(stream.key,
                {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                 static_cast<std::uint32_t>(step), stream.rank});
}

} // namespace syncline::core
