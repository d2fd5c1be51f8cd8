// Formatting sizes.
#include "runtime/cuda/MemoryText.h"

#include "runtime/core/Formatted.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace syncline::cuda {

using core::StepTensor;

namespace {

constexpr std::array<Space, core::spaceCount> spaces{
    Space::arena, Space::parameters, Space::gradients, Space::state, Space::input, Space::target};

const char *spaceName(Space space) {
  switch (space) {
  case Space::input:
    return "input";
  case Space::target:
    return "target";
  case Space::parameters:
    return "parameters";
  case Space::gradients:
    return "gradients";
  case Space::state:
    return "state";
  case Space::arena:
    return "arena";
  }
  return "";
}

/// The list of the largest tensors with a final "; ". Empty without tensors.
std::string largestText(std::span<const StepTensor> tensors) {
  constexpr std::size_t maxTensors = 5;
  std::vector<const StepTensor *> order;
  for (const StepTensor &tensor : tensors)
    order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const StepTensor *a, const StepTensor *b) {
    return a->reserved > b->reserved;
  });
  std::string text;
  for (const StepTensor *tensor : std::span(order).first(std::min(maxTensors, order.size())))
    text += (text.empty() ? "the largest tensors: '" : ", '") + tensor->name + "' (" +
            spaceName(tensor->space) + ", " + bytesText(tensor->reserved) + ")";
  return text.empty() ? "" : text + "; ";
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
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return core::formatted("%.*f %s", digits, value, units[unit]);
}

std::int64_t totalBytes(const core::SpaceSizes &sizes) {
  std::int64_t sum = 0;
  for (Space space : spaces)
    sum += sizes.of(space);
  return sum;
}

std::string shortageText(const core::SpaceSizes &sizes, std::int64_t scratch, std::int64_t headroom,
                         std::int64_t free, const std::string &device,
                         std::span<const StepTensor> tensors) {
  std::vector<std::pair<std::int64_t, const char *>> needs{{scratch, "scratch"}};
  for (Space space : spaces)
    needs.emplace_back(sizes.of(space), spaceName(space));
  std::stable_sort(needs.begin(), needs.end(),
                   [](const auto &a, const auto &b) { return a.first > b.first; });
  std::string parts;
  for (const auto &[bytes, name] : needs)
    if (bytes > 0)
      parts += (parts.empty() ? "" : ", ") + std::string(name) + " " + bytesText(bytes);
  return "not enough memory on " + device + ": the plan needs " +
         bytesText(totalBytes(sizes) + scratch) + " (" + parts + ") and libraries " +
         bytesText(headroom) + ", " + bytesText(free) + " are free; " + largestText(tensors) +
         "a smaller batch needs less";
}

} // namespace syncline::cuda
