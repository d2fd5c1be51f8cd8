// Tabulates the plans for several sizes.
#include "frontend/report/SizesTable.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/MemoryText.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"

#include <nlohmann/json.hpp>

namespace syncline::report {

Result<std::string> sizesTable(const std::string &dimension, const std::vector<SizedPlan> &plans) {
  return guarded([&] {
    Table table({{dimension, Align::right},
                 {"step", Align::right},
                 {"exposed", Align::right},
                 {"memory", Align::right},
                 {"folder"}});
    for (const SizedPlan &sized : plans) {
      const nlohmann::json &predicted = sized.plan->at("predicted");
      table.addRow({std::to_string(sized.size), files::formatSeconds(predicted.at("step")),
                    files::formatSeconds(predicted.at("exposed")),
                    files::formatBytes(memoryBytes(*sized.plan)), sized.folder});
    }
    return "\nplans for sizes of '" + dimension + "', with the same buckets:\n" + table.toString();
  });
}

} // namespace syncline::report
