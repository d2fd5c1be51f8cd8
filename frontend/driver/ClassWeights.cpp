// Reading and checking the weights of classes.
#include "frontend/driver/ClassWeights.h"

#include "runtime/core/StepTypes.h"
#include "runtime/data/Csv.h"
#include "runtime/data/Npy.h"
#include "syncline/TrainedLoss.h"

#include <algorithm>
#include <memory>

namespace syncline::driver {
namespace {

constexpr std::int64_t mostClasses = 1 << 20, mostBytes = 64 << 20;

Result<data::Array> readNpy(const std::string &path) {
  SYNCLINE_TRY_GET(file, data::NpyFile::open(path));
  const ElementType type = file->type();
  if (type != ElementType::f32 && type != ElementType::f64)
    return Status::badInput("'" + path + "': expected weights of float32 or float64, got " +
                            std::string(core::elementName(type)));
  const std::int64_t count = core::elementCount(file->shape());
  if (file->shape().size() != 1 || count > mostClasses)
    return Status::badInput("'" + path + "': expected weights of shape [classes], at most " +
                            std::to_string(mostClasses) + ", got shape " +
                            data::describe(file->shape()));
  auto values = std::make_shared<std::vector<std::byte>>(count * core::elementBytes(type));
  SYNCLINE_TRY(file->read(0, count, values->data()));
  return data::Array{path, type, file->shape(), values->data(), values};
}

Result<data::Array> readLineOrColumn(const std::string &path) {
  SYNCLINE_TRY_GET(file, data::InputFile::open(path)); // no pipe, no device
  if (file->size() > mostBytes)
    return Status::badInput("'" + path + "': expected at most " + std::to_string(mostBytes) +
                            " bytes, got " + std::to_string(file->size()));
  SYNCLINE_TRY_GET(table, data::readCsv(path));
  const Shape &shape = table->shape;
  if (table->count() > mostClasses || (table->count() > 0 && shape[0] != 1 && shape[1] != 1))
    return Status::badInput("'" + path + "': expected one line or one column of weights, at most " +
                            std::to_string(mostClasses) + ", got shape " + data::describe(shape));
  return table;
}

} // namespace

Result<std::vector<double>> readClassWeights(const std::string &path) {
  const bool isCsv = path.ends_with(".csv");
  if (!isCsv && !path.ends_with(".npy"))
    return Status::badInput("'" + path + "': expected a .npy or a .csv file of weights of classes");
  SYNCLINE_TRY_GET(array, isCsv ? readLineOrColumn(path) : readNpy(path));
  std::vector<double> weights(static_cast<std::size_t>(array->count()));
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = array->at(static_cast<std::int64_t>(i));
  if (Status s = TrainedLoss::checkWeights(weights); !s)
    return Status::badInput("'" + path + "': " + s.message());
  std::ranges::transform(weights, weights.begin(),
                         [](double weight) { return static_cast<float>(weight); });
  return weights;
}

} // namespace syncline::driver
