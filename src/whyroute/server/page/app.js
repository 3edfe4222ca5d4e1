"use strict";
(() => {
  // Whatever comes from a catalog or a policy becomes text of the page and nothing else: no markup is ever parsed.
  const at = id => document.getElementById(id);
  const OWN = "";
  let token = null;
  let vocabulary = null;
  let explained = null;
  let turn = 0;
  let timer = 0;

  function element(name, ...children) {
    const found = document.createElement(name);
    found.append(...children);
    return found;
  }

  function prose(sentence) {
    return String(sentence).split("`").map((part, place) => (place % 2 ? element("code", part) : part));
  }

  function say(where, sentence) {
    where.replaceChildren(...prose(sentence));
  }

  function candidate(of) {
    return [element("bdi", of.provider), " / ", element("bdi", of.model)];
  }

  async function call(path, body, accept = "application/json") {
    const headers = {Accept: accept};
    if (token !== null) headers.Authorization = `Bearer ${token}`;
    const options = {headers, credentials: "omit", cache: "no-store"};
    if (body !== undefined) {
      options.method = "POST";
      options.body = JSON.stringify(body);
      headers["Content-Type"] = "application/json";
    }
    const answer = await fetch(path, options);
    tellKept(answer.headers.get("Whyroute-Pack"));
    const json = (answer.headers.get("Content-Type") || "").startsWith("application/json");
    return {status: answer.status, id: answer.headers.get("X-Request-Id"), body: json ? await answer.json() : await answer.text()};
  }

  function tellKept(header) {
    const since = header === null ? "" : (header.match(/since="([^"]+)"/) || ["", "an unknown time"])[1];
    const told = since && `The rule pack can't be loaded. This one was kept at ${since}.`;
    if (at("kept").textContent !== told) at("kept").textContent = told;
  }

  function problems(error) {
    const issues = (error.details && error.details.issues) || [];
    if (!issues.length) return error.message;
    return issues.map(issue => (issue.path ? `${issue.path}: ${issue.message}` : issue.message)).join("\n");
  }

  // Signing in.

  async function enter() {
    const answer = await call("/v1/vocabulary");
    if (answer.status === 401) {
      at("desk").hidden = true;
      at("leave").hidden = true;
      at("who").textContent = "";
      at("sign-in").hidden = false;
      if (token !== null) say(at("token-error"), answer.body.error.message);
      token = null;
      at("token").focus();
      return;
    }
    if (answer.status !== 200) {
      at("sign-in").hidden = false;
      say(at("token-error"), answer.body.error.message);
      return;
    }
    vocabulary = answer.body;
    at("token-error").replaceChildren();
    at("sign-in").hidden = true;
    at("leave").hidden = token === null;
    at("who").replaceChildren("tenant ", element("bdi", vocabulary.tenant));
    fill();
    at("desk").hidden = false;
    at("named").focus();
    pick();
  }

  at("sign-in").addEventListener("submit", event => {
    event.preventDefault();
    token = at("token").value.trim();
    at("token").value = "";
    enter();
  });

  at("leave").addEventListener("click", () => {
    location.reload();
  });

  // The form.

  function option(value, text) {
    const found = element("option", text);
    found.value = value;
    return found;
  }

  function fill() {
    at("named").replaceChildren(
      ...vocabulary.capabilities.map(each => option(each.name, each.name)),
      option(OWN, "(one of your own)"),
    );
    at("providers").replaceChildren(...vocabulary.providers.map(each => option(each.id, "")));
    const models = [...new Set(vocabulary.providers.flatMap(each => each.models))].sort();
    at("models").replaceChildren(...models.map(name => option(name, "")));
    at("why-models").replaceChildren(...models.map(name => option(name, "")));
    const labels = Object.entries(vocabulary.labels);
    at("labels").hidden = !labels.length;
    at("labels").replaceChildren(at("labels").querySelector("legend"), ...labels.map(([key, label], place) => {
      const select = element("select");
      select.id = `label-${place}`;
      select.dataset.key = key;
      const none = label.default === undefined ? "(not said)" : `(${label.default}, when not said)`;
      select.append(option("", none), ...label.values.map(value => option(value, value)));
      const name = element("label", element("bdi", key));
      name.htmlFor = select.id;
      const field = element("div", name, select);
      field.className = "field";
      return field;
    }));
  }

  function entry() {
    return vocabulary.capabilities.find(each => each.name === at("named").value);
  }

  function pick() {
    const named = entry();
    if (named) at("declaration").value = JSON.stringify(named.declaration, null, 2);
    else if (!at("declaration").value) at("declaration").value = JSON.stringify({needs: []}, null, 2);
    closeWords();
    soon(0);
  }

  function request() {
    const found = {};
    const named = entry();
    if (named) {
      found.capability = named.name;
    } else {
      found.capability = JSON.parse(at("declaration").value);
    }
    const labels = {};
    for (const select of at("labels").querySelectorAll("select")) {
      if (select.value) labels[select.dataset.key] = select.value;
    }
    if (Object.keys(labels).length) found.labels = labels;
    if (at("preferred-provider").value) found.preferredProvider = at("preferred-provider").value;
    if (at("preferred-model").value) found.preferredModel = at("preferred-model").value;
    return found;
  }

  function complain(sentence) {
    say(at("declaration-error"), sentence);
    at("declaration").setAttribute("aria-invalid", sentence ? "true" : "false");
    at("stale").hidden = !sentence || explained === null;
  }

  function asked() {
    try {
      const found = request();
      complain("");
      return found;
    } catch (error) {
      complain(`not JSON: ${error.message}`);
      return null;
    }
  }

  function soon(delay = 350) {
    clearTimeout(timer);
    timer = setTimeout(explain, delay);
  }

  at("named").addEventListener("change", pick);
  at("declaration").addEventListener("input", () => {
    at("named").value = OWN;
    suggest();
    soon();
  });
  for (const id of ["preferred-provider", "preferred-model"]) at(id).addEventListener("input", () => soon());
  at("labels").addEventListener("change", () => soon(0));

  // Explaining: nothing is decided by it.

  async function explain() {
    const body = asked();
    if (body === null) return;
    const mine = ++turn;
    const why = contrast();
    const full = why ? {...body, whyNot: why} : body;
    try {
      const [told, page] = await Promise.all([call("/v1/explain", full), call("/v1/explain", full, "text/html")]);
      if (mine !== turn) return;
      if (told.status === 401) return void enter();
      if (told.status !== 200) {
        complain(problems(told.body.error));
        return;
      }
      explained = told.body;
      at("routed").replaceChildren();
      show();
      at("explanation").srcdoc = page.body;
      at("explanation").hidden = false;
    } catch (error) {
      if (mine === turn) say(at("because"), "The server can't be reached; try again in a moment.");
    }
  }

  function show() {
    const verdict = at("verdict");
    if (explained.satisfiable) {
      verdict.className = "good";
      const first = explained.ranking[0];
      verdict.replaceChildren("Picks ", ...candidate(first.candidate));
      const others = explained.ranking.length - 1;
      const fallback = first.fallback ? "It is a fallback: no regular provider qualifies. " : "";
      const more = others === 0 ? "No other one qualifies." : others === 1 ? "One more qualifies." : `${others}${others < 19 ? "" : " or more"} others qualify.`;
      at("because").replaceChildren(`${fallback}${more}`);
    } else {
      verdict.className = "bad";
      verdict.replaceChildren("Nothing qualifies");
      at("because").replaceChildren(...clash());
    }
    ways();
    answerContrast();
    at("contrast").hidden = false;
  }

  function constraint(id) {
    return explained.constraints.find(each => each.id === id);
  }

  function described(id) {
    const found = constraint(id);
    if (!found) return [element("code", id)];
    const owner = found.owner === "caller" ? "yours" : found.owner;
    const parts = [element("code", found.label), ` (${owner}`];
    if (found.contact) parts.push(", ", element("bdi", found.contact));
    if (found.because) parts.push(`: ${found.because.replace(/\.$/, "")}`);
    parts.push(")");
    return parts;
  }

  function clash() {
    const [core] = explained.cores;
    if (!core) return [];
    if (!core.length) return ["There are no candidates at all."];
    const list = core.flatMap((id, place) => [place ? (place === core.length - 1 ? " and " : ", ") : "", ...described(id)]);
    const more = explained.cores.length - 1;
    const tail = core.length === 1 ? " admits none of the candidates." : " admit no candidate together.";
    return [...list, tail, more > 0 ? ` And ${more} more ${more === 1 ? "clash" : "clashes"}.` : ""];
  }

  function ways() {
    at("ways").hidden = explained.satisfiable || !explained.relaxations.length;
    at("way-list").replaceChildren(...explained.relaxations.map(way => {
      const own = way.offered && way.patch.every(step => step.path.startsWith("/capability/"));
      const item = element("li", element("p", ...prose(way.text)));
      if (own) {
        item.className = "own";
        const button = element("button", "Try it");
        button.type = "button";
        button.addEventListener("click", () => attempt(way));
        item.append(button);
      } else {
        const others = way.correction.filter(id => (constraint(id) || {}).owner !== "caller");
        const note = element("p", "Not yours to change: ", ...others.flatMap((id, place) => [place ? "; " : "", ...described(id)]));
        note.className = "note";
        item.append(note);
      }
      return item;
    }));
  }

  // A JSON Patch (RFC 6902), as far as relaxations use it.
  function patched(document, patch) {
    for (const step of patch) {
      const keys = step.path.split("/").slice(1).map(key => key.replaceAll("~1", "/").replaceAll("~0", "~"));
      const last = keys.pop();
      const holder = keys.reduce((inner, key) => inner[key], document);
      if (Array.isArray(holder)) {
        const place = last === "-" ? holder.length : Number(last);
        if (step.op === "remove") holder.splice(place, 1);
        else holder.splice(place, step.op === "replace" ? 1 : 0, step.value);
      } else if (step.op === "remove") {
        delete holder[last];
      } else {
        holder[last] = step.value;
      }
    }
    return document;
  }

  function attempt(way) {
    const named = entry();
    const declaration = named ? structuredClone(named.declaration) : JSON.parse(at("declaration").value);
    if (named) {
      for (const select of at("labels").querySelectorAll("select")) {
        const fixed = (named.labels || {})[select.dataset.key];
        if (fixed !== undefined) select.value = fixed;
      }
    }
    const {capability} = patched({capability: declaration}, way.patch);
    at("named").value = OWN;
    at("declaration").value = JSON.stringify(capability, null, 2);
    at("answer").focus();
    soon(0);
  }

  // Why not another one?

  function contrast() {
    const provider = at("why-provider").value;
    const model = at("why-model").value;
    return provider && model ? {provider, model} : null;
  }

  at("why-provider").addEventListener("input", () => {
    const of = vocabulary.providers.find(each => each.id === at("why-provider").value);
    const names = of ? of.models : [...new Set(vocabulary.providers.flatMap(each => each.models))].sort();
    at("why-models").replaceChildren(...names.map(name => option(name, "")));
  });

  at("contrast").addEventListener("submit", event => {
    event.preventDefault();
    explain();
  });

  function answerContrast() {
    const found = explained.contrast;
    const told = at("contrast-told");
    told.replaceChildren();
    if (!found) return;
    told.append(...candidate(found.candidate));
    if (!found.known) {
      told.append(" is not a candidate of this tenant", ...(found.near || []).flatMap((near, place) => [place ? ", " : "; near it: ", ...candidate(near)]), ".");
    } else if (found.failed && found.failed.length) {
      told.append(" does not qualify: ", ...found.failed.flatMap(({constraint: id, reason}, place) => [place ? "; " : "", ...described(id), " - ", ...prose(reason.message)]), ".");
    } else if (!found.decidedBy) {
      told.append(" is the pick.");
    } else {
      told.append(` qualifies, in place ${found.rank}; ${({defaultModel: "the provider's default model comes first", model: "model names are compared to break the tie", provider: "provider ids are compared to break the tie"})[found.decidedBy] || `the ${found.decidedBy} decides`}; the pick is `, ...candidate(found.pick), ".");
    }
  }

  // Routing: this decides, and is noted.

  at("ask").addEventListener("submit", event => {
    event.preventDefault();
    route();
  });
  at("ask").addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      closeWords();
      route();
    }
  });

  async function route() {
    const body = asked();
    if (body === null) return void at("declaration").focus();
    clearTimeout(timer);
    try {
      const answer = await call("/v1/route", body);
      if (answer.status === 401) return void enter();
      if (answer.status !== 200 && answer.status !== 422) {
        complain(problems(answer.body.error));
        return;
      }
      await explain();
      const reason = answer.status === 200 ? answer.body.decision.reason : answer.body.error.message;
      at("routed").replaceChildren("Routed: ", ...prose(reason), ". Request ", element("code", answer.id), ".");
      at("answer").focus();
    } catch (error) {
      say(at("because"), "The server can't be reached; try again in a moment.");
    }
  }

  // Completion inside quotes.

  let words = [];
  let chosen = -1;

  function known() {
    const keys = ["needs", "prefer", "kind", "feature", "weight", "contextWindow", "op", "value", "costPerCall", "usd", "region",
      "p95LatencyMs", "providers", "models", "allow", "deny", "budget", "maxCostUsd", "maxTokens", "maxDurationMs"];
    const names = vocabulary.providers.flatMap(each => [each.id, ...each.models]);
    return [...new Set([...vocabulary.features, ...vocabulary.regions, ...vocabulary.kinds, ...vocabulary.attributes, ...names, ...keys])];
  }

  function started() {
    const area = at("declaration");
    if (area.selectionStart !== area.selectionEnd) return null;
    const before = area.value.slice(0, area.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    const quotes = line.split('"').length - 1;
    return quotes % 2 ? line.slice(line.lastIndexOf('"') + 1) : null;
  }

  function suggest() {
    const begun = started();
    if (begun === null) return closeWords();
    const sought = begun.toLowerCase();
    const all = known();
    const first = all.filter(word => word.toLowerCase().startsWith(sought));
    const rest = sought ? all.filter(word => !first.includes(word) && word.toLowerCase().includes(sought)) : [];
    words = [...first, ...rest].filter(word => word !== begun).slice(0, 50);
    chosen = -1;
    if (!words.length) return closeWords();
    at("words").replaceChildren(...words.map((word, place) => {
      const item = element("li", word);
      item.id = `word-${place}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.addEventListener("mousedown", event => {
        event.preventDefault();
        chosen = place;
        take();
      });
      return item;
    }));
    at("words").hidden = false;
    choose(0);
  }

  function choose(place) {
    const items = at("words").children;
    if (chosen >= 0) items[chosen].setAttribute("aria-selected", "false");
    chosen = (place + items.length) % items.length;
    items[chosen].setAttribute("aria-selected", "true");
    items[chosen].scrollIntoView({block: "nearest"});
    at("declaration").setAttribute("aria-activedescendant", items[chosen].id);
  }

  function closeWords() {
    at("words").hidden = true;
    words = [];
    chosen = -1;
    at("declaration").removeAttribute("aria-activedescendant");
  }

  function take() {
    const area = at("declaration");
    const begun = started();
    if (begun === null || chosen < 0) return closeWords();
    const text = JSON.stringify(words[chosen]).slice(1, -1);
    const after = area.value.slice(area.selectionEnd);
    const rest = /^[^"\n]*"/.exec(after);
    const end = area.selectionEnd + (rest ? rest[0].length : 0);
    area.setRangeText(`${text}"`, area.selectionStart - begun.length, end, "end");
    closeWords();
    soon();
  }

  at("declaration").addEventListener("keydown", event => {
    if (at("words").hidden || event.ctrlKey || event.metaKey) return;
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) choose(chosen + step);
    else if (event.key === "Enter") take();
    else if (event.key === "Escape") closeWords();
    else return;
    event.preventDefault();
  });
  at("declaration").addEventListener("blur", closeWords);

  enter();
})();
