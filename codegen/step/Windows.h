// Writes the spatial windows of a step, each distinct one once.
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

  /// Rows of the table of windows in order of first use, and the names of their places.
  const std::vector<std::string> &rows() const { return tableRows; }
  const std::vector<std::string> &rowNames() const { return tableNames; }

private:
  Names &names;
  std::map<std::string, std::string> known; ///< initialiser → name
  std::vector<std::string> tableRows, tableNames;
};

} // namespace syncline::codegen
