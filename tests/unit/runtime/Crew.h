// Workers and servers of one run as processes, and the forms of consistency that they train by.
#pragma once

#include "Processes.h"
#include "TinyPlan.h"

#include "runtime/core/RankNames.h"

#include <gtest/gtest.h>
#include <memory>
#include <sstream>

namespace syncline::testing {

namespace forms {

using Json = nlohmann::json;

inline Json easgd(const char *variant) {
  return {{"form", "easgd"}, {"variant", variant}, {"rho", 0.5}, {"period", 2}};
}

inline const Json ssp0{{"form", "ssp"}, {"staleness", 0}}, ssp{{"form", "ssp"}, {"staleness", 2}},
    asp{{"form", "asp"}}, dssp{{"form", "dssp"}, {"lower", 1}, {"upper", 3}};

/// The forms whose weights travel by servers.
inline const std::vector<Json> served{
    ssp0, ssp, asp, dssp, easgd("original"), easgd("async"), easgd("momentum"), easgd("hogwild")};

inline std::string nameOf(const Json &form) {
  std::string name = form["form"];
  for (const char *key : {"variant", "staleness", "upper"})
    if (form.contains(key))
      name += "_" + (form[key].is_string() ? form[key].get<std::string>() : form[key].dump());
  return name;
}

/// The forms whose weights travel by all-reduces.
inline const std::vector<Json> reduced{
    {{"form", "local"}, {"period", 4}, {"mix", 0.0}, {"rate", 1.0}, {"momentum", 0.0}},
    {{"form", "diloco"}, {"period", 4}, {"mix", 0.5}, {"rate", 0.7}, {"momentum", 0.9}},
    easgd("sync1"),
    easgd("sync2"),
    easgd("sync3")};

/// Whether no worker waits for another one in particular.
inline bool isAsynchronous(const Json &form) {
  if (form["form"] != "easgd")
    return form["form"] == "asp";
  const std::string variant = form["variant"];
  return variant == "async" || variant == "momentum" || variant == "hogwild";
}

} // namespace forms

/// Each process is started by itself.
struct Crew {
  /// Without the rank `missing`, whose process is null.
  Crew(const TinyPlan &plan, int workers, int servers, const std::vector<std::string> &more,
       int missing = -1)
      : folder(plan.folder()), workers(workers), size(workers + servers), more(more) {
    for (int rank = 0; rank < size; ++rank)
      processes.push_back(rank == missing ? nullptr : start(rank));
  }

  std::unique_ptr<Process> start(int rank) const {
    std::vector<std::string> arguments{
        folder,  "--rank", std::to_string(rank), "--ranks", std::to_string(size),
        "--log", "json",   "--momentum",         "0.5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<Process>(arguments, meetingAt(port));
  }

  /// "rank 2", "server 0 (rank 3)"
  std::string nameOf(int rank) const { return core::RankNames{workers}.of(rank); }

  /// All but the victim end and say `text`.
  void expectOutput(int victim, const std::string &text) {
    for (int rank = 0; rank < size; ++rank) {
      if (rank == victim)
        continue;
      EXPECT_EQ(processes[rank]->wait(), 1);
      const std::string output = processes[rank]->output();
      EXPECT_NE(output.find(text), std::string::npos) << "rank " << rank << ": " << output;
    }
  }
  /// All but the victim end, by its name.
  void expectNamed(int victim) { expectOutput(victim, "lost " + nameOf(victim) + " "); }

  std::vector<std::unique_ptr<Process>> processes;

private:
  const std::string folder;
  const int workers, size, port = freePort();
  const std::vector<std::string> more;
};

/// The summary's line among a run's output.
inline nlohmann::json summaryOf(const std::string &output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("{\"summary\""))
      return nlohmann::json::parse(line);
  ADD_FAILURE() << "no summary in: " << output;
  return {};
}

} // namespace syncline::testing
