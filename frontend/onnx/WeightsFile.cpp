// Lays out and streams weights.bin.
#include "frontend/onnx/WeightsFile.h"

#include "onnx/onnx_pb.h"

#include <ostream>

using namespace syncline;
using namespace syncline::frontend;

WeightsFile::WeightsFile() = default;
WeightsFile::WeightsFile(WeightsFile &&) = default;
WeightsFile &WeightsFile::operator=(WeightsFile &&) = default;
WeightsFile::~WeightsFile() = default;

std::int64_t WeightsFile::add(std::string name, const frontend::TensorData &data) {
  std::int64_t offset = (total + alignment - 1) / alignment * alignment;
  total = offset + data.bytes;
  list.push_back({std::move(name), offset, data});
  return offset;
}

void WeightsFile::keep(std::unique_ptr<onnx::TensorProto> values) {
  owned.push_back(std::move(values));
}

Status WeightsFile::write(std::ostream &out) const {
  std::int64_t position = 0;
  for (const Entry &entry : list) {
    static constexpr char zeros[alignment] = {};
    out.write(zeros, entry.offset - position);
    SYNCLINE_TRY(streamTensor(entry.data, [&](llvm::StringRef bytes) {
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }));
    position = entry.offset + entry.data.bytes;
  }
  if (!out)
    return Status::badInput("cannot write the weights: the disk may be full");
  return Status::ok();
}
