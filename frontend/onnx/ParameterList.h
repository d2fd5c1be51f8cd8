// A list of a model's parameters, as PyTorch's named_parameters() prints it.
#pragma once

#include "ir/nn/Shapes.h"
#include "syncline/Status.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace syncline::frontend {

struct ListedParameter {
  std::string name;
  nn::Dims dims;
};

using ParameterList = std::vector<ListedParameter>;

/// Reads lines such as "fc.weight (10, 64)" or "fc.weight torch.Size([10, 64])", which
/// `for n, p in model.named_parameters(): print(n, tuple(p.shape))` prints; empty ones are skipped.
/// badInput, with the line's number, where one is none or names a parameter again, and where there
/// is none at all.
Result<ParameterList> parseParameterList(llvm::StringRef text);

/// "'fc.weight' (10, 64)".
std::string describe(const ListedParameter &parameter);

} // namespace syncline::frontend
