// SPDX-License-Identifier: Apache-2.0
//
// Links what is in memory, as a run-time compiler does, and prints what came of it:
// link_from_memory TARGET OUTPUT INPUT... [-- OPTION...]
#include <devlink/c/devlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The bytes of a file; NULL where it cannot be read. The caller frees them.
static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  char* data = NULL;
  *size = 0;
  if (file == NULL) return NULL;
  for (size_t room = 0, got = 1; got != 0; *size += got) {
    if (*size == room) {
      char* more = realloc(data, room = 2 * room + 65536);
      if (more == NULL) break;
      data = more;
    }
    got = fread(data + *size, 1, room - *size, file);
  }
  fclose(file);
  return data;
}

static void print_error(const char* what, const dl_error* error) {
  fprintf(stderr, "%s: %s: %s\n", what, dl_status_name(dl_error_status(error)),
          dl_error_text(error).data);
}

static void print_diagnostics(const dl_diagnostics* list) {
  for (size_t i = 0; i < dl_diagnostics_count(list); ++i) {
    dl_diagnostic found = {.size = sizeof found};
    if (dl_diagnostics_get(list, i, &found) != DL_OK) continue;
    if (found.code == DL_UNDEFINED_REFERENCE) printf("undefined %s\n", found.symbol.data);
  }
  dl_string* lines = NULL;  // the same as text, as nvlink would print it
  if (dl_diagnostics_render(list, "link_from_memory", &lines) == DL_OK) {
    fputs(dl_string_text(lines).data, stderr);
  }
  dl_string_destroy(lines);
}

static void print_report(const dl_outcome* linked) {
  dl_report report = {.size = sizeof report};
  dl_outcome_report(linked, &report);
  for (size_t i = 0; i < report.kernel_count; ++i) {
    dl_kernel kernel = {.size = sizeof kernel};
    dl_outcome_kernel(linked, i, &kernel);
    printf("%s: %u registers, %llu bytes of shared memory\n", kernel.name.data,
           (unsigned)kernel.registers, (unsigned long long)kernel.shared_bytes);
  }
  dl_string* json = NULL;
  if (dl_outcome_report_json(linked, &json) == DL_OK) puts(dl_string_text(json).data);
  dl_string_destroy(json);
}

// A toolchain for PTX and LTO IR: what the toolkit on PATH has. Cubins need none.
static dl_toolchain* find_tools(void) {
  dl_toolchain* tools = NULL;
  const dl_toolchain_options options = {
      .size = sizeof options, .search_path = getenv("PATH"), .temporary = "/tmp"};
  dl_error* error = NULL;
  if (dl_toolchain_create(&options, &tools, &error) != DL_OK) print_error("toolchain", error);
  dl_error_destroy(error);
  return tools;
}

static dl_status add_inputs(dl_session* session, int count, char** paths) {
  for (int i = 0; i < count; ++i) {
    size_t size = 0;
    void* data = read_file(paths[i], &size);
    dl_error* error = NULL;
    dl_status status = dl_session_add_bytes(session, paths[i], data, size, &error);
    free(data);  // the session has what it needs
    if (status != DL_OK) print_error(paths[i], error);
    dl_error_destroy(error);
    if (status != DL_OK) return status;
  }
  return DL_OK;
}

static dl_status link_and_print(dl_session* session, const char* output) {
  dl_outcome* linked = NULL;
  dl_status status = dl_session_link(session, &linked, NULL);
  print_diagnostics(dl_outcome_diagnostics(linked));  // of a link that failed, too
  dl_bytes cubin = dl_outcome_cubin(linked);          // until dl_outcome_destroy
  if (status == DL_OK) {
    FILE* file = fopen(output, "wb");
    const int written = file != NULL && fwrite(cubin.data, 1, cubin.size, file) == cubin.size;
    if (file == NULL || fclose(file) != 0 || !written) status = DL_UNKNOWN;
    print_report(linked);
  }
  dl_outcome_destroy(linked);
  return status;
}

int main(int argc, char** argv) {
  int inputs = 0;
  while (inputs + 3 < argc && strcmp(argv[inputs + 3], "--") != 0) ++inputs;
  if (inputs == 0) {
    fprintf(stderr, "usage: link_from_memory TARGET OUTPUT INPUT... [-- OPTION...]\n");
    return 2;
  }
  dl_toolchain* tools = find_tools();
  dl_session* session = NULL;
  dl_error* error = NULL;
  const dl_session_options options = {
      .size = sizeof options, .target = argv[1], .toolchain = tools};
  dl_status status = dl_session_create(&options, &session, &error);
  for (int i = inputs + 4; i < argc && status == DL_OK; ++i) {
    status = dl_session_set_option(session, argv[i], &error);  // "-maxrregcount=64"
  }
  if (status != DL_OK) {
    print_error("options", error);
    print_diagnostics(dl_error_diagnostics(error));
  }
  if (status == DL_OK) status = add_inputs(session, inputs, argv + 3);
  if (status == DL_OK) status = link_and_print(session, argv[2]);
  dl_error_destroy(error);
  dl_session_destroy(session);
  dl_toolchain_destroy(tools);
  return status == DL_OK ? 0 : 1;
}
