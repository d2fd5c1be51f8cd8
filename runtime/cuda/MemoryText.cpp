// Sizes in words.
#include "runtime/cuda/MemoryText.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace syncline::cuda {

namespace {

std::array<std::pair<std::int64_t, const char *>, spaceCount> named(const SpaceSizes &sizes) {
  return {{{sizes.arena, "arena"},
           {sizes.parameters, "parameters"},
           {sizes.gradients, "gradients"},
           {sizes.state, "state"},
           {sizes.input, "input"},
           {sizes.target, "target"}}};
}

} // namespace

std::string bytesText(std::int64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (value /= 1024; value >= 1000 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value);
  return std::string(text) + " " + units[unit];
}

std::int64_t totalBytes(const SpaceSizes &sizes) {
  std::int64_t sum = 0;
  for (const auto &[bytes, name] : named(sizes))
    sum += bytes;
  return sum;
}

std::string shortageText(const SpaceSizes &sizes, std::int64_t free, const std::string &device) {
  auto spaces = named(sizes);
  std::stable_sort(spaces.begin(), spaces.end(),
                   [](const auto &a, const auto &b) { return a.first > b.first; });
  std::string largest;
  for (const auto &[bytes, name] : spaces)
    if (bytes > 0)
      largest += (largest.empty() ? "" : ", ") + std::string(name) + " " + bytesText(bytes);
  return "not enough memory on " + device + ": the plan needs " + bytesText(totalBytes(sizes)) +
         " (" + largest + "), " + bytesText(free) + " are free; a smaller batch needs less";
}

} // namespace syncline::cuda
