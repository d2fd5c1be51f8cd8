// Reads logs and finds which steps were under way at the same time.
#include "frontend/profile/RankSteps.h"

#include "frontend/files/TextFile.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <numeric>
#include <sstream>

namespace syncline::profile {

Result<double> lastWritten(const std::string &path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  if (error)
    return Status::badInput("cannot read '" + path + "': " + error.message());
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

Result<RankSteps> readSteps(const std::string &log) {
  constexpr std::size_t maxBytes = std::size_t{1} << 30;
  SYNCLINE_TRY_GET(end, lastWritten(log));
  SYNCLINE_TRY_GET(text, files::readTextFile(log, maxBytes));
  RankSteps steps{.seconds = {}, .end = *end};
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (json.is_object() && json.contains("step") && json.contains("seconds") &&
        json["seconds"].is_number())
      steps.seconds.push_back(json["seconds"].get<double>());
  }
  if (steps.seconds.empty())
    return Status::badInput("'" + log + "': expected a log of steps, got none");
  return steps;
}

std::vector<double> stepsBeside(const RankSteps &rank, const RankSteps &other) {
  const auto begin = [](const RankSteps &steps) {
    return steps.end - std::accumulate(steps.seconds.begin(), steps.seconds.end(), 0.0);
  };
  std::vector<double> beside;
  double now = begin(rank), otherEnd = begin(other) + other.seconds.front();
  std::size_t which = 0;
  for (double seconds : rank.seconds) {
    while (which + 1 < other.seconds.size() && otherEnd < now + seconds / 2)
      otherEnd += other.seconds[++which];
    beside.push_back(other.seconds[which]);
    now += seconds;
  }
  return beside;
}

} // namespace syncline::profile
