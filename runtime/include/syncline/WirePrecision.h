// The types in which gradients travel, and their names in files and on command lines.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace syncline {

/// Gradients of f32 are rounded to this type before a message and widened after it.
enum class WirePrecision { fp32, bf16, fp16 };

inline constexpr std::array allWires{WirePrecision::fp32, WirePrecision::bf16, WirePrecision::fp16};

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

/// The name as plans and command lines spell it.
constexpr std::string_view wireName(WirePrecision wire) {
  switch (wire) {
  case WirePrecision::fp32:
    return "fp32";
  case WirePrecision::bf16:
    return "bf16";
  case WirePrecision::fp16:
    return "fp16";
  }
  return {};
}

#pragma GCC diagnostic pop

/// The inverse of wireName; nothing when no type has that name.
constexpr std::optional<WirePrecision> parseWire(std::string_view name) {
  for (const WirePrecision each : allWires)
    if (wireName(each) == name)
      return each;
  return std::nullopt;
}

/// The bytes that travel for each byte of a gradient of f32.
constexpr double wireShare(WirePrecision wire) { return wire == WirePrecision::fp32 ? 1 : 0.5; }

} // namespace syncline
