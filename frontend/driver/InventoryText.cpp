// Counts and names a model's tensors.
#include "frontend/driver/InventoryText.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/onnx/Notes.h"

namespace syncline::driver {

std::string inventoryText(const frontend::Inventory &inventory) {
  std::string text = std::to_string(inventory.parameters) +
                     (inventory.parameters == 1 ? " parameter, " : " parameters, ") +
                     files::formatBytes(inventory.bytes);
  const char *before = "; not planned: ";
  for (const frontend::LeftOut &group : inventory.leftOut) {
    text += before + frontend::listNames(group.names) + " (" + group.reason + ", " +
            files::formatBytes(group.bytes) + ")";
    before = "; ";
  }
  return text;
}

} // namespace syncline::driver
