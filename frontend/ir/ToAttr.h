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

/// Where times come from, as the value of a module's `cluster.provenance`; `profile` is its file's
/// name, empty for none.
mlir::DictionaryAttr provenanceAttr(const files::ClusterFile &cluster, const std::string &profile,
                                    mlir::MLIRContext *context);

} // namespace syncline::frontend
