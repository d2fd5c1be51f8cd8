// Matches names of layers with globs.
#include "passes/recompute/Blocks.h"

#include "passes/lower/Kernels.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace syncline::recompute {

bool isForward(Operation *op) {
  return !op->hasAttr(nn::backwardAttr) && (isa<nn::PointwiseOp>(op) || lower::kernelOf(op));
}

namespace {

/// Whether these are scores of attention, queries times keys: products of matrices within a batch
/// whose result is larger than either operand. Their sums are short, a head's width, so that they
/// free more bytes a second than other products (Korthikanti et al., MLSys 2023).
bool isScores(nn::MatmulOp product) {
  const auto a = cast<ShapedType>(product.getA().getType());
  const auto b = cast<ShapedType>(product.getB().getType());
  const std::int64_t result = cast<ShapedType>(product.getY().getType()).getNumElements();
  return a.getRank() > 2 && b.getRank() > 2 &&
         result > std::max(a.getNumElements(), b.getNumElements());
}

} // namespace

bool isHeavy(Operation *op) {
  const auto product = dyn_cast<nn::MatmulOp>(op);
  return product ? !isScores(product)
                 : isa<nn::ConvOp, nn::ConvBackwardDataOp, nn::RecurrentOp>(op);
}

namespace {

/// A glob without the '/*' that says: all within.
StringRef ofBlock(StringRef glob) {
  if (!glob.contains('/'))
    glob.consume_back(".*");
  glob.consume_back("/*");
  return glob;
}

/// The shortest beginning of `layer` that matches; empty where none does.
StringRef matchingPart(const llvm::GlobPattern &glob, StringRef layer) {
  const char separator = layer.contains('/') ? '/' : '.';
  for (std::size_t end = layer.find(separator, 1); end != StringRef::npos;
       end = layer.find(separator, end + 1))
    if (glob.match(layer.take_front(end)))
      return layer.take_front(end);
  return glob.match(layer) ? layer : StringRef();
}

Status noLayer(nn::StepOp step, const std::string &glob) {
  std::vector<std::string_view> layers;
  for (Operation &op : step.getBody().front())
    if (isForward(&op) && !nn::layerOf(&op).empty())
      layers.push_back(nn::layerOf(&op));
  std::string message = "--recompute: no layer matches '" + glob + "'";
  if (!layers.empty())
    message += ", layers are named like '" + std::string(layers[layers.size() / 2]) + "'";
  return Status::badInput(message);
}

} // namespace

Result<std::vector<Block>> blocksNamed(nn::StepOp step, ArrayRef<std::string> globs) {
  std::vector<llvm::GlobPattern> patterns;
  for (const std::string &glob : globs) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(ofBlock(glob));
    if (!pattern)
      return Status::badInput("--recompute: expected none, auto or a pattern of layers such as "
                              "'/encoder/layers.*', got '" +
                              glob + "': " + llvm::toString(pattern.takeError()));
    patterns.push_back(std::move(*pattern));
  }
  llvm::MapVector<StringRef, Block> blocks;
  std::vector<bool> isUsed(globs.size());
  for (Operation &op : step.getBody().front()) {
    if (!isForward(&op))
      continue;
    for (std::size_t k = 0; k < patterns.size(); ++k) {
      const StringRef part = matchingPart(patterns[k], nn::layerOf(&op));
      if (part.empty())
        continue;
      isUsed[k] = true;
      Block &block = blocks[part];
      block.name = part.str();
      block.ops.push_back(&op);
      break;
    }
  }
  for (std::size_t k = 0; k < globs.size(); ++k)
    if (!isUsed[k])
      return noLayer(step, globs[k]);
  std::vector<Block> result;
  for (auto &[name, block] : blocks)
    result.push_back(std::move(block));
  return result;
}

} // namespace syncline::recompute
