// Writes calls down.
#include "tests/unit/codegen/RecordingBuilder.h"

#include "runtime/core/StepRows.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

namespace syncline::test {

using Name = std::string_view;

static std::string summary(const Window &window) {
  std::string text = " s";
  for (auto stride : window.strides)
    text += std::to_string(stride);
  return text + " g" + std::to_string(window.groups);
}

static std::string sizes(const Shape &shape) {
  std::string text = " [";
  for (std::int64_t size : shape)
    text += (text.size() > 2 ? "," : "") + std::to_string(size);
  return text + "]";
}

/// " 0.5", to six digits.
static std::string real(double value) { return " " + std::to_string(value).substr(0, 6); }

static std::string relu(Activation activation) {
  return activation == Activation::relu ? " relu" : "";
}

void RecordingBuilder::record(std::string text, std::initializer_list<Tensor> tensors) {
  for (Tensor tensor : tensors)
    text += " " + nameOf(tensor);
  calls.push_back(std::move(text));
}

Tensor RecordingBuilder::tensor(const TensorInfo &info) {
  names.push_back((info.space == Space::gradients ? "d:" : "") + std::string(info.name));
  shapes.push_back(info.shape);
  return {static_cast<int>(names.size()) - 1};
}
void RecordingBuilder::bucket(const BucketInfo &info) {
  calls.push_back("bucket " + std::to_string(info.id) + " at " + std::to_string(info.offset) +
                  " extent " + std::to_string(info.extent));
}
void RecordingBuilder::phase(Name name) { calls.push_back("phase " + std::string(name)); }
void RecordingBuilder::conv(Name layer, Tensor x, Tensor w, Tensor bias, Tensor y,
                            const Window &window, Activation) {
  record("conv" + summary(window), {x, w, bias, y});
}
void RecordingBuilder::convBackwardData(Name, Tensor dy, Tensor w, Tensor dx,
                                        const Window &window) {
  record("convBackwardData" + summary(window), {dy, w, dx});
}
void RecordingBuilder::convBackwardWeights(Name, Tensor x, Tensor dy, Tensor dw, Tensor dbias,
                                           const Window &window) {
  record("convBackwardWeights" + summary(window), {x, dy, dw, dbias});
}
void RecordingBuilder::matmul(Name, Tensor a, bool transposeA, Tensor b, bool transposeB,
                              Tensor bias, Tensor y, Activation activation) {
  record(std::string("matmul ") + (transposeA ? "t" : "n") + (transposeB ? "t" : "n") +
             relu(activation),
         {a, b, bias, y});
}
void RecordingBuilder::batchNorm(Name, Tensor x, Tensor scale, Tensor shift, Tensor runningMean,
                                 Tensor runningVariance, Tensor y, Tensor mean, Tensor variance,
                                 Tensor workspace, double epsilon, double momentum,
                                 Activation activation) {
  record("batchNorm" + real(epsilon) + real(momentum) + relu(activation),
         {x, scale, shift, runningMean, runningVariance, y, mean, variance, workspace});
}
void RecordingBuilder::batchNormBackward(Name, Tensor x, Tensor scale, Tensor mean, Tensor variance,
                                         Tensor workspace, Tensor dy, Tensor dx, Tensor dscale,
                                         Tensor dshift, double epsilon, Activation activation) {
  record("batchNormBackward" + real(epsilon) + relu(activation),
         {x, scale, mean, variance, workspace, dy, dx, dscale, dshift});
}
void RecordingBuilder::maxPool(Name, Tensor x, Tensor y, Tensor workspace, const Window &) {
  record("maxPool", {x, y, workspace});
}
void RecordingBuilder::maxPoolBackward(Name, Tensor dy, Tensor workspace, Tensor dx,
                                       const Window &) {
  record("maxPoolBackward", {dy, workspace, dx});
}
void RecordingBuilder::averagePool(Name, Tensor x, Tensor y, const Window &) {
  record("averagePool", {x, y});
}
void RecordingBuilder::averagePoolBackward(Name, Tensor dy, Tensor dx, const Window &) {
  record("averagePoolBackward", {dy, dx});
}
void RecordingBuilder::layerNorm(Name, Tensor x, Tensor scale, Tensor shift, Tensor y,
                                 double epsilon) {
  record("layerNorm" + real(epsilon), {x, scale, shift, y});
}
void RecordingBuilder::layerNormBackward(Name, Tensor x, Tensor scale, Tensor dy, Tensor dx,
                                         Tensor dscale, Tensor dshift, double epsilon) {
  record("layerNormBackward" + real(epsilon), {x, scale, dy, dx, dscale, dshift});
}
void RecordingBuilder::lrn(Name, Tensor x, Tensor y, std::int64_t size, double alpha, double beta,
                           double bias) {
  record("lrn " + std::to_string(size) + real(alpha) + real(beta) + real(bias), {x, y});
}
void RecordingBuilder::lrnBackward(Name, Tensor x, Tensor dy, Tensor dx, std::int64_t size,
                                   double alpha, double beta, double bias) {
  record("lrnBackward " + std::to_string(size) + real(alpha) + real(beta) + real(bias),
         {x, dy, dx});
}
void RecordingBuilder::resample(Name, Tensor x, Tensor y, const Shape &axes,
                                const Shape &coordinates, std::int64_t filter, double cubic,
                                bool excludeOutside, bool antialias) {
  record("resample" + sizes(axes) + sizes(coordinates) + " " + std::to_string(filter) +
             real(cubic) + (excludeOutside ? " exclude" : "") + (antialias ? " antialias" : ""),
         {x, y});
}
void RecordingBuilder::resampleBackward(Name, Tensor dy, Tensor dx, const Shape &axes,
                                        const Shape &coordinates, std::int64_t filter, double cubic,
                                        bool excludeOutside, bool antialias) {
  record("resampleBackward" + sizes(axes) + sizes(coordinates) + " " + std::to_string(filter) +
             real(cubic) + (excludeOutside ? " exclude" : "") + (antialias ? " antialias" : ""),
         {dy, dx});
}
void RecordingBuilder::softmax(Name, Tensor x, Tensor y, std::int64_t axis, bool logarithm) {
  record("softmax " + std::to_string(axis) + (logarithm ? " log" : ""), {x, y});
}
void RecordingBuilder::softmaxBackward(Name, Tensor y, Tensor dy, Tensor dx, std::int64_t axis,
                                       bool logarithm) {
  record("softmaxBackward " + std::to_string(axis) + (logarithm ? " log" : ""), {y, dy, dx});
}
void RecordingBuilder::crossEntropy(Name, Tensor logits, Tensor target, Tensor weights, Tensor loss,
                                    Tensor dlogits, double smoothing) {
  record("crossEntropy" + (smoothing != 0 ? real(smoothing) : ""),
         {logits, target, weights, loss, dlogits});
}
void RecordingBuilder::meanSquaredError(Name, Tensor y, Tensor target, Tensor loss, Tensor dy) {
  record("meanSquaredError", {y, target, loss, dy});
}
void RecordingBuilder::embedding(Name, Tensor ids, Tensor table, Tensor y) {
  record("embedding", {ids, table, y});
}
void RecordingBuilder::embeddingBackward(Name, Tensor ids, Tensor dy, Tensor onto, Tensor dtable) {
  record("embeddingBackward", {ids, dy, onto, dtable});
}
void RecordingBuilder::gatherRows(Name, Tensor x, Tensor indices, Tensor y, std::int64_t axis,
                                  std::int64_t shared) {
  record("gatherRows " + std::to_string(axis) + " " + std::to_string(shared), {x, indices, y});
}
void RecordingBuilder::scatterRows(Name, Tensor updates, Tensor indices, Tensor onto, Tensor y,
                                   std::int64_t axis, std::int64_t shared, std::int64_t kind) {
  record("scatterRows " + std::to_string(axis) + " " + std::to_string(shared) + " " +
             std::to_string(kind),
         {updates, indices, onto, y});
}
void RecordingBuilder::topK(Name, Tensor x, Tensor values, Tensor indices, bool largest) {
  record(largest ? "topK largest" : "topK", {x, values, indices});
}
void RecordingBuilder::concat(Name, std::span<const Tensor> xs, Tensor y, std::int64_t axis) {
  std::string text = "concat " + std::to_string(axis);
  for (Tensor x : xs)
    text += " " + nameOf(x);
  record(text, {y});
}
void RecordingBuilder::slice(Name, Tensor x, Tensor y, const Shape &starts, const Shape &steps) {
  record("slice" + sizes(starts) + sizes(steps), {x, y});
}
void RecordingBuilder::sliceBackward(Name, Tensor dy, Tensor dx, const Shape &starts,
                                     const Shape &steps) {
  record("sliceBackward" + sizes(starts) + sizes(steps), {dy, dx});
}
void RecordingBuilder::pad(Name, Tensor x, Tensor y, const Shape &begins, double value) {
  record("pad" + sizes(begins) + real(value), {x, y});
}
void RecordingBuilder::transpose(Name, Tensor x, Tensor y, const Shape &permutation) {
  record("transpose" + sizes(permutation), {x, y});
}
void RecordingBuilder::reshape(Name, Tensor x, Tensor y) { record("reshape", {x, y}); }
static std::string kindName(Reduction kind) {
  switch (kind) {
  case Reduction::sum:
    return "sum";
  case Reduction::mean:
    return "mean";
  case Reduction::maximum:
    return "maximum";
  }
  return "unknown";
}
void RecordingBuilder::reduce(Name, Reduction kind, Tensor x, Tensor y, const Shape &axes) {
  record(kindName(kind) + sizes(axes), {x, y});
}
void RecordingBuilder::pointwise(Name layer, PointwiseKernel kernel, std::span<const Tensor> ins,
                                 std::span<const Tensor> outs, const PointwiseInfo &info) {
  std::string text = std::string("pointwise ") + (info.flat ? "flat" : "nested");
  for (auto list : {ins, outs})
    for (Tensor tensor : list)
      text += " " + nameOf(tensor);
  calls.push_back(text);
  kernels[std::string(layer)] = kernel;
  rounded[std::string(layer)] = info.rounded;
}
void RecordingBuilder::dropout(Name, Tensor x, Tensor y, Tensor mask, double ratio) {
  record("dropout" + real(ratio), {x, y, mask});
}
void RecordingBuilder::dropoutBackward(Name, Tensor dy, Tensor mask, Tensor dx, double ratio) {
  record("dropoutBackward" + real(ratio), {dy, mask, dx});
}
void RecordingBuilder::noise(Name, Tensor y, std::int64_t distribution, double first, double second,
                             double evaluated) {
  record("noise " + std::to_string(distribution) + real(first) + real(second) + real(evaluated),
         {y});
}
void RecordingBuilder::recurrent(Name, Tensor x, Tensor r, Tensor bias, Tensor initial,
                                 Tensor lengths, Tensor y, Tensor last, Tensor saved,
                                 std::int64_t cell, bool reverse) {
  record("recurrent " + std::to_string(cell) + (reverse ? " reverse" : ""),
         {x, r, bias, initial, lengths, y, last, saved});
}
void RecordingBuilder::recurrentBackward(Name, Tensor r, Tensor initial, Tensor saved, Tensor dy,
                                         Tensor dlast, Tensor lengths, Tensor dx, Tensor dr,
                                         Tensor dbias, Tensor dinitial, std::int64_t cell,
                                         bool reverse) {
  record("recurrentBackward " + std::to_string(cell) + (reverse ? " reverse" : ""),
         {r, initial, saved, dy, dlast, lengths, dx, dr, dbias, dinitial});
}
void RecordingBuilder::loss(Tensor loss) { record("loss", {loss}); }
void RecordingBuilder::allGather(int bucket) {
  calls.push_back("allGather " + std::to_string(bucket));
}
void RecordingBuilder::issue(int bucket) { calls.push_back("issue " + std::to_string(bucket)); }
void RecordingBuilder::gather(int bucket, std::span<const Tensor> ins,
                              std::span<const Tensor> outs) {
  std::string text = "gather " + std::to_string(bucket);
  for (auto list : {ins, outs})
    for (Tensor tensor : list)
      text += " " + nameOf(tensor);
  calls.push_back(text);
}
void RecordingBuilder::wait(int bucket) { calls.push_back("wait " + std::to_string(bucket)); }
void RecordingBuilder::update(int bucket) { calls.push_back("update " + std::to_string(bucket)); }

void RecordingBuilder::operations(const StepTables &tables, std::span<const Tensor> tensors) {
  core::appendRows(*this, tables, tensors);
}

void loadStep(const std::string &object, StepBuilder &builder, const std::string &backend) {
  void *library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto abi = reinterpret_cast<int (*)()>(dlsym(library, "synclineStepAbi"));
  auto build = reinterpret_cast<void (*)(StepBuilder &)>(dlsym(library, "synclineBuildStep"));
  auto compiledFor = reinterpret_cast<const char *(*)()>(dlsym(library, "synclineStepBackend"));
  ASSERT_NE(abi, nullptr);
  ASSERT_NE(compiledFor, nullptr);
  ASSERT_NE(build, nullptr);
  EXPECT_EQ(abi(), stepAbi);
  EXPECT_EQ(compiledFor(), backend);
  build(builder);
}

} // namespace syncline::test
