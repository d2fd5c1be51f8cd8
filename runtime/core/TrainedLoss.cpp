// Names, parameters and formulas of losses.
#include "syncline/TrainedLoss.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace syncline {
namespace {

constexpr std::string_view probabilities = "targets=probabilities", betaKey = "beta=";

std::string_view nameOf(LossKind kind) {
  switch (kind) {
  case LossKind::crossEntropy:
    return "cross-entropy";
  case LossKind::mse:
    return "mse";
  case LossKind::l1:
    return "l1";
  case LossKind::smoothL1:
    return "smooth-l1";
  case LossKind::bceWithLogits:
    return "bce-with-logits";
  }
  return {};
}

constexpr LossKind allLosses[] = {LossKind::crossEntropy, LossKind::mse, LossKind::l1,
                                  LossKind::smoothL1, LossKind::bceWithLogits};

/// Reads what stands behind the colon.
Status readParameters(TrainedLoss &loss, std::string_view parameters) {
  const auto refuse = [&](const std::string &expected) {
    return Status::badInput("loss '" + std::string(nameOf(loss.kind)) + "': expected " + expected +
                            ", got '" + std::string(parameters) + "'");
  };
  switch (loss.kind) {
  case LossKind::crossEntropy:
    loss.takesProbabilities = parameters == probabilities;
    return loss.takesProbabilities ? Status::ok() : refuse("'" + std::string(probabilities) + "'");
  case LossKind::smoothL1: {
    const std::string expected = "'beta=B' with B from 1e-30 to 1e30";
    if (!parameters.starts_with(betaKey))
      return refuse(expected);
    const std::string_view number = parameters.substr(betaKey.size());
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), loss.beta);
    const bool isRead = error == std::errc() && end == number.data() + number.size();
    return isRead && loss.beta >= 1e-30 && loss.beta <= 1e30 ? Status::ok() : refuse(expected);
  }
  case LossKind::mse:
  case LossKind::l1:
  case LossKind::bceWithLogits:
    return refuse("no parameters");
  }
  return Status::ok();
}

/// log(1 + exp(x)).
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

} // namespace

Result<TrainedLoss> TrainedLoss::parse(const std::string &text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto *const found =
      std::ranges::find_if(allLosses, [&](LossKind kind) { return nameOf(kind) == name; });
  if (found == std::end(allLosses))
    return Status::badInput(
        "expected the loss cross-entropy, cross-entropy:" + std::string(probabilities) +
        ", mse, l1, smooth-l1, smooth-l1:beta=B or bce-with-logits, got '" + text + "'");
  TrainedLoss loss;
  loss.kind = *found;
  if (colon != std::string::npos)
    SYNCLINE_TRY(readParameters(loss, std::string_view(text).substr(colon + 1)));
  return loss;
}

std::string TrainedLoss::text() const {
  std::string text(nameOf(kind));
  if (takesProbabilities)
    text += ":" + std::string(probabilities);
  if (kind == LossKind::smoothL1 && beta != 1) {
    char digits[32];
    const auto written = std::to_chars(std::begin(digits), std::end(digits), beta);
    text += ":" + std::string(betaKey) + std::string(digits, written.ptr);
  }
  return text;
}

double TrainedLoss::ofElement(double y, double target) const {
  const double distance = std::abs(y - target);
  switch (kind) {
  case LossKind::mse:
    return distance * distance;
  case LossKind::l1:
    return distance;
  case LossKind::smoothL1:
    return distance < beta ? distance * distance / (2 * beta) : distance - beta / 2;
  case LossKind::bceWithLogits: // no large logit cancels
    return target * softplus(-y) + (1 - target) * softplus(y);
  case LossKind::crossEntropy:
    break;
  }
  return std::nan("");
}

} // namespace syncline
