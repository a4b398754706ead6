// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/devlink.h
//
// The whole public interface.
#pragma once

#include "devlink/arch.h"
#include "devlink/cicc_option_builder.h"
#include "devlink/code_choice.h"
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
#include "devlink/module_pool.h"
#include "devlink/option_consensus.h"
#include "devlink/ptx_assembler.h"
#include "devlink/ptxas_options.h"
#include "devlink/toolkit_profile.h"
#include "devlink/version.h"
