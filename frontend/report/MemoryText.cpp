// Adds up plan.json's `memory` and the samples.
#include "frontend/report/MemoryText.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace syncline::report {

using nlohmann::json;

/// The dense bytes of one of the plan's inputs or of its target; 0 where the plan has none.
static std::int64_t sampleBytes(const json &tensor) {
  static const std::map<std::string, std::int64_t> elementBytes = {
      {"f64", 8}, {"i64", 8}, {"f32", 4}, {"i32", 4}, {"f16", 2}, {"bf16", 2}, {"u8", 1}};
  if (!tensor.is_object())
    return 0;
  const auto found = elementBytes.find(tensor.at("type").get<std::string>());
  std::int64_t bytes = found == elementBytes.end() ? 0 : found->second;
  for (const json &extent : tensor.at("shape"))
    bytes *= extent.get<std::int64_t>();
  return bytes;
}

std::vector<std::pair<std::string, std::int64_t>> memoryByKind(const json &plan) {
  const json memory = plan.value("memory", json());
  if (!memory.is_object())
    return {};
  std::int64_t samples = sampleBytes(plan.value("target", json()));
  for (const json &input : plan.value("inputs", json::array()))
    samples += sampleBytes(input);
  std::vector<std::pair<std::string, std::int64_t>> kinds{{"samples", samples}};
  for (const auto &[name, bytes] : memory.items())
    kinds.emplace_back(name, bytes.get<std::int64_t>());
  std::erase_if(kinds, [](const auto &kind) { return kind.second == 0; });
  std::ranges::stable_sort(kinds, [](const auto &a, const auto &b) { return a.second > b.second; });
  return kinds;
}

std::int64_t memoryBytes(const json &plan) {
  std::int64_t total = 0;
  for (const auto &[name, bytes] : memoryByKind(plan))
    total += bytes;
  return total;
}

std::string fitText(const json &plan) {
  const json memory = plan.value("device_memory", json());
  if (!memory.is_object() || !memory.at("size").is_number())
    return "";
  const bool isWhole = memory.at("activations");
  return std::string("a rank needs ") + (isWhole ? "" : "at least ") +
         files::formatBytes(memory.at("needed").get<std::int64_t>()) + " of its device's " +
         files::formatBytes(memory.at("size").get<std::int64_t>()) +
         (isWhole ? "" : ": activations are not counted");
}

/// "/h.0, /h.1, .. 12 in all"
static std::string blocksText(const json &blocks) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t k = 0; k < std::min(most, blocks.size()); ++k)
    text += (k == 0 ? "" : ", ") + printable(blocks[k]);
  return blocks.size() > most ? text + ", .. (" + std::to_string(blocks.size()) + " blocks)" : text;
}

std::string recomputedText(const json &recomputed) {
  const std::int64_t freed = recomputed.at("freed"), count = recomputed.at("operations");
  return "recomputed in the backward pass: " + blocksText(recomputed.at("blocks")) + ": " +
         files::counted(count, "operation") + ", " +
         files::formatSeconds(recomputed.at("seconds")) + " a step; the arena is " +
         files::formatBytes(std::abs(freed)) + (freed < 0 ? " larger" : " smaller") + " for it";
}

std::string memoryText(const json &plan) {
  std::string parts;
  for (const auto &[name, bytes] : memoryByKind(plan))
    parts += (parts.empty() ? ": " : ", ") + printable(name) + " " + files::formatBytes(bytes);
  if (parts.empty()) {
    const std::string fits = fitText(plan);
    return fits.empty() ? "" : fits + "\n";
  }
  std::string recomputed;
  if (plan.contains("recomputed"))
    recomputed = recomputedText(plan.at("recomputed")) + "\n";
  const bool isRounded = plan.value("precision", json()) == "bf16";
  const json device = plan.value("device_memory", json());
  const bool isKnown = device.is_object() && device.at("size").is_number();
  return "memory of a rank " + files::formatBytes(memoryBytes(plan)) +
         (isKnown ? " of its device's " + files::formatBytes(device.at("size").get<std::int64_t>())
                  : "") +
         (isRounded ? ", laid out for bf16" : "") + parts + "\n" + recomputed;
}

} // namespace syncline::report
