// Scores and numbers as text and JSON.
#include "runtime/run/ReportText.h"

#include "runtime/core/Formatted.h"

#include <cmath>

namespace syncline::run {

nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(std::to_string(value));
}

double ratio(double a, std::int64_t b) { return b > 0 ? a / static_cast<double>(b) : 0; }

/// The mean over no labels, or over ones that weigh nothing, is NaN, as in PyTorch.
static double meanLoss(const Score &score) {
  return score.losses > 0 ? score.lossSum / score.losses : std::nan("");
}

void addScore(nlohmann::ordered_json &line, const Score &score) {
  line["test_loss"] = number(meanLoss(score));
  if (score.predictions > 0)
    line["test_accuracy"] = ratio(static_cast<double>(score.correct), score.predictions);
}

std::string scoreText(const Score &score) {
  if (score.losses == 0)
    return score.predictions == 0 ? "no test loss: no sample has a label"
                                  : "no test loss: the classes of all labels have weight 0";
  const double loss = meanLoss(score);
  if (score.predictions > 0)
    return core::formatted("test accuracy %.2f %% (%lld of %lld), test loss %.4f",
                           100 * ratio(static_cast<double>(score.correct), score.predictions),
                           static_cast<long long>(score.correct),
                           static_cast<long long>(score.predictions), loss);
  return core::formatted("test loss %.6f", loss);
}

} // namespace syncline::run
