// Growing and shrinking of the loss's scale.
#include "runtime/run/LossScale.h"

#include "runtime/core/Formatted.h"

#include <algorithm>
#include <charconv>

namespace syncline::run {

Result<LossScale> LossScale::parse(const std::string &text) {
  if (text == "dynamic")
    return dynamic();
  double value = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !(value >= 1) || value > largest)
    return Status::error(ErrorKind::badUsage,
                         "--loss-scale: expected 'dynamic' or a number from 1 to 1e30, got '" +
                             text.substr(0, 60) + "'");
  return fixed(value);
}

void LossScale::count(bool isSkipped) {
  state.skipped += isSkipped;
  state.good = isSkipped ? 0 : state.good + 1;
  if (!isDynamic)
    return;
  if (isSkipped)
    state.value = std::max(1.0, state.value / 2);
  else if (state.good >= growthSteps) {
    state.value = std::min(largest, state.value * 2);
    state.good = 0;
  }
}

void LossScale::resume(const State &saved) {
  const double value = isDynamic ? saved.value : state.value;
  state = saved;
  state.value = value;
}

std::string LossScale::text() const {
  return isDynamic ? "dynamic" : core::formatted("%.17g", state.value);
}

} // namespace syncline::run
