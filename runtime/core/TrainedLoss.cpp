// Names, parameters and formulas of losses.
#include "syncline/TrainedLoss.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>

namespace syncline {
namespace {

constexpr std::string_view probabilities = "targets=probabilities",
                           betaKey = "beta=", smoothingKey = "smoothing=", weightsKey = "weights=";

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
  case LossKind::modelOutput:
    return "output";
  }
  return {};
}

constexpr LossKind allLosses[] = {
    LossKind::crossEntropy, LossKind::mse,           LossKind::l1,
    LossKind::smoothL1,     LossKind::bceWithLogits, LossKind::modelOutput};

/// The number behind the key; nothing where `text` is something else.
std::optional<double> numberOf(std::string_view text, std::string_view key) {
  if (!text.starts_with(key))
    return std::nullopt;
  text.remove_prefix(key.size());
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool isRead = error == std::errc() && end == text.data() + text.size();
  return isRead ? std::optional(number) : std::nullopt;
}

/// The shortest text that is read as the number.
std::string digitsOf(double number) {
  char digits[32];
  return {digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr};
}

/// Reads a cross-entropy's parameters, each once at most; false where one is something else.
bool readCrossEntropy(TrainedLoss &loss, std::string_view parameters) {
  bool isSmoothed = false;
  while (true) {
    const std::size_t comma = parameters.find(',');
    const std::string_view parameter = parameters.substr(0, comma);
    if (parameter == probabilities && !loss.takesProbabilities) {
      loss.takesProbabilities = true;
    } else if (parameter.starts_with(weightsKey) && loss.weightsFrom.empty()) {
      loss.weightsFrom = parameter.substr(weightsKey.size());
      if (loss.weightsFrom.empty())
        return false;
    } else {
      const std::optional<double> smoothing = numberOf(parameter, smoothingKey);
      if (isSmoothed || !smoothing || !(*smoothing >= 0 && *smoothing < 1))
        return false;
      isSmoothed = true;
      loss.smoothing = *smoothing;
    }
    if (comma == std::string_view::npos)
      return true;
    parameters.remove_prefix(comma + 1);
  }
}

/// Reads what stands behind the colon.
Status readParameters(TrainedLoss &loss, std::string_view parameters) {
  const auto refuse = [&](const std::string &expected) {
    return Status::badInput("loss '" + std::string(nameOf(loss.kind)) + "': expected " + expected +
                            ", got '" + std::string(parameters) + "'");
  };
  switch (loss.kind) {
  case LossKind::crossEntropy:
    return readCrossEntropy(loss, parameters)
               ? Status::ok()
               : refuse("'" + std::string(probabilities) +
                        "', 'smoothing=S' with S from 0 to below 1, 'weights=FILE' with a file's "
                        "name without a comma, or several with commas between");
  case LossKind::smoothL1:
    loss.beta = numberOf(parameters, betaKey).value_or(0);
    return loss.beta >= 1e-30 && loss.beta <= 1e30 ? Status::ok()
                                                   : refuse("'beta=B' with B from 1e-30 to 1e30");
  case LossKind::modelOutput:
    loss.output = parameters;
    return parameters.empty() ? refuse("the name of an output of the model, 'output:NAME'")
                              : Status::ok();
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
        ", cross-entropy:smoothing=S, cross-entropy:weights=FILE, mse, l1, smooth-l1, "
        "smooth-l1:beta=B, bce-with-logits or output:NAME, got '" +
        text + "'");
  TrainedLoss loss;
  loss.kind = *found;
  const bool hasParameters = colon != std::string::npos;
  if (hasParameters || !loss.hasTargets())
    SYNCLINE_TRY(readParameters(loss, hasParameters ? std::string_view(text).substr(colon + 1)
                                                    : std::string_view()));
  return loss;
}

std::string TrainedLoss::text() const {
  std::string text(nameOf(kind));
  char before = ':';
  const auto add = [&](std::string_view key, const std::string &value) {
    text += before + std::string(key) + value;
    before = ',';
  };
  if (takesProbabilities)
    add(probabilities, "");
  if (smoothing != 0)
    add(smoothingKey, digitsOf(smoothing));
  if (!weightsFrom.empty())
    add(weightsKey, weightsFrom);
  if (kind == LossKind::smoothL1 && beta != 1)
    add(betaKey, digitsOf(beta));
  if (kind == LossKind::modelOutput)
    add("", output);
  return text;
}

Status TrainedLoss::checkWeights(const std::vector<double> &weights) {
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (!(weights[i] >= 0 && weights[i] <= std::numeric_limits<float>::max()))
      return Status::badInput("element " + std::to_string(i) +
                              ": expected a weight from 0 to 3.4e38, got " + digitsOf(weights[i]));
  // Steps take them as floats.
  return std::ranges::any_of(weights, [](double weight) { return static_cast<float>(weight) > 0; })
             ? Status::ok()
             : Status::badInput("expected weights of classes, one above 0, got " +
                                std::string(weights.empty() ? "none" : "0 alone"));
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
  case LossKind::modelOutput:
    break;
  }
  return std::nan("");
}

} // namespace syncline
