// Tensors that hold the same numbers may be one parameter that the exporter wrote twice.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

/// The element of the first matrix at row i and column j.
using Element = float (*)(std::int64_t i, std::int64_t j);

/// Adds a tensor of 0, 1, 2, ...
onnx::TensorProto &add(onnx::ModelProto &model, const std::string &name, const nn::Dims &dims) {
  onnx::TensorProto &tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.mutable_dims()->Assign(dims.begin(), dims.end());
  for (std::int64_t i = 0; i < nn::elementCount(dims); ++i)
    tensor.add_float_data(static_cast<float>(i));
  return tensor;
}

void add(onnx::ModelProto &model, const std::string &name, std::int64_t rows, std::int64_t columns,
         Element element) {
  onnx::TensorProto &tensor = add(model, name, {rows, columns});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      tensor.set_float_data(static_cast<int>(i * columns + j), element(i, j));
}

float first(std::int64_t i, std::int64_t j) { return static_cast<float>(20 * i + j); }
float transposed(std::int64_t i, std::int64_t j) { return first(j, i); }
float other(std::int64_t i, std::int64_t j) { return first(i, j) + (i == 3 && j == 4); }
float swapped(std::int64_t i, std::int64_t j) {
  const bool isOne = i == 3 && j == 4, isOther = i == 5 && j == 2;
  return isOne ? first(5, 2) : isOther ? first(3, 4) : first(i, j);
}
float one(std::int64_t, std::int64_t) { return 1; }

/// y = x·a·b, where a has `size` rows and 20 columns.
Outcome product(Element a, Element b, std::int64_t size = 16,
                const ImportOptions &options = meanSquare()) {
  const std::string rows = std::to_string(size);
  return importText(17,
                    "agraph (float[2," + rows + "] x) => (float[2," + rows +
                        "] y) { h = MatMul(x, a) y = MatMul(h, b) }",
                    options, [&](onnx::ModelProto &model) {
                      add(model, "a", size, 20, a);
                      add(model, "b", 20, size, b);
                    });
}

const std::string same = "these hold the same numbers, and each is trained apart, though the model "
                         "may tie them; to train the model itself, export it with "
                         "torch.onnx.export(model, x, f, dynamo=True, optimize=False)";

} // namespace

TEST(EqualTensors, LargeOnesAreNotedWithTheirBytes) {
  EXPECT_EQ(product(first, transposed).notes,
            std::vector<std::string>{"'a', 'b' (1280 B each): " + same});
  EXPECT_TRUE(product(first, other).notes.empty());
  EXPECT_TRUE(product(one, one).notes.empty()); // as fresh scales are
  EXPECT_TRUE(product(first, transposed, 2).notes.empty());
}

// Two elements that change places make another tensor, though ends and elements are the same.
TEST(EqualTensors, AnotherOrderIsAnotherTensor) {
  EXPECT_TRUE(product(first, [](auto i, auto j) { return swapped(j, i); }).notes.empty());
  EXPECT_TRUE(product(first, swapped, 20).notes.empty());
  EXPECT_FALSE(product(swapped, swapped, 20).notes.empty());
  EXPECT_FALSE(product(swapped, [](auto i, auto j) { return swapped(j, i); }, 20).notes.empty());
  ImportOptions options = meanSquare();
  options.parameters = {{"a", {20, 20}}};
  EXPECT_EQ(product(first, swapped, 20, options).error, "");
}

// A kernel [20, 4, 5] that the file has a second time as [5, 20, 4].
TEST(EqualTensors, AxesMayStandInAnyOrder) {
  const auto notes = [](bool isSwapped) {
    const std::string text = "agraph (float[1,4,8] x) => (float[1,20,4] y) { h = Conv(x, a) "
                             "t = Transpose <perm = [1,2,0]> (b) g = Conv(x, t) y = Add(h, g) }";
    return importText(17, text, meanSquare(),
                      [&](onnx::ModelProto &model) {
                        add(model, "a", {20, 4, 5});
                        onnx::TensorProto &moved = add(model, "b", {5, 20, 4});
                        for (int i = 0; i < 400; ++i)
                          moved.set_float_data(i % 5 * 80 + i / 5, static_cast<float>(i));
                        if (isSwapped)
                          moved.mutable_float_data()->SwapElements(100, 200);
                      })
        .notes;
  };
  EXPECT_EQ(notes(false), std::vector<std::string>{"'a', 'b' (1600 B each): " + same});
  EXPECT_TRUE(notes(true).empty());
}

TEST(EqualTensors, FrozenOnesAreNoDoubt) {
  ImportOptions options = meanSquare();
  options.freeze = {"b"};
  EXPECT_TRUE(product(first, transposed, 16, options).notes.empty());
}

// A list has a tied parameter once: its second tensor would keep its first values.
TEST(EqualTensors, AListWithOneOfThemIsRefused) {
  ImportOptions options = meanSquare();
  options.parameters = {{"a", {16, 20}}};
  EXPECT_NE(product(first, transposed, 16, options)
                .error.find("--parameters lists some of 'a', 'b', which hold the same numbers"),
            std::string::npos);
  options.freeze = {"b"};
  EXPECT_EQ(product(first, transposed, 16, options).error, "");
  options = meanSquare();
  options.parameters = {{"a", {16, 20}}, {"b", {20, 16}}};
  EXPECT_EQ(product(first, transposed, 16, options).error, "");
  EXPECT_TRUE(product(first, transposed, 16, options).notes.empty());
}

// PyTorch writes copies of a layer so.
TEST(EqualTensors, OneBehindAnIdentityIsNoted) {
  const Outcome outcome =
      importText(17,
                 "agraph (float[2,16] x) => (float[2,16] y) { b = Identity(a) h = MatMul(x, a) "
                 "y = MatMul(h, b) }",
                 meanSquare(), [](onnx::ModelProto &model) { add(model, "a", 16, 16, first); });
  EXPECT_EQ(outcome.count("nn.parameter"), 1);
  EXPECT_EQ(outcome.notes,
            std::vector<std::string>{
                "'b' (1024 B): trained as one parameter with another of equal values; "
                "where the model has two, list them with '--parameters FILE'"});
}
