// A layer trace: the sizes and times of a network's layers, in place of a model. See README.md.
#pragma once

#include "syncline/Scheme.h"
#include "syncline/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::files {

/// The shape of a fully connected layer, for schemes that send factors in place of a gradient.
struct FactorShape {
  std::int64_t m = 0; ///< inputs
  std::int64_t n = 0; ///< outputs
  std::int64_t k = 0; ///< samples per rank
};

/// What ranks may exchange in place of a gradient.
struct GatheredForm {
  Scheme scheme = Scheme::factors; ///< or Scheme::sparse, rows of an embedding
  std::int64_t bytes = 0;          ///< of one rank
};

struct TraceLayer {
  std::string name;
  std::int64_t bytes = 0; ///< bytes of the gradient; 0 where the layer has no parameters
  double forward = 0;     ///< seconds
  double backward = 0;    ///< seconds
  std::optional<FactorShape> factors = {};
  double update = 0; ///< seconds that the optimizer takes for its parameters
  std::optional<GatheredForm> gathered = {}; ///< only of a layer with parameters
  double reconstruct = 0;   ///< seconds that another rank's samples add to making the gradient
  std::string carrier = {}; ///< the layer from whose factors this gradient can be computed, or ""
  std::string reader = {};  ///< the layer whose forward pass reads its parameters first; "": itself
};

struct LayerTrace {
  std::vector<TraceLayer> layers; ///< in forward order, at least one, names unique
  /// Whether computation is that of a model's step as a plan runs it: its ranks sum the loss too.
  bool isOfStep = false;
};

/// Parses `name,bytes,forward,backward[,M,N,K[,update[,gather,gathered,reconstruct,carrier]]]`,
/// behind which `,reader` may stand. Every failure is badInput and opens with file, line and, for a
/// cell, its column: "vgg.csv:3:forward: expected a time ...".
Result<LayerTrace> parseLayerTrace(std::string_view text, std::string_view fileName);

/// The trace in that CSV format, times with nine digits. A step's trace has the four columns from
/// `gather` on, which mark it; `reader` is there where a layer has one.
std::string formatLayerTrace(const LayerTrace &trace);

/// Reads and parses `path`, which may hold at most 64 MiB.
Result<LayerTrace> readLayerTrace(const std::string &path);

} // namespace syncline::files
