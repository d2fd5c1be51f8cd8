// Reading an ONNX file's values: what the runtime writes, what exporters write, and what is broken.
#include "runtime/run/weights/OnnxValues.h"
#include "runtime/run/weights/OnnxRecord.h"
#include "tests/support/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

namespace syncline::run {
namespace {

class OnnxValuesFile : public ::testing::Test {
protected:
  Result<OnnxValues> read(const std::string &content) {
    std::ofstream(path, std::ios::binary) << content;
    return OnnxValues::read(path);
  }
  /// The message of copy(), or of read().
  std::string refused(const std::string &content, const std::string &name, ElementType type,
                      const Shape &shape) {
    const Result<OnnxValues> values = read(content);
    if (!values)
      return values.status().message();
    std::vector<std::byte> dense(8);
    return values->copy(name, type, shape, dense).message();
  }

  test::TemporaryFolder folder;
  const std::string path = folder.file("model.onnx");
  const float numbers[2] = {1.5f, -2};
  const std::string bytes{reinterpret_cast<const char *>(numbers), sizeof numbers};
  const std::string record = onnxRecordHead("w", ElementType::f32, {2, 1}, 8) + bytes;
};

// The last record counts, and other fields of the model are passed over.
TEST_F(OnnxValuesFile, ReadsRecords) {
  const std::string version{8, 7}; // ir_version
  const std::string older = onnxRecordHead("w", ElementType::f32, {2, 1}, 8) + std::string(8, 'x');
  const auto values = read(version + older + record);
  ASSERT_TRUE(values.isOk()) << values.status().message();
  float found[2];
  ASSERT_TRUE(
      values->copy("w", ElementType::f32, {2, 1}, std::as_writable_bytes(std::span(found))).isOk());
  EXPECT_EQ(std::memcmp(found, numbers, sizeof found), 0);
}

// dims packed into one field, values as float_data.
TEST_F(OnnxValuesFile, ReadsPackedFields) {
  std::string tensor{10, 2, 2, 1, 16, 1, 66, 1, 'w', 34, 8};
  tensor += bytes;
  const std::string graph = std::string{42, static_cast<char>(tensor.size())} + tensor;
  const auto values = read(std::string{58, static_cast<char>(graph.size())} + graph);
  ASSERT_TRUE(values.isOk()) << values.status().message();
  float found[2];
  ASSERT_TRUE(
      values->copy("w", ElementType::f32, {2, 1}, std::as_writable_bytes(std::span(found))).isOk());
  EXPECT_EQ(found[0], 1.5f);
}

TEST_F(OnnxValuesFile, RefusesOtherTensors) {
  const std::string file = "'" + path + "': ";
  EXPECT_EQ(refused(record, "v", ElementType::f32, {2, 1}),
            file + "expected values of 'v', got none");
  EXPECT_EQ(refused(record, "w", ElementType::f32, {1, 2}),
            file + "tensor 'w': expected shape [1, 2], got [2, 1]");
  EXPECT_EQ(refused(record, "w", ElementType::i64, {2, 1}),
            file + "tensor 'w': expected ONNX's data type 7, got 1");
  const std::string elsewhere{58, 11, 42, 9, 8, 2, 16, 1, 66, 1, 'w', 112, 1};
  EXPECT_EQ(refused(elsewhere, "w", ElementType::f32, {2}),
            file + "tensor 'w': its values lie in another file, expected them in this one");
  const std::string few{58, 9, 42, 7, 8, 2, 16, 1, 66, 1, 'w'};
  EXPECT_EQ(refused(few, "w", ElementType::f32, {2}),
            file + "tensor 'w': expected 8 bytes of values, got 0");
}

// No file that ends early is taken for a model, wherever it ends; nor is noise.
TEST_F(OnnxValuesFile, RefusesWhatIsNoModel) {
  for (std::size_t length = 0; length < record.size(); ++length)
    EXPECT_EQ(read(record.substr(0, length)).status().message(),
              "'" + path + "': expected an ONNX model")
        << length;
  EXPECT_FALSE(read("PK\3\4 something else").isOk());
  EXPECT_FALSE(OnnxValues::read(folder.file("none.onnx")).isOk());
  EXPECT_FALSE(OnnxValues::read(folder.path).isOk());
}

} // namespace
} // namespace syncline::run
