// Declarations, errors and bucket operations of the CPU backend's StepBuilder.
#include "runtime/cpu/CpuBuilder.h"

namespace syncline::cpu {

Tensor CpuBuilder::tensor(const TensorInfo &info) {
  const Tensor declared = program.table.declare(info);
  if (!declared.isValid())
    return declared;
  Placement placement;
  placement.data = program.spaces[static_cast<int>(info.space)].data() + info.offset;
  placement.layout = plainLayout(info.shape, info.type);
  placement.isLaidOut = info.space == Space::input || info.space == Space::target;
  program.placements.push_back(std::move(placement));
  return declared;
}

void CpuBuilder::bucket(const BucketInfo &info) { program.table.declareBucket(info); }

void CpuBuilder::phase(std::string_view name) { program.table.setPhase(name); }

void CpuBuilder::prepare(std::string_view name, std::string_view layer,
                         const std::function<void(Preparation &)> &body) {
  StepTable &table = program.table;
  if (table.hasFailed())
    return;
  table.append(name, layer, OperationKind::compute);
  prepareLast("layer '" + std::string(layer) + "': " + std::string(name), body);
}

void CpuBuilder::prepareLast(const std::string &where,
                             const std::function<void(Preparation &)> &body) {
  StepTable &table = program.table;
  program.resetScratch();
  OperationInfo &operation = table.operations.back();
  try {
    Preparation preparation(program, operation);
    body(preparation);
    program.commands.push_back(preparation.finish());
  } catch (const PreparationError &error) {
    table.fail(error.kind, where + ": " + error.message);
  } catch (const dnnl::error &error) {
    const bool refused =
        error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments;
    table.fail(refused ? ErrorKind::badInput : ErrorKind::internal,
               where + ": oneDNN cannot do these shapes or types: " + error.what());
  }
}

void CpuBuilder::loss(Tensor loss) {
  prepare("loss", "", [&](Preparation &p) {
    p.expectType(loss, {ElementType::f32});
    p.call("copy", [&program = program, value = p.plainInput(loss)] {
      program.loss = *pointer<float>(value);
    });
  });
}

void CpuBuilder::issue(int bucket) {
  if (program.table.appendBucketOperation("issue", OperationKind::issue, bucket))
    program.commands.emplace_back();
}

void CpuBuilder::wait(int bucket) {
  if (program.table.appendBucketOperation("wait", OperationKind::wait, bucket))
    program.commands.emplace_back();
}

void CpuBuilder::update(int bucket) {
  if (program.table.appendBucketOperation("update", OperationKind::update, bucket))
    program.commands.emplace_back();
}

} // namespace syncline::cpu
