// CostModel: seconds of every operation of a step, from a profile or from the device's roofline.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "passes/cost/Counts.h"

#include <optional>

namespace syncline::cost {

/// max(flops / compute rate, bytes / memory rate) + launch overhead. Nothing when the device lacks
/// a rate that `counts` needs.
std::optional<double> roofline(const Counts &counts, cluster::DeviceAttr device);

/// What the update of a parameter of so many elements and bytes takes: `rate` seconds a byte where
/// that is known, else what the roofline says; zero where the device lacks rates, for its cost is
/// then unknown.
double updateSeconds(double elements, double bytes, cluster::DeviceAttr device,
                     std::optional<double> rate);

/// Sets `nn.seconds` on every operation of `step` that takes time.
///
/// `profile`, which may be null, is a dictionary of #cluster.times by layer. A layer's measured
/// time of a phase is shared out among its operations of that phase in proportion to their
/// roofline; where the device has no rates, to that of a device of ten operations per byte.
/// Operations of layers or phases it does not name are predicted by the roofline. An update takes
/// `updateRate` seconds a byte of its parameter; where that is absent, what the roofline says (zero
/// without rates: its cost is then unknown).
///
/// Measured times are those of a node without slowdown and take `slowdown` times as long; `device`
/// is that of the slowest node.
///
/// Fails, with a diagnostic at the operation, where neither gives a time, and at the step when the
/// profile names layers but none of the step's.
mlir::LogicalResult annotate(nn::StepOp step, cluster::DeviceAttr device,
                             mlir::DictionaryAttr profile, double slowdown = 1,
                             std::optional<double> updateRate = std::nullopt);

} // namespace syncline::cost
