// Files that contradict themselves are refused, or what is not read is said.
#include "TestModel.h"

#include "frontend/onnx/ExternalFiles.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <functional>

using namespace syncline;
using namespace syncline::test;

namespace {

/// Imports y = Softmax<axis>(x·w) after an edit.
Outcome importEdited(const Edit &edit) {
  return importText(13,
                    "agraph (float[2,3] x) => (float[2,3] y)"
                    " { h = Mul(x, w) y = Softmax <axis = 1> (h) }",
                    meanSquare(), [&](onnx::ModelProto &model) {
                      onnx::TensorProto &w = *model.mutable_graph()->add_initializer();
                      w.set_name("w");
                      w.set_data_type(onnx::TensorProto::FLOAT);
                      w.add_dims(3);
                      for (float value : {1.f, 2.f, 3.f})
                        w.add_float_data(value);
                      edit(model);
                    });
}

onnx::NodeProto &softmax(onnx::ModelProto &model) {
  return *model.mutable_graph()->mutable_node(1);
}
onnx::TensorProto &weight(onnx::ModelProto &model) {
  return *model.mutable_graph()->mutable_initializer(0);
}

void expectRefused(const Edit &edit, const std::string &why) {
  const Outcome outcome = importEdited(edit);
  EXPECT_NE(outcome.error.find(why), std::string::npos) << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.exitCode, 1);
}

/// Both orders of two operator sets; the same one twice is no contradiction.
TEST(Contradictions, OneOperatorSetOfADomain) {
  for (auto [first, second] : {std::pair("", "ai.onnx"), {"ai.onnx", ""}}) {
    const auto twice = [&](std::int64_t version) {
      return [=](onnx::ModelProto &model) {
        model.mutable_opset_import(0)->set_domain(first);
        onnx::OperatorSetIdProto &set = *model.add_opset_import();
        set.set_domain(second);
        set.set_version(version);
      };
    };
    expectRefused(twice(11), "states two operator sets for one domain, 13 and 11");
    EXPECT_EQ(importEdited(twice(13)).error, "");
  }
}

TEST(Contradictions, Attributes) {
  expectRefused([](auto &m) { *softmax(m).add_attribute() = softmax(m).attribute(0); },
                "node that makes 'y' (Softmax): attribute 'axis' is given twice");
  expectRefused([](auto &m) { softmax(m).mutable_attribute(0)->clear_name(); },
                "an attribute has no name");
  expectRefused([](auto &m) { softmax(m).mutable_attribute(0)->add_ints(0); },
                "attribute 'axis' has values of another type than it states");
  expectRefused([](auto &m) { softmax(m).mutable_attribute(0)->set_name("axes"); },
                "the operator has no attribute 'axes'");
}

TEST(Contradictions, OperandsAndResults) {
  expectRefused([](auto &m) { softmax(m).add_input("w"); }, "expected at most 1 operands, got 2");
  expectRefused([](auto &m) { softmax(m).add_output("z"); }, "expected at most 1 results, got 2");
  expectRefused(
      [](auto &m) {
        onnx::NodeProto &node = *m.mutable_graph()->mutable_node(0);
        node.clear_input();
        node.set_op_type("Constant");
        for (const char *name : {"value_float", "value_int"}) {
          onnx::AttributeProto &value = *node.add_attribute();
          value.set_name(name);
        }
      },
      "expected one value, got 'value_float' and 'value_int'");
}

TEST(Contradictions, Tensors) {
  expectRefused([](auto &m) { weight(m).set_raw_data("0123456789ab"); },
                "tensor 'w': it has values in two fields");
  expectRefused([](auto &m) { weight(m).add_int32_data(1); }, "it has values in two fields");
  expectRefused(
      [](auto &m) {
        weight(m).clear_float_data();
        weight(m).set_data_location(onnx::TensorProto::EXTERNAL);
        for (const char *file : {"a", "b"}) {
          onnx::StringStringEntryProto &entry = *weight(m).add_external_data();
          entry.set_key("location");
          entry.set_value(file);
        }
      },
      "tensor 'w': its external data has 'location' twice");
  expectRefused(
      [](auto &m) {
        onnx::ValueInfoProto &input = *m.mutable_graph()->add_input();
        input = m.graph().input(0);
        input.set_name("w");
      },
      "initialiser 'w' has another shape than the input of its name");
}

/// Puts a tensor's three values 1, 2, 3 into the file "data", of which `checksum` is stated.
void moveOut(onnx::TensorProto &tensor, const std::string &checksum) {
  const float values[] = {1, 2, 3};
  std::ofstream(scratchPath("data"), std::ios::binary)
      .write(reinterpret_cast<const char *>(values), sizeof values);
  tensor.clear_float_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto &[key, value] :
       {std::pair<std::string, std::string>{"location", "data"}, {"checksum", checksum}}) {
    onnx::StringStringEntryProto &entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
}

/// Moves the weight into a Constant.
onnx::TensorProto &asConstant(onnx::ModelProto &model) {
  onnx::NodeProto &node = *model.mutable_graph()->add_node();
  node.set_op_type("Constant");
  node.add_output("w");
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  *attribute.mutable_t() = weight(model);
  model.mutable_graph()->clear_initializer();
  model.mutable_graph()->mutable_node()->SwapElements(0, model.graph().node_size() - 1);
  model.mutable_graph()->mutable_node()->SwapElements(1, model.graph().node_size() - 1);
  return *attribute.mutable_t();
}

TEST(Contradictions, Checksums) {
  const std::string right = "D0951239F8A84D20D0B5EF1003165EE3B2C34EB5";
  const Outcome same = importEdited([&](auto &m) { moveOut(weight(m), right); });
  EXPECT_EQ(same.error, "");
  EXPECT_EQ(same.notes, std::vector<std::string>());
  const Outcome other = importEdited([&](auto &m) { moveOut(weight(m), "md5:0123"); });
  EXPECT_EQ(other.error, "");
  EXPECT_EQ(other.notes.front(),
            "'w': the checksum of its external data is no SHA-1, and is not compared");
  const std::string wrong(40, '0');
  const std::string said = scratchPath("data") +
                           "' has another SHA-1 than its checksum: expected " + wrong +
                           ", got d0951239f8a84d20d0b5ef1003165ee3b2c34eb5";
  expectRefused([&](auto &m) { moveOut(weight(m), wrong); }, "tensor 'w': '" + said);
  expectRefused([&](auto &m) { moveOut(asConstant(m), wrong); }, said);
}

TEST(ExternalFiles, AreThoseOfInitialisersAndConstants) {
  onnx::ModelProto model = parseModel(13, "agraph (float[2,3] x) => (float[2,3] y)"
                                          " <float[3] w = {1, 2, 3}, float[3] v = {1, 2, 3}>"
                                          " { h = Mul(x, w) y = Add(h, v) }");
  const std::string path = scratchPath("external.onnx");
  const auto files = [&] {
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    return frontend::externalFilesOf(path);
  };
  EXPECT_EQ(files(), std::vector<std::string>());
  moveOut(weight(model), "");
  const std::vector<std::string> one{std::filesystem::canonical(scratchPath("data")).string()};
  EXPECT_EQ(files(), one);
  model.mutable_graph()->mutable_initializer()->RemoveLast();
  moveOut(asConstant(model), "");
  EXPECT_EQ(files(), one);
  EXPECT_EQ(frontend::externalFilesOf(scratchPath("data")), std::vector<std::string>());
  EXPECT_EQ(frontend::externalFilesOf(scratchPath("absent")), std::vector<std::string>());
}

// A plan would take such a parameter for a part of another one's gradient.
TEST(Contradictions, NamesOfParts) {
  expectRefused(
      [](auto &m) {
        weight(m).set_name("w:rows");
        m.mutable_graph()->mutable_node(0)->set_input(1, "w:rows");
      },
      "initialiser 'w:rows': expected a name that does not end in ':rows'");
}

TEST(Contradictions, FunctionsOfTheFileAreNotTaken) {
  const Outcome outcome = importEdited([](auto &m) {
    onnx::FunctionProto &function = *m.add_functions();
    function.set_name("Softmax");
  });
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.notes.front(), "'Softmax_1': computed as ONNX defines the operator, not by the "
                                   "file's function of its name");
  // NodeProto.overload, which the installed library does not know.
  expectRefused(
      [](auto &m) {
        onnx::NodeProto &node = softmax(m);
        node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(8, "other");
      },
      "overloads of functions are not supported");
}

} // namespace
