// Numbers for pairs of type and operation.
#include "runtime/api/Reduction.h"

#include "runtime/api/OpenPlan.h"
#include "runtime/core/StepTypes.h"

#include <array>

namespace syncline::api {

constexpr std::array operations{"a sum", "a mean", "values"};
static_assert(SYNCLINE_SUM == 0 && SYNCLINE_MEAN == 1 && gathering == 2);
constexpr int operationCount = static_cast<int>(operations.size());

std::uint8_t reductionTag(int type, int operation) {
  return static_cast<std::uint8_t>(1 + operationCount * type + operation);
}

std::string reductionText(std::uint8_t tag) {
  const std::optional<ElementType> type =
      tag > 0 ? elementTypeOf((tag - 1) / operationCount) : std::nullopt;
  if (!type)
    return "nothing known";
  return std::string(operations[static_cast<std::size_t>((tag - 1) % operationCount)]) + " of '" +
         std::string(core::elementName(*type)) + "'";
}

} // namespace syncline::api
