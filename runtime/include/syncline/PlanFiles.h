// The names of a plan folder's files.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace syncline {

/// What 'compile' writes into a plan, and convolutions.tsv, in which 'run' keeps its choices.
inline constexpr std::array<std::string_view, 10> planFiles{
    "plan.json",      "plan.mlir",   "step.cpp",   "step.cu",    "step.so",
    "nccl-tuner.csv", "weights.bin", "model.onnx", "layers.csv", "convolutions.tsv"};

inline bool isPlanFile(std::string_view name) {
  return std::ranges::find(planFiles, name) != planFiles.end();
}

} // namespace syncline
