// Turns files into IR: the attributes that passes read.
#pragma once

#include "frontend/files/ClusterFile.h"
#include "frontend/files/Profile.h"
#include "ir/cluster/Cluster.h"

namespace syncline::frontend {

/// `cluster` as #cluster.spec: the device's rates are those that its kernels reach. The cluster
/// dialect must be loaded in `context`.
cluster::SpecAttr toAttr(const files::ClusterFile &cluster, mlir::MLIRContext *context);

/// `profile` as the value of a module's `cluster.profile`: #cluster.times by operation.
mlir::DictionaryAttr toAttr(const files::Profile &profile, mlir::MLIRContext *context);

/// `profile.scatter` as the value of a module's `cluster.scatter`. Precondition: it is not empty.
mlir::ArrayAttr scatterAttr(const files::Profile &profile, mlir::MLIRContext *context);

/// Where times come from, as the value of a module's `cluster.provenance`: rates, or the profile of
/// this file's name.
mlir::DictionaryAttr provenanceAttr(const files::ClusterFile &cluster, mlir::MLIRContext *context);
mlir::DictionaryAttr provenanceAttr(const files::ClusterFile &cluster,
                                    const files::Profile &profile, const std::string &file,
                                    mlir::MLIRContext *context);

} // namespace syncline::frontend
