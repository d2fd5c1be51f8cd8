// Makes and lays out parameters and states.
#include "frontend/onnx/StoredTensors.h"
#include "frontend/onnx/ElementType.h"
#include "syncline/Suggestion.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

Status StoredTensors::freeze(const std::vector<std::string> &texts) {
  for (const std::string &text : texts) {
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(text);
    if (!glob)
      return Status::badInput("freeze pattern '" + text + "': " + toString(glob.takeError()));
    patterns.push_back({text, std::move(*glob)});
  }
  return Status::ok();
}

bool StoredTensors::isFrozen(const std::string &name) {
  bool frozen = false;
  for (Pattern &pattern : patterns)
    if (pattern.glob.match(name))
      frozen = pattern.matched = true;
  return frozen;
}

template <typename Op>
Value StoredTensors::make(const std::string &name, const StoredSource &source) {
  OpBuilder builder(context);
  builder.setInsertionPointAfter(last ? last : &block.front());
  auto type = RankedTensorType::get(source.data.dims, elementType(source.data.type, context));
  // Offsets are known only when all tensors are: see finish.
  IntegerAttr offset = source.init ? IntegerAttr() : builder.getI64IntegerAttr(0);
  auto op = builder.create<Op>(NameLoc::get(builder.getStringAttr(name)), type,
                               builder.getStringAttr(name), offset, source.init);
  last = op;
  sources[name] = source;
  return made[name] = op.getResult();
}

Value StoredTensors::get(const std::string &name, const StoredSource &source) {
  if (Value value = made.lookup(name))
    return value;
  if (!source.isTrainable || isFrozen(name))
    return make<nn::StateOp>(name, source);
  return make<nn::ParameterOp>(name, source);
}

Value StoredTensors::getState(const std::string &name, const StoredSource &source) {
  if (Value value = made.lookup(name))
    return value.getDefiningOp<nn::StateOp>() ? value : Value();
  return make<nn::StateOp>(name, source);
}

/// Names near `pattern` among the stored tensors in `block`.
static std::string namesNear(const std::string &pattern, Block &block) {
  std::vector<std::string_view> names;
  for (Operation &op : block)
    if (isa<nn::ParameterOp>(op) && !op.use_empty())
      names.push_back(op.getAttrOfType<StringAttr>("name").getValue());
  return names.empty() ? "" : suggestionOfMany(pattern, names);
}

Status StoredTensors::checkFrozen() const {
  for (const Pattern &pattern : patterns)
    if (!pattern.matched)
      return Status::badInput("freeze pattern '" + pattern.text + "' matches no parameter" +
                              namesNear(pattern.text, block));
  return Status::ok();
}

/// ": freeze patterns '*' and 'b*' leave none"; empty where there is no pattern.
std::string StoredTensors::leftByPatterns() const {
  std::string text;
  for (std::size_t i = 0; i < patterns.size(); ++i)
    text += (i == 0                     ? ""
             : i + 1 == patterns.size() ? " and "
                                        : ", ") +
            ("'" + patterns[i].text) + "'";
  return text.empty() ? ""
                      : (patterns.size() > 1 ? ": freeze patterns " + text + " leave none"
                                             : ": freeze pattern " + text + " leaves none");
}

Result<std::vector<std::string>> StoredTensors::finish(WeightsFile &weights) {
  SYNCLINE_TRY(checkFrozen());
  std::vector<std::string> names;
  bool trains = false;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isa<nn::ParameterOp, nn::StateOp>(op))
      continue;
    if (op.use_empty()) {
      op.erase();
      continue;
    }
    trains |= isa<nn::ParameterOp>(op);
    std::string name = op.getAttrOfType<StringAttr>("name").str();
    if (op.hasAttr("offset"))
      op.setAttr("offset",
                 Builder(context).getI64IntegerAttr(weights.add(name, sources[name].data)));
    names.push_back(std::move(name));
  }
  if (!trains)
    return Status::badInput("no parameter that could be trained reaches the output" +
                            leftByPatterns());
  return names;
}
