// Numbers for pairs of type and operation.
#include "runtime/api/Reduction.h"

#include "runtime/api/OpenPlan.h"
#include "runtime/core/StepTypes.h"

namespace syncline::api {

constexpr int operations = 2;
static_assert(SYNCLINE_SUM == 0 && SYNCLINE_MEAN == operations - 1);

std::uint8_t reductionTag(int type, int operation) {
  return static_cast<std::uint8_t>(1 + operations * type + operation);
}

std::string reductionText(std::uint8_t tag) {
  const std::optional<ElementType> type =
      tag > 0 ? elementTypeOf((tag - 1) / operations) : std::nullopt;
  if (!type)
    return "nothing known";
  const bool isMean = (tag - 1) % operations == SYNCLINE_MEAN;
  return std::string(isMean ? "a mean" : "a sum") + " of '" +
         std::string(core::elementName(*type)) + "'";
}

} // namespace syncline::api
