// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/devlink.h
//
// The whole public interface.
#pragma once

#include "devlink/arch.h"
#include "devlink/caching_compilers.h"
#include "devlink/cicc_option_builder.h"
#include "devlink/code_choice.h"
#include "devlink/compile_cache.h"
#include "devlink/cubin_writer.h"
#include "devlink/diagnostics.h"
#include "devlink/fatbin.h"
#include "devlink/fatbin_writer.h"
#include "devlink/host_references.h"
#include "devlink/library_search.h"
#include "devlink/link_options.h"
#include "devlink/link_report.h"
#include "devlink/link_session.h"
#include "devlink/log.h"
#include "devlink/lto_compiler.h"
#include "devlink/lto_ir.h"
#include "devlink/lto_options.h"
#include "devlink/module_pool.h"
#include "devlink/nvvm_pass_options.h"
#include "devlink/nvvm_program.h"
#include "devlink/option_consensus.h"
#include "devlink/output_sink.h"
#include "devlink/parallel.h"
#include "devlink/progress.h"
#include "devlink/ptx_assembler.h"
#include "devlink/ptxas_options.h"
#include "devlink/toolkit_profile.h"
#include "devlink/version.h"
