// The names of a plan folder's files.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace syncline {

/// What 'compile' writes into a plan, and convolutions.tsv, in which 'run' keeps its choices.
inline constexpr std::array<std::string_view, 12> planFiles{
    "plan.json",   "plan.mlir",  "step.cpp",   "step.cu",          "step.so",      "nccl-tuner.csv",
    "weights.bin", "model.onnx", "layers.csv", "convolutions.tsv", "lengths.json", "batches.json"};

/// The most bytes of a plan.json: readers refuse a larger one before they read it.
inline constexpr std::int64_t maxPlanBytes = std::int64_t{256} << 20;

/// Where a folder with plans for several sizes of a dimension lists them.
inline constexpr std::string_view lengthsFile = "lengths.json";
/// Where a folder with plans for the batches of unequal ranks lists them and the ranks.
inline constexpr std::string_view batchesFile = "batches.json";
/// Those files have this number.
inline constexpr int lengthsSchema = 1;
/// The most sizes that they list. Planning takes as many steps as the square of their number.
inline constexpr int maxLengths = 16;

/// Why a plan for GPUs without step.so does not run.
inline constexpr const char *notCompiled =
    "step.cu is not compiled, because no CUDA compiler was there: install nvcc or set NVCC, and "
    "make the plan anew with 'syncline compile'";

inline bool isPlanFile(std::string_view name) {
  return std::ranges::find(planFiles, name) != planFiles.end();
}

} // namespace syncline
