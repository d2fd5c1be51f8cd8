// Counts the program's repetitions.
#include "codegen/json/RecomputedJson.h"

#include "ir/nn/NN.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using Json = nlohmann::json;

namespace syncline::codegen {

Json recomputedJson(plan::ProgramOp program) {
  auto stated = program->getAttrOfType<DictionaryAttr>(nn::recomputationAttr);
  if (!stated)
    return nullptr;
  Json blocks = Json::array();
  for (auto name : nn::blocksOf(stated).getAsRange<StringAttr>())
    blocks.push_back(name.str());
  std::int64_t operations = 0;
  double seconds = 0;
  for (Operation &op : program.getBody().front())
    if (nn::isRecomputed(&op)) {
      ++operations;
      seconds += plan::secondsOf(&op);
    }
  return {{"blocks", blocks},
          {"operations", operations},
          {"seconds", seconds},
          {"freed", nn::freedOf(stated).getInt()}};
}

} // namespace syncline::codegen
