// SPDX-License-Identifier: Apache-2.0
"use strict";
(() => {
  const { report, diagnostics } = pageData();
  const details = report.details;
  const functions = details.functions;
  functions.forEach((f, index) => { f.index = index; });
  const byName = new Map(functions.filter((f) => f.kernel).map((f) => [f.name, f.index]));

  const svg = (tag, attributes, ...children) => {
    const out = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
      else out.setAttribute(key, value);
    }
    out.append(...children);
    return out;
  };

  functions.forEach((f) => { f.short = shortName(f.readable); });
  const inputName = (index) => index === null ? "driver" : details.inputs[index].name;
  const isLive = (f) => f.why !== "dead";

  // Calls through pointers, by caller.
  const pointed = new Map();
  details.pointer_calls.forEach((calls) => calls.callers.forEach((caller) => {
    if (!pointed.has(caller)) pointed.set(caller, new Set());
    calls.targets.forEach((target) => pointed.get(caller).add(target));
  }));
  const calleesOf = (index) => [
    ...functions[index].callees.map((to) => ({ to, pointer: false })),
    ...[...(pointed.get(index) || [])].map((to) => ({ to, pointer: true })),
  ];
  let callers = null;  // by callee, when somebody asks
  function callersOf(index) {
    if (callers === null) {
      callers = functions.map(() => []);
      functions.forEach((f, from) => calleesOf(from).forEach(({ to }) => callers[to].push(from)));
    }
    return [...new Set(callers[index])];
  }

  // --- What is told of one entry -----------------------------------------------------------------

  const link = (index) => el("button", { class: "link", type: "button", title: functions[index].readable,
    onclick: () => showFunction(index) }, functions[index].short);

  const CHOICE = {
    "all": "no host code says which kernels it launches, so every kernel stays",
    "host-references": "host code refers to it",
    "names": "-kernels-used wants it",
    "nothing-is-left-out": "with -g and -r everything stays",
  };

  function wayTo(index) {
    const way = [index];
    while (functions[way[0]].reached_from !== null && way.length <= functions.length) {
      way.unshift(functions[way[0]].reached_from);
    }
    return way;
  }

  function whyList(index) {
    const f = functions[index];
    if (f.input === null) return el("p", {}, "No input defines it: the driver brings it, or the next link.");
    if (!isLive(f)) return el("p", {}, f.kernel ? "It is left out: no host code refers to it." :
      "It is left out: no kernel that stays reaches it.");
    const words = { "called": "calls ", "called-through-pointer": "calls through a pointer ",
      "address-taken": "takes the address of " };
    const list = el("ol", {});
    wayTo(index).forEach((step, place) => {
      const why = functions[step].why;
      if (place > 0) return list.append(el("li", {}, words[why] || "", link(step)));
      const reason = why === "kernel" ? CHOICE[details.kernel_choice] :
        why === "address-taken" ? "its address is taken" :
        details.kernel_choice === "nothing-is-left-out" ? "everything stays" : "the compiler kept it";
      list.append(el("li", {}, functions[step].kernel ? "kernel " : "", link(step),
        el("span", { class: "soft" }, " — " + reason)));
    });
    return list;
  }

  // Calls as a tree that opens level by level: programs have more ways than a page can show.
  function callTree(index, way = [index]) {
    const list = el("ul", { class: "tree" });
    calleesOf(index).slice(0, ROWS).forEach(({ to, pointer }) => {
      const f = functions[to];
      const item = el("li", {}, pointer ? "→ " : "", link(to),
        el("span", { class: "soft" }, ` ${f.registers} registers, ${f.frame_bytes} bytes of frame`));
      if (way.includes(to)) item.append(el("span", { class: "warning" }, " (goes round)"));
      else if (calleesOf(to).length > 0) {
        const open = el("button", { class: "more", type: "button", "aria-expanded": "false" }, " + calls");
        open.addEventListener("click", () => open.replaceWith(callTree(to, [...way, to])), { once: true });
        item.append(" ", open);
      }
      list.append(item);
    });
    return list;
  }

  function showFunction(index) {
    const f = functions[index];
    const kernel = report.kernels.find((k) => k.name === f.name);
    const pairs = [["input", inputName(f.input)], ["code", `${number.format(f.code_bytes)} bytes`],
      ["registers of its own", f.registers], ["frame", `${f.frame_bytes} bytes`]];
    if (kernel) {
      pairs.push(["registers", kernel.registers],
        ["stack", kernel.stack_bytes === null ? "unknown, calls can go round" : `${kernel.stack_bytes} bytes`],
        ["shared memory", `${kernel.shared_bytes} bytes`], ["parameters", `${kernel.parameter_bytes} bytes`],
        ["barriers", kernel.barriers]);
    }
    if (f.copies > 1) pairs.push(["copies", `${f.copies} inputs define it; ${f.discarded_bytes} bytes went`]);
    if (f.finalized === true) pairs.push(["finalizer", "NVIDIA's finalizer changed its code"]);
    const from = callersOf(index);
    tell(el("h2", {}, f.short), facts(pairs),
      el("h3", {}, "Why it is there"), whyList(index),
      ...(calleesOf(index).length ? [el("h3", {}, "Calls"), callTree(index)] : []),
      ...(from.length ? [el("h3", {}, `Called by ${from.length}`),
        el("ul", {}, ...from.slice(0, 50).map((caller) => el("li", {}, link(caller))))] : []),
      el("h3", {}, "Name"), el("pre", { class: "soft" }, f.readable === f.name ? f.name : `${f.readable}\n\n${f.name}`));
  }

  function showInput(index) {
    const input = details.inputs[index];
    const own = functions.map((f, i) => i).filter((i) => functions[i].input === index);
    own.sort((a, b) => functions[b].code_bytes - functions[a].code_bytes);
    tell(el("h2", {}, input.name),
      facts([["taken as", input.origin], ["size", `${number.format(input.bytes)} bytes`],
        ["functions", `${own.filter((i) => isLive(functions[i])).length} of ${own.length} stay`]]),
      el("h3", {}, "Largest functions"),
      el("ul", {}, ...own.slice(0, 50).map((i) => el("li", {}, link(i),
        el("span", { class: "soft" }, ` ${number.format(functions[i].code_bytes)} bytes`)))));
  }

  // --- The parts of the report ------------------------------------------------------------------

  const functionKey = (f) => lower(f.name, f.readable, inputName(f.input));

  function kernelTable() {
    const readable = (k) => byName.has(k.name) ? functions[byName.get(k.name)].readable : k.name;
    table([
      { title: "Kernel", of: readable, name: true, show: (k) => nameCell(shortName(readable(k)), readable(k)) },
      { title: "Registers", of: (k) => k.registers, number: true },
      { title: "Stack", of: (k) => k.stack_bytes === null ? "?" : k.stack_bytes, number: true },
      { title: "Shared", of: (k) => k.shared_bytes, number: true },
      { title: "Parameters", of: (k) => k.parameter_bytes, number: true, wide: true },
      { title: "Barriers", of: (k) => k.barriers, number: true, wide: true },
    ], report.kernels, { key: (k) => lower(k.name, readable(k)),
      open: (k) => byName.has(k.name) && showFunction(byName.get(k.name)) });
  }

  function functionTable() {
    table([
      { title: "Function", of: (f) => f.readable, name: true, show: (f) => nameCell(f.short, f.readable) },
      { title: "Bytes", of: (f) => f.code_bytes, number: true },
      { title: "Registers", of: (f) => f.registers, number: true },
      { title: "Frame", of: (f) => f.frame_bytes, number: true, wide: true },
      { title: "Input", of: (f) => inputName(f.input), wide: true },
    ], functions, { key: functionKey, open: (f) => showFunction(f.index), dead: (f) => !isLive(f) });
  }

  function variableTable() {
    table([
      { title: "Variable", of: (v) => v.readable, name: true },
      { title: "Bytes", of: (v) => v.bytes, number: true },
      { title: "Memory", of: (v) => v.memory },
      { title: "Section", of: (v) => v.section, wide: true },
      { title: "Input", of: (v) => inputName(v.input), wide: true },
    ], details.variables, { key: (v) => lower(v.name, v.readable, inputName(v.input)),
      open: (v) => tell(el("h2", {}, v.readable), el("pre", { class: "soft" }, v.name),
        facts([["input", inputName(v.input)], ["memory", v.memory], ["section", v.section],
          ["bytes", number.format(v.bytes)], ["offset", v.offset]])) });
  }

  function inputTable() {
    const live = details.inputs.map(() => 0);
    functions.forEach((f) => { if (f.input !== null && isLive(f)) live[f.input] += f.code_bytes; });
    const rows = details.inputs.map((input, index) => ({ ...input, index, live: live[index] }));
    details.left_out.forEach((input) => rows.push({ name: input.name, origin: "not linked: " + input.reason,
      bytes: 0, live: 0, index: -1 }));
    details.lto_inputs.forEach((name) => rows.push({ name, origin: "LTO IR", bytes: 0, live: 0, index: -1 }));
    table([
      { title: "Input", of: (i) => i.name, name: true },
      { title: "Code that stays", of: (i) => i.live, number: true },
      { title: "Bytes", of: (i) => i.bytes, number: true, wide: true },
      { title: "Taken as", of: (i) => i.origin },
    ], rows, { key: (i) => lower(i.name, i.origin), open: (i) => i.index >= 0 && showInput(i.index),
      dead: (i) => i.index < 0 && i.origin.startsWith("not") });
  }

  function sectionTable() {
    table([
      { title: "Section", of: (s) => s.name, name: true },
      { title: "Bytes", of: (s) => s.bytes, number: true },
      { title: "In the file", of: (s) => s.file_bytes, number: true },
      { title: "Align", of: (s) => s.align, number: true, wide: true },
    ], details.sections, { key: (s) => lower(s.name), open: () => {} });
  }

  // Rows of rectangles that are as near to squares as that goes, largest first.
  function squarify(items, x, y, width, height, out) {
    items = items.filter((item) => item.bytes > 0).sort((a, b) => b.bytes - a.bytes);
    let total = items.reduce((sum, item) => sum + item.bytes, 0);
    while (items.length > 0 && width > 0 && height > 0) {
      const short = Math.min(width, height);
      const area = width * height;
      let row = [], sum = 0, worst = Infinity;
      for (const item of items) {
        const next = sum + item.bytes;
        const side = next / total * area / short;
        const ratio = Math.max(...[row[0] || item, item].map((one) => {
          const other = one.bytes / total * area / side;
          return Math.max(side / other, other / side);
        }));
        if (ratio > worst) break;
        worst = ratio;
        row.push(item);
        sum = next;
      }
      const side = sum / total * area / short;
      let at = 0;
      for (const item of row) {
        const length = item.bytes / sum * short;
        out.push(width >= height ? { item, x, y: y + at, width: side, height: length } :
          { item, x: x + at, y, width: length, height: side });
        at += length;
      }
      if (width >= height) { x += side; width -= side; } else { y += side; height -= side; }
      total -= sum;
      items = items.slice(row.length);
    }
    return out;
  }

  function treemap() {
    const WIDTH = 1000, HEIGHT = 620, SMALL = 400;
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const groups = new Map();
    functions.forEach((f, index) => {
      if (!isLive(f) || f.input === null || f.code_bytes === 0) return;
      if (!words.every((word) => functionKey(f).includes(word))) return;
      if (!groups.has(f.input)) groups.set(f.input, []);
      groups.get(f.input).push({ bytes: f.code_bytes, index });
    });
    const inputs = [...groups].map(([input, items]) => (
      { input, items, bytes: items.reduce((sum, item) => sum + item.bytes, 0) }));
    const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Bytes of code by input and function" });
    let shown = 0;
    for (const box of squarify(inputs, 0, 0, WIDTH, HEIGHT, [])) {
      // What is too small to be seen is drawn as one.
      let items = box.item.items.sort((a, b) => b.bytes - a.bytes);
      if (items.length > SMALL) {
        const rest = items.slice(SMALL).reduce((sum, item) => sum + item.bytes, 0);
        items = [...items.slice(0, SMALL), { bytes: rest, index: -1 }];
      }
      for (const cell of squarify(items, box.x, box.y, box.width, box.height, [])) {
        const name = cell.item.index < 0 ? "smaller functions" : functions[cell.item.index].readable;
        const open = () => cell.item.index < 0 ? showInput(box.item.input) : showFunction(cell.item.index);
        picture.append(svg("rect", { x: cell.x, y: cell.y, width: Math.max(0, cell.width), height: Math.max(0, cell.height),
          tabindex: "0", role: "button", "aria-label": `${name}, ${cell.item.bytes} bytes`, onclick: open,
          onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); } } },
          svg("title", {}, `${name}\n${inputName(box.item.input)}\n${number.format(cell.item.bytes)} bytes`)));
        const shortened = cell.item.index < 0 ? name : functions[cell.item.index].short;
        const letters = Math.floor(cell.width / 7) - 1;
        if (letters > 3 && cell.height > 16) {
          picture.append(svg("text", { x: cell.x + 4, y: cell.y + 13 },
            shortened.length > letters ? shortened.slice(0, letters - 1) + "…" : shortened));
        }
        ++shown;
      }
      picture.append(svg("rect", { class: "frame", x: box.x, y: box.y, width: box.width, height: box.height }));
    }
    panel.replaceChildren(picture);
    count.textContent = `${number.format(shown)} functions in ${number.format(inputs.length)} inputs`;
    search.oninput = treemap;
  }

  function messages() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const told = diagnostics.filter((d) => words.every((word) => lower(d.text, d.symbol || "", d.input || "").includes(word)));
    panel.replaceChildren(told.length === 0 ? el("p", { class: "soft" }, "The link had nothing to say.") :
      el("ul", {}, ...told.slice(0, 1000).map((d) => el("li", {},
        el("span", { class: d.severity }, d.severity + ": "), d.text,
        ...(d.notes || []).map((note) => el("div", { class: "soft" }, note))))));
    count.textContent = `${number.format(told.length)} of ${number.format(diagnostics.length)}`;
    search.oninput = messages;
  }

  // --- The whole ----------------------------------------------------------------------------------

  const live = functions.filter((f) => isLive(f) && f.input !== null);
  setFacts([
    ["output", bytes(report.output_bytes)], ["kernels", number.format(report.kernels.length)],
    ["functions", number.format(live.length)],
    ["code", bytes(live.reduce((sum, f) => sum + f.code_bytes, 0))],
    ["global memory", bytes(report.global_bytes)], ["constants", bytes(report.constant_bytes)],
    ["left out", number.format(functions.filter((f) => !isLive(f) && f.input !== null).length) + " functions"],
  ]);

  setParts([["Kernels", kernelTable], ["Functions", functionTable], ["Bytes", treemap], ["Variables", variableTable],
    ["Inputs", inputTable], ["Sections", sectionTable], ["Messages", messages]],
  report.kernels.length > 0 ? 0 : 1);
})();
