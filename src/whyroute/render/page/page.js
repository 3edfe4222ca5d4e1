
"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const announce = (text) => { byId("announce").textContent = text; };
  const data = JSON.parse(byId("data").textContent);
  const columns = data.columns;
  const size = data.rows.model.length;

  if (!size) {
    byId("matrix").hidden = true;
    document.querySelector(".skip").hidden = true;
    return;
  }

  // The rows, unfolded from columns of indices.

  const messages = data.messages.map((shapes) =>
    shapes.flatMap(([head, tail, middle]) => (typeof middle === "string"
      ? [(i) => head + data.rows[middle][i] + tail]
      : middle.map((text) => () => head + text + tail))));
  const rows = [];
  let at = 0;
  for (let i = 0; i < size; i++) {
    const failed = data.signatures[data.rows.signature[i]];
    const [provider, region, fallback] = data.providers[data.rows.provider[i]];
    const model = data.rows.model[i];
    rows.push({
      index: i, provider, model, region, fallback: fallback === 1, failed,
      reasons: failed.map((column) => messages[column][messages[column].length > 1 ? data.rows.reasons[at++] : 0]),
      signature: data.rows.signature[i], rank: data.rows.rank[i], qualifies: failed.length === 0,
      text: (provider + " / " + model).toLowerCase(),
    });
  }
  const failsIn = (row, column) => row.failed.includes(column);
  const reasonOf = (row, column) => {
    const place = row.failed.indexOf(column);
    return place < 0 ? null : row.reasons[place](row.index);
  };
  const counted = (count, noun) => count + " " + noun + (count === 1 ? "" : "s");
  const fewest = Math.min(...rows.filter((row) => !row.qualifies).map((row) => row.failed.length));

  // Building elements: text goes in as text, never as markup.

  const make = (tag, name, ...children) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children);
    return element;
  };
  const withAttributes = (element, attributes) => {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const mark = (sign, name) => withAttributes(make("span", name, sign), { "aria-hidden": "true" });
  const unseen = (text) => make("span", "unseen", text);
  const prose = (text) => {
    const parts = text.split("`");
    const found = document.createDocumentFragment();
    parts.forEach((part, place) => {
      const closed = place % 2 === 1 && place < parts.length - 1;
      found.append(closed ? make("code", "", part) : (place % 2 === 1 ? "`" : "") + part);
    });
    return found;
  };

  // What is shown: a filter, an order, groups, and lines made of them.

  const find = byId("find"), show = byId("show"), by = byId("by"), sort = byId("sort"), group = byId("group");
  group.checked = size > 20;
  const option = (value, text) => withAttributes(make("option", "", text), { value });
  const near = rows.filter((row) => row.failed.length === fewest).length;
  const qualifying = rows.filter((row) => row.qualifies).length;
  show.append(option("all", "all " + size));
  if (qualifying) show.append(option("qualify", "that qualify (" + qualifying + ")"));
  if (near) show.append(option("near", "near misses: " + counted(fewest, "failure") + " (" + near + ")"));
  by.append(option("", "any constraint"));
  columns.forEach((column, c) => {
    const count = rows.filter((row) => failsIn(row, c)).length;
    if (count) by.append(option(String(c), column.id + " (" + count + ")"));
  });

  const orders = {
    failures: (a, b) => a.failed.length - b.failed.length || a.rank - b.rank,
    rank: (a, b) => a.rank - b.rank,
    name: (a, b) => (a.provider < b.provider ? -1 : a.provider > b.provider ? 1 : a.model < b.model ? -1 : a.model > b.model ? 1 : a.rank - b.rank),
  };
  const open = new Set();
  let lines = [];

  const arrange = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const column = by.value === "" ? -1 : Number(by.value);
    const found = rows.filter((row) =>
      (show.value !== "qualify" || row.qualifies) &&
      (show.value !== "near" || row.failed.length === fewest) &&
      (column < 0 || failsIn(row, column)) &&
      words.every((word) => row.text.includes(word)));
    found.sort(orders[sort.value]);
    lines = [];
    let groups = found.length;
    if (group.checked) {
      const bySignature = new Map();
      for (const row of found) {
        const same = bySignature.get(row.signature);
        if (same) same.push(row); else bySignature.set(row.signature, [row]);
      }
      groups = bySignature.size;
      for (const [signature, [first, ...others]] of bySignature) {
        const isOpen = open.has(signature);
        lines.push({ row: first, more: others.length, isOpen });
        if (isOpen) for (const row of others) lines.push({ row, member: true });
      }
    } else {
      for (const row of found) lines.push({ row });
    }
    const what = found.length === size ? counted(size, "candidate") : found.length + " of " + counted(size, "candidate");
    byId("status").textContent = group.checked && groups < found.length
      ? what + ", in " + counted(groups, "group") + " that fail alike" : what;
    grid.setAttribute("aria-rowcount", String(lines.length + 1));
  };

  // The grid. Only the lines in view have elements, and the one that has the focus.

  const scroller = byId("scroller"), grid = byId("grid");
  const head = withAttributes(make("div", "row head"), { role: "row", "aria-rowindex": "1" });
  const body = withAttributes(make("div", "body"), { role: "rowgroup" });
  const noMatch = make("p", "no-match", "No candidate matches this filter. ");
  const everything = make("button", "", "Show all");
  everything.type = "button";
  noMatch.append(everything);
  noMatch.hidden = true;
  const width = columns.length + 2;
  grid.setAttribute("aria-colcount", String(width));

  const cellOf = (role, name, column, ...children) => {
    const cell = withAttributes(make("div", "cell " + name, ...children), { role, tabindex: "-1", "aria-colindex": String(column + 1) });
    cell.dataset.column = String(column);
    return cell;
  };
  head.append(cellOf("columnheader", "lead", 0, "Candidate"), cellOf("columnheader", "count", 1, "Fails"));
  columns.forEach((column, c) => {
    const id = make("b", "");
    const label = make("span", "");
    const breakable = (element, text) => text.split(/(?<=[/:=,[{-])/).forEach((part) => element.append(part, document.createElement("wbr")));
    breakable(id, column.id);
    breakable(label, column.label);
    const title = make("span", "title", id, label);
    head.append(cellOf("columnheader", "", c + 2, title, unseen("")));
  });
  grid.append(withAttributes(make("div", "heads", head), { role: "rowgroup" }), body);
  scroller.append(noMatch);

  const elements = new Map();
  const active = { line: -1, column: 0 };
  let picked = { kind: "", name: "", columns: new Set(), row: -1 };

  const flips = (row, column) => row.index === picked.row && picked.kind === "change" && picked.columns.has(column) && failsIn(row, column);

  const rowElement = (line, number) => {
    const element = withAttributes(make("div", "row"), { role: "row", "aria-rowindex": String(number + 2) });
    const row = line.row;
    if (line.member) element.classList.add("member");
    const provider = make("span", "provider", make("bdi", "", row.provider), unseen(" / "));
    const model = make("span", "model", make("bdi", "", row.model));
    const tags = [];
    if (row.index === data.pick) {
      element.classList.add("pick");
      tags.push(make("span", "tag", "pick"));
    }
    if (row.fallback) tags.push(make("span", "tag", "fallback"));
    const beside = make("span", "beside", ...tags);
    const lead = cellOf("rowheader", "lead", 0, provider, model, beside);
    if (line.more) {
      beside.append(make("span", "more", line.more + " more", make("span", "rest", " like this")));
      lead.setAttribute("aria-expanded", String(line.isOpen));
    }
    element.append(lead, cellOf("gridcell", "count", 1, make("span", "", String(row.failed.length))));
    columns.forEach((_, c) => {
      const reason = reasonOf(row, c);
      const cell = reason === null
        ? cellOf("gridcell", "", c + 2, mark("✓", "pass"), unseen("passes"))
        : cellOf("gridcell", "", c + 2, mark("✗", "fail"), unseen("fails: " + reason.replaceAll("`", "")));
      element.append(cell);
    });
    return element;
  };

  const decorate = (element, row) => {
    const chosen = row !== undefined && row.index === picked.row;
    element.classList.toggle("chosen", chosen);
    if (chosen) element.setAttribute("aria-selected", "true");
    else element.removeAttribute("aria-selected");
    for (const cell of element.children) {
      const column = Number(cell.dataset.column) - 2;
      if (column < 0) continue;
      const lit = picked.columns.has(column);
      cell.classList.toggle("lit", lit);
      cell.classList.toggle("unlit", picked.columns.size > 0 && !lit);
      if (row === undefined) {
        cell.lastChild.textContent = lit ? " (" + picked.name.toLowerCase() + ")" : "";
        continue;
      }
      const turns = flips(row, column);
      cell.classList.toggle("flips", turns);
      if (failsIn(row, column)) {
        cell.firstChild.textContent = turns ? "✗→✓" : "✗";
        cell.lastChild.textContent = "fails: " + reasonOf(row, column).replaceAll("`", "") + (turns ? "; passes after " + picked.name.toLowerCase() : "");
      }
    }
  };

  let rowHeight = 40;
  const fit = () => {
    rowHeight = parseFloat(getComputedStyle(root).getPropertyValue("--row")) || 40;
    const first = head.firstChild.getBoundingClientRect().width;
    const rest = first + head.children[1].getBoundingClientRect().width;
    const flat = (scroller.clientWidth - rest) / columns.length >= 96;
    grid.classList.toggle("flat", flat);
    grid.classList.toggle("tall", !flat);
    root.style.setProperty("--tracks", "repeat(" + columns.length + ", minmax(var(--cell), 1fr))");
    grid.style.minWidth = "calc(var(--first) + var(--count) + " + columns.length + " * var(--cell))";
    draw();
  };

  const draw = () => {
    const top = scroller.scrollTop - head.offsetHeight;
    const from = Math.max(0, Math.floor(top / rowHeight) - 6);
    const to = Math.min(lines.length, Math.ceil((top + scroller.clientHeight) / rowHeight) + 6);
    body.style.height = lines.length * rowHeight + "px";
    const wanted = new Set();
    for (let number = from; number < to; number++) wanted.add(number);
    if (active.line >= 0 && active.line < lines.length) wanted.add(active.line);
    for (const [number, element] of elements) {
      if (!wanted.has(number)) {
        element.remove();
        elements.delete(number);
      }
    }
    let before = null;
    for (const number of [...wanted].sort((a, b) => a - b)) {
      let element = elements.get(number);
      if (!element) {
        element = rowElement(lines[number], number);
        element.dataset.line = String(number);
        element.style.top = number * rowHeight + "px";
        decorate(element, lines[number].row);
        elements.set(number, element);
        if (before) before.after(element); else body.prepend(element);
      }
      before = element;
    }
    setTabStop();
  };

  const elementOf = (line, column) => {
    return (line < 0 ? head : elements.get(line))?.children[column] ?? null;
  };
  let tabStop = null;
  const setTabStop = () => {
    const cell = elementOf(active.line, active.column);
    if (cell === tabStop || !cell) return;
    if (tabStop) tabStop.tabIndex = -1;
    tabStop = cell;
    cell.tabIndex = 0;
  };

  const redraw = () => {
    const had = grid.contains(document.activeElement);
    for (const element of elements.values()) element.remove();
    elements.clear();
    if (active.line >= lines.length) active.line = lines.length - 1;
    noMatch.hidden = lines.length > 0;
    draw();
    if (had) elementOf(active.line, active.column).focus({ preventScroll: true });
  };

  const reveal = (line, column) => {
    const heads = head.offsetHeight;
    if (line >= 0) {
      const top = line * rowHeight;
      const view = scroller.clientHeight - heads;
      if (top < scroller.scrollTop) scroller.scrollTop = top;
      else if (top + rowHeight > scroller.scrollTop + view) scroller.scrollTop = top + rowHeight - view;
    }
    revealColumn(column);
    draw();
  };
  const revealColumn = (column) => {
    if (column === 0) return;
    const cell = head.children[column], lead = head.firstChild.offsetWidth;
    const left = cell.offsetLeft, right = left + cell.offsetWidth;
    if (left - lead < scroller.scrollLeft) scroller.scrollLeft = left - lead;
    else if (right > scroller.scrollLeft + scroller.clientWidth) scroller.scrollLeft = right - scroller.clientWidth;
  };

  const focusOn = (line, column) => {
    active.line = Math.max(-1, Math.min(lines.length - 1, line));
    active.column = Math.max(0, Math.min(width - 1, column));
    reveal(active.line, active.column);
    setTabStop();
    const cell = elementOf(active.line, active.column);
    cell?.focus({ preventScroll: true });
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
    // Where the reason is docked to the foot of the window, the cell moves out from under it.
    const covered = reason.hidden || !cell ? 0 : cell.getBoundingClientRect().bottom - reason.getBoundingClientRect().top;
    if (covered > 0 && docked.matches) scrollBy(0, covered + 4);
  };

  const placeOf = (target) => {
    const cell = target.closest?.(".cell");
    if (!cell || !grid.contains(cell)) return null;
    const row = cell.parentElement;
    return { cell, line: row === head ? -1 : Number(row.dataset.line), column: Number(cell.dataset.column) };
  };

  const toggleGroup = (number) => {
    const line = lines[number];
    if (!open.delete(line.row.signature)) open.add(line.row.signature);
    hide();
    arrange();
    redraw();
    announce(line.isOpen ? "Closed" : counted(line.more, "candidate") + " shown below");
  };

  const press = (place) => {
    if (place.line < 0) {
      if (place.column < 2) return;
      const value = String(place.column - 2);
      if (![...by.options].some((each) => each.value === value)) return;
      by.value = by.value === value ? "" : value;
      refresh();
    } else if (lines[place.line].more && place.column === 0) {
      toggleGroup(place.line);
    } else {
      explain(place);
    }
  };

  grid.addEventListener("keydown", (event) => {
    const place = placeOf(event.target);
    if (!place || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((scroller.clientHeight - head.offsetHeight) / rowHeight) - 1);
    const { line } = place;
    const moves = {
      ArrowDown: () => focusOn(line + 1, active.column),
      ArrowUp: () => focusOn(line - 1, active.column),
      ArrowRight: () => focusOn(line, active.column + 1),
      ArrowLeft: () => focusOn(line, active.column - 1),
      Home: () => focusOn(event.ctrlKey ? 0 : line, 0),
      End: () => focusOn(event.ctrlKey ? lines.length - 1 : line, width - 1),
      PageDown: () => focusOn(line + page, active.column),
      PageUp: () => focusOn(line - page, active.column),
      Enter: () => press(place),
      " ": () => press(place),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  });
  grid.addEventListener("click", (event) => {
    const place = placeOf(event.target);
    if (!place) return;
    active.line = place.line;
    active.column = place.column;
    setTabStop();
    press(place);
  });

  // The reason: beside the cell that is pointed at or has the focus.

  const reason = byId("reason"), docked = matchMedia("(max-width: 40rem)");
  let described = null, closing = 0;
  const hide = () => {
    reason.hidden = true;
    described?.removeAttribute("aria-describedby");
    described = null;
  };
  const facts = (pairs) => {
    const list = make("dl", "");
    for (const [name, value] of pairs) list.append(make("dt", "", name), make("dd", "", value));
    return list;
  };
  const aboutColumn = (column) => [
    make("div", "", prose(column.words)),
    make("div", "about", make("code", "", column.id), " · " + column.owner + " · admits " + column.admits + " of " + data.size + (column.where.length ? " · " + column.where.join(", ") : "")),
  ];
  const aboutRow = (row) => {
    const known = data.rows.p95[row.index];
    const parts = [
      make("div", "", make("bdi", "", row.provider), " / ", make("bdi", "", row.model)),
      facts([
        ["region", row.region],
        ["context window", data.rows.window[row.index] + " tokens"],
        ["prompt price", "$" + data.rows.price[row.index] + " per 1K tokens"],
        ["p95 latency", known === null ? "not known" : known + " ms"],
      ]),
    ];
    if (row.qualifies) parts.push(make("div", "fine", "✓ qualifies"));
    else {
      const list = make("ul", "");
      for (const column of row.failed) list.append(make("li", "why", "✗ ", make("code", "", columns[column].id), " ", prose(reasonOf(row, column))));
      parts.push(list);
    }
    return parts;
  };
  const explain = (place) => {
    const line = lines[place.line];
    if (place.line < 0 && place.column < 2) return hide();
    const column = place.column - 2;
    const parts = [];
    if (place.line < 0) parts.push(...aboutColumn(columns[column]), make("div", "about", "Enter shows only what it rejects"));
    else if (column < 0) parts.push(...aboutRow(line.row));
    else {
      const why = reasonOf(line.row, column);
      parts.push(make("div", "about", make("bdi", "", line.row.provider), " / ", make("bdi", "", line.row.model)));
      parts.push(why === null ? make("div", "fine", "✓ passes") : make("div", "why", "✗ ", prose(why)));
      parts.push(...aboutColumn(columns[column]));
      if (flips(line.row, column)) parts.push(make("div", "fine", "✓ passes after " + picked.name.toLowerCase()));
    }
    reason.replaceChildren(...parts);
    reason.hidden = false;
    const box = place.cell.getBoundingClientRect();
    const own = reason.getBoundingClientRect();
    const under = box.bottom + 6 + own.height <= innerHeight;
    reason.style.top = Math.max(4, under ? box.bottom + 6 : box.top - own.height - 6) + "px";
    reason.style.left = Math.max(8, Math.min(box.left, root.clientWidth - own.width - 8)) + "px";
    described?.removeAttribute("aria-describedby");
    described = place.cell;
    if (column < 0 || place.line < 0) described.setAttribute("aria-describedby", "reason");
  };
  const later = () => {
    clearTimeout(closing);
    closing = setTimeout(() => {
      const place = document.activeElement && placeOf(document.activeElement);
      if (place && document.activeElement.matches(":focus-visible")) explain(place); else hide();
    }, 150);
  };
  grid.addEventListener("focusin", (event) => {
    const place = placeOf(event.target);
    if (!place) return;
    clearTimeout(closing);
    active.line = place.line;
    active.column = place.column;
    setTabStop();
    explain(place);
  });
  grid.addEventListener("focusout", later);
  grid.addEventListener("pointerover", (event) => {
    const place = placeOf(event.target);
    if (!place || event.pointerType === "touch") return;
    clearTimeout(closing);
    explain(place);
  });
  grid.addEventListener("pointerleave", later);
  reason.addEventListener("pointerenter", () => clearTimeout(closing));
  reason.addEventListener("pointerleave", later);
  addEventListener("keydown", (event) => { if (event.key === "Escape" && !reason.hidden) hide(); });
  addEventListener("scroll", () => { if (!reason.hidden && described) later(); }, { passive: true });

  // Clashes and ways out: one at a time, shown in the matrix.

  const toggles = [...document.querySelectorAll(".toggle")];
  const selection = byId("selection");
  const reset = () => {
    find.value = "";
    show.value = "all";
    by.value = "";
  };
  const select = (button) => {
    const on = button !== null && button.getAttribute("aria-pressed") !== "true";
    for (const each of toggles) each.setAttribute("aria-pressed", String(on && each === button));
    picked = { kind: "", name: "", columns: new Set(), row: -1 };
    if (on) {
      const { kind, name, columns: wanted, row } = button.dataset;
      picked = { kind, name, columns: new Set(wanted.split(" ").filter(Boolean).map(Number)), row: row === undefined ? -1 : Number(row) };
    }
    grid.classList.toggle("clash", picked.kind === "clash");
    grid.classList.toggle("change", picked.kind === "change");
    selection.hidden = !on;
    selection.classList.toggle("change", picked.kind === "change");
    if (picked.columns.size) revealColumn(Math.min(...picked.columns) + 2);
    if (picked.row >= 0) seek(picked.row);
    decorate(head, undefined);
    for (const [number, element] of elements) decorate(element, lines[number].row);
    if (!on) return announce("Nothing highlighted");
    const ids = [...picked.columns].map((column) => columns[column].id).join(", ");
    const row = picked.row >= 0 ? rows[picked.row].provider + " / " + rows[picked.row].model : "";
    const text = picked.name + ": " + [ids, row].filter(Boolean).join("; ");
    byId("selected").textContent = text;
    announce("Highlighted: " + text);
  };
  const seek = (index) => {
    const lineOf = () => lines.findIndex((line) => line.row?.index === index);
    if (lineOf() < 0) {
      const row = rows[index];
      open.add(row.signature);
      arrange();
      if (lineOf() < 0) {
        reset();
        arrange();
      }
      redraw();
    }
    scroller.scrollTop = Math.max(0, (lineOf() - 2) * rowHeight);
    draw();
  };
  for (const button of toggles) button.addEventListener("click", () => select(button));
  byId("clear").addEventListener("click", () => {
    const pressed = toggles.find((each) => each.getAttribute("aria-pressed") === "true");
    select(null);
    pressed?.focus({ preventScroll: true });
  });

  const refresh = () => {
    hide();
    arrange();
    for (const cell of head.children) cell.classList.toggle("filtering", by.value !== "" && cell.dataset.column === String(Number(by.value) + 2));
    scroller.scrollTop = 0;
    if (!grid.contains(document.activeElement)) Object.assign(active, { line: Math.min(0, lines.length - 1), column: 0 });
    redraw();
  };
  byId("tools").addEventListener("input", refresh);
  byId("tools").addEventListener("submit", (event) => event.preventDefault());
  everything.addEventListener("click", () => {
    reset();
    refresh();
    find.focus();
  });

  let waiting = false;
  scroller.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  }, { passive: true });

  arrange();
  active.line = 0;
  fit();
  new ResizeObserver(fit).observe(scroller);
})();
