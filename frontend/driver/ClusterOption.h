// What '--cluster' of `compile` names.
#pragma once

#include "frontend/driver/Compile.h"
#include "frontend/files/ClusterFile.h"
#include "syncline/Status.h"

namespace syncline::driver {

/// Reads the cluster file. Where it states no device's rates, no profile is given and the plan is
/// for processors, the device is that of kind 'cpu', as noteAssumedDevice() says; a layer trace has
/// its times, and needs none. Fails with badInput.
Result<files::ClusterFile> readCluster(const CompileOptions &options);

/// Notes on standard error that readCluster() took the kind 'cpu'.
void noteAssumedDevice(const CompileOptions &options);

} // namespace syncline::driver
