// CostModel: the seconds of every operation of a step, from a profile or from the
// device's roofline.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "passes/cost/Counts.h"
#include "passes/cost/DeviceModel.h"

#include <optional>

namespace syncline::cost {

/// Seconds by the roofline: max(flops / compute rate, bytes / memory rate) + launch overhead.
/// Nothing when the device lacks a rate that `counts` needs.
std::optional<double> roofline(const Counts &counts, cluster::DeviceAttr device);

/// The numbers of a device's kernels; those that are not there have their defaults.
DeviceNumbers numbersOf(cluster::KernelsAttr kernels);

/// The precision that a module's steps are predicted in.
Precision precisionOf(mlir::ModuleOp module);

/// Seconds to update a parameter of so many elements and bytes after a step in `precision`, by the
/// device's kernels, or else by the roofline. Where `rate` is known, the seconds for a byte with
/// SGD, other optimizers take as much longer as they move more bytes. Zero where the device lacks
/// rates, since the cost is then unknown.
double updateSeconds(double elements, double bytes, cluster::DeviceAttr device,
                     std::optional<double> rate, OptimizerKind kind, Precision precision);

/// Sets `nn.seconds` on every operation of `step` that takes time.
///
/// `profile`, which may be null, is a dictionary of #cluster.times by layer. A layer's measured
/// time of a phase is shared out among its operations of that phase in proportion to their
/// roofline; where the device has no rates, a device of ten operations per byte gives the
/// proportion. Operations of layers or phases that the profile does not name are predicted by the
/// device's kernels where it has some, else by the roofline; where the host takes longer to issue a
/// step's kernels than they take, all take longer. An update takes `updateRate` seconds a byte of
/// its parameter; without `updateRate`, kernels or the roofline decide, and zero stands for an
/// unknown cost where there are no rates.
///
/// Measured times come from a node without slowdown and are multiplied by `slowdown`; `device` is
/// the slowest node's.
///
/// Fails, with a diagnostic at the operation, where neither profile nor roofline gives a time; and
/// at the step when the profile names layers but none of the step's.
mlir::LogicalResult annotate(nn::StepOp step, cluster::DeviceAttr device,
                             mlir::DictionaryAttr profile, double slowdown = 1,
                             std::optional<double> updateRate = std::nullopt);

} // namespace syncline::cost
