// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/devlink.h
//
// The whole public interface.
#pragma once

#include "devlink/arch.h"
#include "devlink/diagnostics.h"
#include "devlink/environment.h"
#include "devlink/experimental/caching_lto_compiler.h"
#include "devlink/experimental/caching_ptx_assembler.h"
#include "devlink/experimental/cicc_option_builder.h"
#include "devlink/experimental/code_choice.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/experimental/cubin_writer.h"
#include "devlink/experimental/fatbin.h"
#include "devlink/experimental/fatbin_writer.h"
#include "devlink/experimental/host_references.h"
#include "devlink/experimental/library_search.h"
#include "devlink/experimental/link_passes.h"
#include "devlink/experimental/lto_compiler.h"
#include "devlink/experimental/lto_ir.h"
#include "devlink/experimental/nvvm_pass_options.h"
#include "devlink/experimental/nvvm_program.h"
#include "devlink/experimental/option_consensus.h"
#include "devlink/experimental/ptx_assembler.h"
#include "devlink/experimental/ptxas_options.h"
#include "devlink/experimental/time_trace.h"
#include "devlink/link_options.h"
#include "devlink/link_report.h"
#include "devlink/link_session.h"
#include "devlink/module.h"
#include "devlink/nvlink_command.h"
#include "devlink/sinks.h"
#include "devlink/toolchain.h"
#include "devlink/toolkit_profile.h"
#include "devlink/version.h"
