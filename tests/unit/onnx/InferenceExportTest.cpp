// Exports for inference are recognised by the names that PyTorch gives to weights it computed.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

using namespace syncline;
using namespace syncline::test;

namespace {

/// Conv, Relu, Flatten and MatMul; the weights and the bias have these names in the file.
Outcome convolution(const std::string &weight, const std::string &bias,
                    const std::string &matrix = "fc.weight") {
  return importText(13,
                    "agraph (float[2,3,2,2] x) => (float[2,5] y) {"
                    " w = RandomNormal <shape = [4,3,1,1]> () b = RandomNormal <shape = [4]> ()"
                    " m = RandomNormal <shape = [16,5]> () k = Identity(b)"
                    " c = Conv (x, w, k) r = Relu(c) f = Flatten(r) y = MatMul(f, m) }",
                    meanSquare(), [&](onnx::ModelProto &model) {
                      onnx::GraphProto &graph = *model.mutable_graph();
                      for (auto [name, dims] :
                           {std::pair{weight, std::vector<std::int64_t>{4, 3, 1, 1}},
                            {bias, {4}},
                            {matrix, {16, 5}}}) {
                        onnx::TensorProto &tensor = *graph.add_initializer();
                        tensor.set_name(name);
                        tensor.set_data_type(onnx::TensorProto::FLOAT);
                        tensor.mutable_dims()->Assign(dims.begin(), dims.end());
                        std::int64_t count = 1;
                        for (std::int64_t size : dims)
                          count *= size;
                        for (std::int64_t i = 0; i < count; ++i)
                          tensor.add_float_data(static_cast<float>(i));
                      }
                      graph.mutable_node()->DeleteSubrange(0, 3);
                      graph.mutable_node(0)->set_input(0, bias);
                      graph.mutable_node(1)->set_input(1, weight);
                      graph.mutable_node(4)->set_input(1, matrix);
                    });
}

std::string noteOf(const Outcome &outcome) {
  EXPECT_EQ(outcome.error, "");
  return outcome.notes.size() == 1 ? outcome.notes[0] : std::to_string(outcome.notes.size());
}

constexpr const char *call = "torch.onnx.export(model, x, f, training=torch.onnx.TrainingMode."
                             "TRAINING, do_constant_folding=False)";

TEST(InferenceExport, FoldedBatchNormalizationIsTold) {
  const std::string note = noteOf(convolution("onnx::Conv_501", "onnx::Conv_502"));
  EXPECT_NE(note.find("exported for inference (BatchNormalization is folded into 1 convolution):"),
            std::string::npos)
      << note;
  EXPECT_NE(note.find(call), std::string::npos) << note;
}

TEST(InferenceExport, TransposedCopiesAreTold) {
  const std::string note = noteOf(convolution("c.weight", "c.bias", "onnx::MatMul_12"));
  EXPECT_NE(note.find("(the weights of 'MatMul_4' are copies without their names)"),
            std::string::npos)
      << note;
  EXPECT_NE(note.find(call), std::string::npos) << note;
}

// Folded weight normalisation leaves the bias's name, so the message does not mention
// BatchNormalization as a reason.
TEST(InferenceExport, ComputedWeightsBesideANamedBiasAreCopies) {
  const std::string note = noteOf(convolution("onnx::Conv_501", "c.bias"));
  EXPECT_EQ(note.find("BatchNormalization"), std::string::npos) << note;
  EXPECT_NE(note.find("the weights of 'Conv_1' are copies"), std::string::npos) << note;
}

// Networks without normalisation keep their names, whatever they are called.
TEST(InferenceExport, NamesOfTheModelAreNoSign) {
  for (const char *name : {"c.weight", "onnx::Conv_", "onnx::Conv_5a", "onnx::_5", "Conv_501"})
    EXPECT_TRUE(convolution(name, "onnx::Conv_502").notes.empty()) << name;
}

} // namespace
