// Text and JSON that progress and summary of a report share.
#pragma once

#include "runtime/run/Evaluation.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace syncline::run {

/// A number, or its text for NaN and infinity, which JSON cannot represent.
nlohmann::json number(double value);
/// a / b, or 0 where b is 0.
double ratio(double a, std::int64_t b);
/// Adds "test_loss", NaN where no label counts, and, of models that classify, "test_accuracy".
void addScore(nlohmann::ordered_json &line, const Score &score);
/// "test accuracy 97.22 % (350 of 360), test loss 0.0912", or that there is no label
std::string scoreText(const Score &score);

} // namespace syncline::run
