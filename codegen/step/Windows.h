// The spatial windows of a step, each written once.
#pragma once

#include "ir/plan/Plan.h"

#include "codegen/step/Names.h"

#include <map>
#include <string>
#include <vector>

namespace syncline::codegen {

class Windows {
public:
  explicit Windows(Names &names) : names(names) {}

  /// The name of the window that a convolution's or pooling's attributes describe, such as
  /// "k3s2p1": kernel 3, strides 2, padding 1; d dilations, g groups, i counts padding.
  std::string nameOf(plan::CallOp call);

  /// Definitions in order of first use.
  const std::vector<std::string> &definitions() const { return lines; }

private:
  Names &names;
  std::map<std::string, std::string> known; ///< initialiser → name
  std::vector<std::string> lines;
};

} // namespace syncline::codegen
