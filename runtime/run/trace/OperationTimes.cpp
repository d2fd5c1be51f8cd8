// Measuring steps until the median is steady, and writing their times as JSON.
#include "runtime/run/trace/OperationTimes.h"

#include "runtime/core/Statistics.h"
#include "syncline/OutputFile.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace syncline::run {
namespace {

const core::Bucket *bucketOf(const core::StepRunner &runner, int id) {
  for (const core::Bucket &bucket : runner.buckets())
    if (bucket.id == id)
      return &bucket;
  return nullptr;
}

bool updates(const core::OperationInfo &op, const core::Bucket *bucket) {
  return op.kind == core::OperationKind::update ||
         (op.kind == core::OperationKind::issue && bucket &&
          bucket->scheme == Scheme::reduceScatter);
}

} // namespace

void Steadiness::add(double step) {
  total += step;
  if (++steps > warmUp)
    seconds.push_back(step);
}

bool Steadiness::isSteady() const {
  if (seconds.size() < minSteps)
    return false;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  const double first = core::median({seconds.begin(), middle});
  const double second = core::median({middle, seconds.end()});
  return std::fabs(first - second) <= tolerance * std::max(first, second);
}

bool Steadiness::isDone() const {
  const bool isLongEnough = total >= atLeast;
  return (isLongEnough && (isSteady() || seconds.size() >= maxSteps)) ||
         (total > longest && seconds.size() >= 2);
}

Status writeOperationTimes(const std::string &path, const Plan &plan,
                           const core::StepRunner &runner, std::span<const StepRecord> records,
                           std::span<const double> whole, bool isSteady) {
  using Json = nlohmann::ordered_json;
  const std::size_t left = std::min(records.size(), Steadiness::warmUp);
  records = records.subspan(left);
  whole = whole.subspan(left);
  Json json{{"schema", 1},
            {"plan", plan.hash},
            {"name", plan.name},
            {"ranks", plan.ranks},
            {"batch", plan.batch},
            {"steady", isSteady},
            {"steps", Json::array()},
            {"whole", std::vector(whole.begin(), whole.end())},
            {"operations", Json::array()}};
  for (const StepRecord &record : records)
    json["steps"].push_back(record.operations.empty() ? 0 : record.operations.back().end);
  const auto operations = runner.operations();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const core::OperationInfo &op = operations[i];
    const core::Bucket *bucket = bucketOf(runner, op.bucket);
    const bool isUpdate = updates(op, bucket);
    if (!isUpdate && op.kind != core::OperationKind::compute)
      continue;
    Json line{{"name", op.name},
              {"layer", op.layer},
              {"phase", op.phase},
              {"kind", isUpdate ? "update" : "compute"},
              {"kernel", op.implementation},
              {"bytes", isUpdate && bucket ? bucket->extent : 0},
              {"seconds", Json::array()}};
    for (const StepRecord &record : records)
      line["seconds"].push_back(record.operations[i].seconds());
    json["operations"].push_back(std::move(line));
  }
  return writeWholeFile(path, json.dump() + "\n");
}

} // namespace syncline::run
