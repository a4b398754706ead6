// SPDX-License-Identifier: Apache-2.0
"use strict";
(() => {
  // Every item of every file, from the outside in.
  const all = [];
  (function collect(items, depth, within) {
    items.forEach((item) => {
      Object.assign(item, { depth, within });
      item.tables = item.tables.filter((t) => t.rows.length > 0);
      all.push(item);
      collect(item.members, depth + 1, item);
    });
  })(pageData().files, 0, null);

  // A cell is null, a number, a text (a number in hexadecimal, too) or a name with its readable form.
  const readable = (cell) => cell === null ? "" : typeof cell === "object" ? cell.readable : String(cell);
  const mangled = (cell) => cell === null ? "" : typeof cell === "object" ? cell.name : String(cell);
  const isHex = (cell) => typeof cell === "string" && /^0x[0-9a-f]+$/.test(cell);
  const value = (cell) => isHex(cell) ? Number(cell) : typeof cell === "number" ? cell : readable(cell);
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const pathOf = (item) => item.within ? `${pathOf(item.within)}:${item.name}` : item.name;

  let current = null;  // the item that is shown

  // --- The call graph of an item ----------------------------------------------------------------

  const kindOfCall = (list) => list === "calls" ? "" : `${list}: `;
  // Who calls whom, by name: made when somebody asks.
  function callsOf(item) {
    if (item.calls) return item.calls;
    item.calls = { to: new Map(), from: new Map() };
    const graph = item.tables.find((t) => t.key === "call_graph");
    (graph ? graph.rows : []).forEach((row) => {
      const [list, from, to] = row;
      const add = (map, at, name) => {
        if (!map.has(at)) map.set(at, []);
        map.get(at).push({ list, name });
      };
      add(item.calls.to, mangled(from), to);
      add(item.calls.from, mangled(to), from);
    });
    return item.calls;
  }
  function callList(title, calls) {
    if (!calls || calls.length === 0) return [];
    return [el("h3", {}, `${title} (${number.format(calls.length)})`),
      el("ul", {}, ...calls.slice(0, ROWS).map(({ list, name }) => el("li", {},
        el("span", { class: "soft" }, kindOfCall(list)),
        el("button", { class: "link", type: "button", title: readable(name), onclick: () => showName(name) },
          readable(name)))))];
  }
  // The row of a function or variable, wherever the item tells of it.
  function showName(name) {
    for (const key of ["kernels", "functions", "variables", "undefined", "symbols"]) {
      const found = current.tables.find((t) => t.key === key);
      if (!found) continue;
      const at = nameColumn(found);
      const row = found.rows.find((r) => at >= 0 && mangled(r[at]) === mangled(name));
      if (row) return showRow(found, row);
    }
    tell(el("h2", {}, readable(name)), ...callsAround(name));
  }
  const callsAround = (name) => [
    ...callList("Calls", callsOf(current).to.get(mangled(name))),
    ...callList("Called by", callsOf(current).from.get(mangled(name))),
  ];

  // --- Tables -----------------------------------------------------------------------------------

  const nameColumn = (shown) => shown.columns.lastIndexOf("name");

  function showRow(shown, row) {
    const at = nameColumn(shown);
    const name = at >= 0 ? row[at] : null;
    const pairs = shown.columns.map((title, index) => [title, row[index]])
      .filter(([, cell], index) => index !== at && cell !== null && cell !== "")
      .map(([title, cell]) => [title, typeof cell === "number" ? number.format(cell) : readable(cell)]);
    tell(el("h2", {}, name === null ? capital(shown.title) : shortName(readable(name)) || "(no name)"), facts(pairs),
      ...(name === null ? [] : callsAround(name)),
      ...(name === null || readable(name) === "" ? [] : [el("h3", {}, "Name"),
        el("pre", { class: "soft" }, typeof name === "object" ? `${name.readable}\n\n${name.name}` : name)]));
  }

  function showTable(shown) {
    const at = nameColumn(shown);
    // The name first: on a small screen it is what one looks for.
    const order = shown.columns.map((_, index) => index).filter((index) => index !== at);
    if (at >= 0) order.unshift(at);
    const KEPT = at >= 0 ? 4 : 5;  // columns on a small screen
    table(order.map((index, place) => {
      const cells = shown.rows.map((row) => row[index]).filter((cell) => cell !== null);
      return {
        title: capital(shown.columns[index]),
        of: (row) => value(row[index]),
        show: (row) => index === at ? nameCell(shortName(readable(row[index])), readable(row[index])) :
          [typeof row[index] === "number" ? number.format(row[index]) : row[index] === null ? "–" : readable(row[index])],
        number: cells.every((cell) => typeof cell === "number" || isHex(cell)),
        name: index === at,
        wide: place >= KEPT,
      };
    }), shown.rows, {
      key: (row) => row.searched || (row.searched = lower(...row.map((cell) => `${readable(cell)}\n${mangled(cell)}`))),
      open: (row) => showRow(shown, row),
      ordered: true,
    });
  }

  function about() {
    const fields = [["kind", current.kind], ["size", `${number.format(current.size)} bytes`],
      ...(current.address ? [["--extract", current.address]] : []),
      ...current.fields.map(([title, cell]) => [title, typeof cell === "number" ? number.format(cell) : readable(cell)])];
    panel.replaceChildren(el("p", {}, current.headline),
      ...current.problems.map((problem) => el("p", { class: "error" }, `problem: ${problem}`)),
      facts(fields));
    count.textContent = "";
    search.oninput = () => {};
  }

  function fileTable() {
    table([
      { title: "Item", of: (item) => pathOf(item), name: true,
        show: (item) => [el("span", { style: `padding-left: ${item.depth * 14}px` }, item.name)] },
      { title: "Kind", of: (item) => item.kind },
      { title: "Bytes", of: (item) => item.size, number: true },
      { title: "What it is", of: (item) => item.problems.length ? `problem: ${item.problems[0]}` : item.headline, wide: true },
    ], all, {
      key: (item) => lower(pathOf(item), item.kind, item.headline),
      open: (item) => {
        choose(item, false);
        tell(el("h2", {}, item.name), el("p", {}, item.headline), facts(item.tables.map((t) =>
          [t.title, number.format(t.rows.length)])));
      },
      ordered: true,
    });
  }

  // --- The whole --------------------------------------------------------------------------------

  function choose(item, first) {
    current = item;
    detail.replaceChildren();
    setFacts([["item", item.name], ["kind", item.kind], ["size", bytes(item.size)],
      ...item.tables.filter((t) => ["kernels", "functions", "variables", "sections"].includes(t.key))
        .map((t) => [t.title, number.format(t.rows.length)]),
      ...(item.problems.length ? [["problems", number.format(item.problems.length)]] : [])]);
    const parts = [...(all.length > 1 ? [["Files", fileTable]] : []), ["About", about],
      ...item.tables.map((t) => [capital(t.title), () => showTable(t)])];
    // Where a row of the list of files was chosen, the list stays.
    if (first) setParts(parts, Math.min(parts.length - 1, all.length > 1 ? 0 : 1));
    else setTabs(parts, 0);
  }
  if (all.length > 0) choose(all.find((item) => item.tables.length > 0) || all[0], true);
  else panel.replaceChildren(el("p", { class: "soft" }, "No file could be read."));
})();
