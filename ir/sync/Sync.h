// The C++ interface of the sync dialect: include this to use its operations.
#pragma once

#include "ir/KnownAttributes.h"
#include "ir/cluster/Cluster.h"
#include "ir/sync/Forms.h"
#include "ir/sync/Rows.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/sync/SyncDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/sync/SyncAttrs.h.inc"
#define GET_OP_CLASSES
#include "ir/sync/SyncOps.h.inc"
