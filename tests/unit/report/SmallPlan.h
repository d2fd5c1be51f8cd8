// A plan of two buckets, and its report.
#pragma once

#include "frontend/report/PlanReport.h"
#include "tests/unit/report/Contains.h"

#include <nlohmann/json.hpp>

namespace syncline::report {

using nlohmann::json;

/// Two buckets; the backward pass ends at 2 ms, the second message at 3 ms.
inline json smallPlan() {
  return json::parse(R"({
    "name": "small", "planner": "optimal", "requested": [], "ranks": 4, "servers": 0, "batch": 16,
    "runnable": true,
    "optimal": true,
    "buckets": [
      {"id": 0, "members": ["fc.weight", "fc.bias"], "bytes": 2048, "scheme": "ring",
       "traffic": 6144, "ready": 0.001, "start": 0.001, "end": 0.0015,
       "reconstructed": 0.0015, "exposed": 0.0},
      {"id": 1, "members": ["conv.weight"], "bytes": 1024, "scheme": "ring",
       "traffic": 3072, "ready": 0.002, "start": 0.002, "end": 0.003,
       "reconstructed": 0.003, "exposed": 0.00075}],
    "predicted": {"step": 0.004, "backward_end": 0.002, "communication_end": 0.003,
                  "reconstruction_end": 0.003, "exposed": 0.001, "updates": 0.0005, "traffic": 9216,
                  "planner": {"step": 0.0045, "finish": 0.0035, "bound": 0.0034, "gap": 0.0}}})");
}

inline std::string reportOf(const json &plan, bool allMembers = false) {
  Result<std::string> report = planReport(plan, allMembers);
  return report ? *report : report.status().message();
}

} // namespace syncline::report
