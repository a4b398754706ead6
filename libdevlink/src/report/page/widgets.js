// SPDX-License-Identifier: Apache-2.0
//
// What pages have in common: elements, tables to sort and search, tabs, the entry that is told of, and keys. The page's
// own script comes behind it, calls setParts, and finds its data by pageData.
"use strict";
const pageData = () => JSON.parse(document.getElementById("data").textContent);
const number = new Intl.NumberFormat("en");
const ROWS = 200;  // rows that are shown at a time, and how many more for each wish

const panel = document.getElementById("panel");
const detail = document.getElementById("detail");
const search = document.getElementById("search");
const count = document.getElementById("count");

// An element; text is text, never markup.
function el(tag, attributes, ...children) {
  const out = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) out.setAttribute(key, value === true ? "" : value);
  }
  out.append(...children.filter((child) => child !== null && child !== undefined));
  return out;
}

// `Agent::Kernel` for `void ns::Agent<…>::Kernel<…>(…)`.
function shortName(readable) {
  let plain = "", depth = 0;
  for (const part of readable.replaceAll("(anonymous namespace)", "{…}").split(/(operator[<>()=!+\-*\/%&|^~[\]]+|[<>()])/)) {
    if (part === "<" || part === "(") ++depth;
    else if (part === ">" || part === ")") --depth;
    else if (depth === 0) plain += part;
  }
  return plain.trim().split(" ").pop().split("::").slice(-2).join("::") || readable;
}
const lower = (...texts) => texts.join("\n").toLowerCase();

// What is told beside the table.
function tell(...children) {
  detail.replaceChildren(el("button", { class: "close", type: "button", "aria-label": "Close",
    onclick: () => detail.replaceChildren() }, "✕"), ...children);
  detail.scrollTop = 0;
}

const facts = (pairs) => el("ul", {}, ...pairs.map(([name, value]) => el("li", {}, `${name}: ${value}`)));

// --- Tables -----------------------------------------------------------------------------------

// columns: {title, of: row -> value, show: row -> nodes, number, wide, name}; rows are shown as far as they are looked
// at. Largest numbers come first, or with `ordered` what was first.
function table(columns, rows, { key, open, dead, ordered }) {
  let sorted = ordered ? -1 : columns.findIndex((c) => c.number);
  let descending = true;
  let shown = ROWS;
  let selected = -1;
  let view = [];
  const body = el("tbody", {});
  const more = el("button", { class: "more", type: "button" });
  more.addEventListener("click", () => { shown += ROWS; fill(); });

  const heads = columns.map((column, index) => {
    const head = el("th", { scope: "col", class: (column.number ? "number" : "") + (column.wide ? " wide" : "") },
      el("button", { type: "button" }, column.title));
    head.firstChild.addEventListener("click", () => {
      descending = sorted === index ? !descending : column.number === true;
      sorted = index;
      arrange();
    });
    return head;
  });

  function arrange() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    view = rows.filter((row) => words.every((word) => key(row).includes(word)));
    if (sorted >= 0) {
      const of = columns[sorted].of;
      const values = new Map(view.map((row) => [row, of(row)]));
      view.sort((a, b) => {
        const [x, y] = [values.get(a), values.get(b)];
        const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
        return descending ? -order : order;
      });
    }
    heads.forEach((head, index) => {
      if (index === sorted) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    shown = ROWS;
    selected = -1;
    fill();
    count.textContent = `${number.format(view.length)} of ${number.format(rows.length)}`;
  }
  function fill() {
    const lines = view.slice(0, shown).map((row, place) => {
      const line = el("tr", { tabindex: place === 0 ? "0" : "-1", class: dead && dead(row) ? "dead" : undefined });
      columns.forEach((column) => {
        const value = column.of(row);
        line.append(el("td", { class: (column.number ? "number" : "") + (column.name ? "name" : "") +
          (column.wide ? " wide" : "") }, ...(column.show ? column.show(row) :
          [typeof value === "number" ? number.format(value) : String(value)])));
      });
      line.addEventListener("click", () => select(place));
      return line;
    });
    body.replaceChildren(...lines);
    more.hidden = shown >= view.length;
    more.textContent = `Show ${Math.min(ROWS, view.length - shown)} more`;
  }
  function select(place) {
    if (place < 0 || place >= body.rows.length) return;
    if (selected >= 0 && body.rows[selected]) body.rows[selected].removeAttribute("aria-selected");
    selected = place;
    const line = body.rows[place];
    line.setAttribute("aria-selected", "true");
    line.tabIndex = 0;
    line.focus({ preventScroll: false });
    open(view[place]);
  }
  body.addEventListener("keydown", (event) => {
    const at = event.target.closest("tr");
    if (!at) return;
    const place = at.sectionRowIndex;
    const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: body.rows.length - 1,
      Enter: place, " ": place }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    select(next);
  });
  search.oninput = arrange;
  panel.replaceChildren(el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, ...heads)), body)), more);
  arrange();
}

const nameCell = (short, readable) => short === readable ? [readable] :
  [el("b", {}, short), el("span", { class: "full", title: readable }, readable)];

const bytes = (n) => n < 10000 ? `${number.format(n)} B` : n < 1e7 ? `${number.format(Math.round(n / 1024))} KiB` :
  `${number.format(Math.round(n / 1048576))} MiB`;

function setFacts(pairs) {
  document.getElementById("facts").replaceChildren(...pairs.map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

// --- Tabs and keys ------------------------------------------------------------------------------

// parts: [title, what fills the panel]; the one of index `first` is shown.
let parts = [];
const tabs = document.getElementById("tabs");
function markTab(index) {
  [...tabs.children].forEach((tab, place) => {
    tab.setAttribute("aria-selected", String(place === index));
    tab.tabIndex = place === index ? 0 : -1;
  });
  panel.setAttribute("aria-labelledby", "tab" + index);
}
function showPart(index) {
  markTab(index);
  parts[index][1]();
}
// Other parts, while the panel stays as it is.
function setTabs(wanted, first) {
  parts = wanted;
  tabs.replaceChildren(...parts.map(([title], index) => el("button", { type: "button", role: "tab", id: "tab" + index,
    "aria-controls": "panel", onclick: () => showPart(index) }, title)));
  markTab(first);
}
function setParts(wanted, first) {
  setTabs(wanted, first);
  showPart(first);
}
tabs.addEventListener("keydown", (event) => {
  const at = [...tabs.children].indexOf(document.activeElement);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: parts.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  const index = (next + parts.length) % parts.length;
  tabs.children[index].focus();
  showPart(index);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== search) {
    event.preventDefault();
    search.focus();
    search.select();
  } else if (event.key === "Escape" && event.target !== search) {
    detail.replaceChildren();
  } else if (event.key === "Escape") {
    search.value = "";
    search.oninput();
  } else if (event.key === "ArrowDown" && event.target === search) {
    const first = panel.querySelector("tbody tr");
    if (first) { event.preventDefault(); first.focus(); }
  }
});
