// json-rules-engine as a filter, asked by benchmarks/peers/json_rules.py: one rule a request, run for every candidate.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { clock, serve } from './served.mjs';

const { Engine } = createRequire(import.meta.url)(process.argv[2]);

let rows = [];
let requests = [];
let sink = 0;

const engineOf = ({ feature, window, price, denied, regions }) =>
  new Engine([
    {
      conditions: {
        all: [
          { fact: 'kind', operator: 'equal', value: 'llm-inference' },
          { fact: 'features', operator: 'contains', value: feature },
          { fact: 'contextWindow', operator: 'greaterThanInclusive', value: window },
          { fact: 'promptPrice', operator: 'lessThanInclusive', value: price },
          { fact: 'provider', operator: 'notIn', value: denied },
          { fact: 'region', operator: 'in', value: regions },
        ],
      },
      event: { type: 'passing' },
    },
  ]);

async function passing(request) {
  const engine = engineOf(request);
  const found = [];
  for (const row of rows) if ((await engine.run(row)).events.length) found.push(row);
  return found;
}

// The best of what passes: regular before fallback, then score, then provider, default model, model. Names are ASCII.
const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
function bestOf(found, prefer) {
  const regular = found.filter((row) => !row.fallback);
  const ranked = regular.length ? regular : found;
  if (!ranked.length) return null;
  const score = (row) =>
    prefer.reduce((sum, [name, weight]) => sum + (row.features.includes(name) || row.attributes.includes(name) ? weight : 0), 0);
  let best = { row: ranked[0], score: score(ranked[0]) };
  for (const row of ranked.slice(1)) {
    const its = score(row);
    const order =
      best.score - its ||
      compare(row.provider, best.row.provider) ||
      Number(best.row.default) - Number(row.default) ||
      compare(row.model, best.row.model);
    if (order < 0) best = { row, score: its };
  }
  return [best.row.provider, best.row.model, ranked.length - 1];
}
const picked = async (request) => bestOf(await passing(request), request.prefer);

await serve({
  rows({ file }) {
    rows = JSON.parse(readFileSync(file, 'utf8'));
    return rows.length;
  },
  requests(command) {
    requests = command.requests;
    return requests.length;
  },
  answer({ number }) {
    return picked(requests[number]);
  },
  async time({ first, count }) {
    const taken = clock();
    for (let at = 0; at < count; at += 1) sink += (await picked(requests[(first + at) % requests.length]))?.[2] ?? 0;
    return taken();
  },
});
if (sink === -1) console.log(sink); // what was computed is read
