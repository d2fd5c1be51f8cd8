// Lets the backend follow the cluster, and says what came of it.
#include "frontend/driver/BackendOption.h"

#include "codegen/folder/PlanFolder.h"
#include "codegen/step/StepTarget.h"
#include "frontend/driver/CompileRequest.h"
#include "frontend/files/ClusterKinds.h"
#include "frontend/report/MemoryText.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace syncline::driver {

bool isGpuKind(const std::string &kind) { return files::deviceCapability(kind) > 0; }

/// Whether the file states times of NCCL's own choice, which only 'calibrate' on GPUs measures.
static bool hasNccl(const files::ClusterFile &cluster) {
  return std::ranges::any_of(cluster.collectives, [](const files::StatedCost &stated) {
    return stated.scheme == Scheme::library;
  });
}

Status settleBackend(CompileOptions &options) {
  if (!options.backend.empty())
    return Status::ok();
  SYNCLINE_TRY(expectFile(options.cluster));
  SYNCLINE_TRY_GET(cluster, files::readClusterFile(options.cluster));
  options.followsCluster = true;
  options.backend = isGpuKind(cluster->device.kind) || hasNccl(*cluster) ? "cuda" : "cpu";
  options.read = std::make_shared<files::ClusterFile>(std::move(*cluster));
  return Status::ok();
}

void noteBackend(const nlohmann::json &plan, const std::string &kind) {
  const std::string fits = report::fitText(plan);
  if (plan.at("nccl").get<bool>()) {
    const std::string precision =
        plan.at("precision").is_string() ? ", in " + plan.at("precision").get<std::string>() : "";
    std::fprintf(stderr, "syncline: for GPUs%s%s: NCCL carries the messages%s\n",
                 kind.empty() ? "" : (" (" + kind + ")").c_str(), precision.c_str(),
                 fits.empty() ? "" : ("; " + fits).c_str());
    return;
  }
  if (isGpuKind(kind))
    std::fprintf(stderr,
                 "syncline: note: by '--backend cpu' the step is for processors, and messages "
                 "travel by Syncline's sockets; operations take the times of '%s'\n",
                 kind.c_str());
  if (!fits.empty())
    std::fprintf(stderr, "syncline: %s\n", fits.c_str());
}

void noteUncompiled(const nlohmann::json &plan) {
  if (!codegen::isUncompiled(plan))
    return;
  const codegen::StepTarget *target = codegen::findTarget(plan.at("backend").get<std::string>());
  std::fprintf(stderr, "syncline: note: %s is not compiled: %s, then compile again to run it\n",
               target->fileName.str().c_str(), target->findCompiler().message().c_str());
}

} // namespace syncline::driver
