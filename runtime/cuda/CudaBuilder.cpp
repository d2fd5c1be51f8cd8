// Declarations, errors and bucket operations of the CUDA backend's StepBuilder.
#include "runtime/cuda/CudaBuilder.h"

#include <new>

namespace syncline::cuda {

Tensor CudaBuilder::tensor(const TensorInfo &info) {
  const Tensor declared = program.table.declare(info);
  if (declared.isValid())
    program.isWritten.push_back(false);
  return declared;
}

void CudaBuilder::bucket(const BucketInfo &info) { program.table.declareBucket(info); }

void CudaBuilder::phase(std::string_view name) { program.table.setPhase(name); }

void CudaBuilder::prepare(std::string_view name, std::string_view layer,
                          const std::function<void(Preparation &)> &body) {
  StepTable &table = program.table;
  if (table.hasFailed())
    return;
  table.append(name, layer, OperationKind::compute);
  prepareLast("layer '" + std::string(layer) + "': " + std::string(name), body);
}

void CudaBuilder::prepareLast(const std::string &where,
                              const std::function<void(Preparation &)> &body) {
  StepTable &table = program.table;
  program.resetScratch();
  try {
    program.device.makeCurrent();
    Preparation preparation(program, table.operations.back());
    body(preparation);
    program.commands.push_back(preparation.finish());
  } catch (const PreparationError &error) {
    table.fail(error.kind, where + ": " + error.message);
  } catch (const Failure &failure) {
    table.fail(failure.kind, where + ": " + failure.message);
  } catch (const std::bad_alloc &) {
    table.fail(ErrorKind::badInput, where + ": not enough memory on the host");
  } catch (const std::exception &error) {
    table.fail(ErrorKind::internal, where + ": " + error.what());
  }
}

void CudaBuilder::loss(Tensor loss) {
  prepare("loss", "", [&](Preparation &p) {
    p.expectType(loss, {ElementType::f32});
    p.expectCount(loss, 1);
    p.call("copy", [&program = program, value = p.input(loss)] {
      check(cudaMemcpyAsync(program.loss, value, sizeof(float), cudaMemcpyDeviceToHost,
                            program.device.compute),
            "cudaMemcpyAsync");
      program.hasLoss = true;
    });
  });
}

void CudaBuilder::issue(int bucket) {
  if (program.table.appendBucketOperation("issue", OperationKind::issue, bucket))
    program.commands.emplace_back();
}

void CudaBuilder::wait(int bucket) {
  if (program.table.appendBucketOperation("wait", OperationKind::wait, bucket))
    program.commands.emplace_back();
}

void CudaBuilder::update(int bucket) {
  if (program.table.appendBucketOperation("update", OperationKind::update, bucket))
    program.commands.emplace_back();
}

} // namespace syncline::cuda
