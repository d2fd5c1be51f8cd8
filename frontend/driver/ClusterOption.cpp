// Cluster files for `compile`, and the device that they may leave open.
#include "frontend/driver/ClusterOption.h"

#include "codegen/step/StepTarget.h"
#include "frontend/files/ClusterKinds.h"
#include "ir/cluster/ProvenanceAttr.h"

#include <cstdio>

namespace syncline::driver {

static bool isDeviceOpen(const CompileOptions &options, const files::ClusterFile &cluster) {
  return !cluster.device.compute && !cluster.device.memory && options.profile.empty() &&
         !isTrace(options.model) && !codegen::findTarget(options.backend)->usesNccl;
}

Result<files::ClusterFile> readCluster(const CompileOptions &options) {
  Result<files::ClusterFile> cluster = files::readClusterFile(options.cluster);
  if (cluster && isDeviceOpen(options, *cluster)) {
    // What the file states beside rates stays.
    const std::string_view kind = cluster::processorKind;
    const files::DeviceRates usual = *files::deviceKind(kind);
    files::DeviceRates &device = cluster->device;
    device.compute = usual.compute;
    device.memory = usual.memory;
    if (device.launchOverhead == 0)
      device.launchOverhead = usual.launchOverhead;
    device.kind = kind;
  }
  return cluster;
}

void noteAssumedDevice(const CompileOptions &options) {
  const Result<files::ClusterFile> cluster = files::readClusterFile(options.cluster);
  if (cluster && isDeviceOpen(options, *cluster))
    std::fprintf(stderr,
                 "syncline: note: the cluster file states no rates of 'device'; times are those of "
                 "the kind 'cpu', 60 GFLOP/s; 'syncline profile' measures this machine's\n");
}

} // namespace syncline::driver
