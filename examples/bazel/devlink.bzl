# SPDX-License-Identifier: Apache-2.0
"""A rule that links relocatable device code with devlink."""

def _device_link_impl(ctx):
    cubin = ctx.actions.declare_file(ctx.label.name + ".cubin")
    arguments = ctx.actions.args()
    arguments.add("-arch", ctx.attr.arch)
    arguments.add("-o", cubin)
    arguments.add_all(ctx.attr.options)
    arguments.add_all(ctx.files.srcs)
    ctx.actions.run(
        executable = ctx.executable.devlink,
        arguments = [arguments],
        inputs = ctx.files.srcs,
        outputs = [cubin],
        mnemonic = "DeviceLink",
        progress_message = "Linking device code of %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([cubin]))]

device_link = rule(
    implementation = _device_link_impl,
    attrs = {
        "srcs": attr.label_list(
            allow_files = [".a", ".cubin", ".fatbin", ".ltoir", ".o", ".ptx"],
            doc = "What is linked, in this order.",
            mandatory = True,
        ),
        "arch": attr.string(mandatory = True, doc = "The target, such as sm_90."),
        "options": attr.string_list(doc = "Further options of devlink; no files."),
        "devlink": attr.label(
            allow_single_file = True,
            cfg = "exec",
            default = "@devlink//:devlink",
            executable = True,
        ),
    },
    doc = "One cubin, NAME.cubin, of relocatable device code.",
)
