// The published package, asked by benchmarks/peers/published.py: one JSON command a line on stdin, one answer a line.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { createProviderRegistry, defineCapability, route } = await import(pathToFileURL(process.argv[2]).href);

const invoke = async () => {
  throw new Error('not to be called');
};
const catalogs = new Map();
const requestSets = new Map();
let sink = 0;

const inputOf = (catalog, request) => ({
  capability: request.capability,
  providers: catalog.providers,
  ...(request.tenantPolicy && { tenantPolicy: request.tenantPolicy }),
});
const candidate = (tuple) => ({ provider: tuple.provider.metadata.id, model: tuple.model.name });
const wire = (decision) => ({
  pick: candidate(decision),
  alternates: decision.alternates.map(candidate),
  fallback: decision.fallback,
  reason: decision.reason,
});

// Tasks as they are timed.
const tasks = {
  route(catalog, request) {
    const found = route(inputOf(catalog, request));
    if (found.kind === 'err') return found.error.reasons.length;
    return found.value.model.name.length + found.value.reason.length + found.value.alternates.length;
  },
  json(catalog, request) {
    return JSON.stringify(wire(route(inputOf(catalog, request)).value)).length;
  },
  failed(catalog, request) {
    return route(inputOf(catalog, request)).error.reasons.length;
  },
  failedJson(catalog, request) {
    return JSON.stringify(route(inputOf(catalog, request)).error).length;
  },
  line(catalog, request) {
    const read = JSON.parse(request.line);
    const providers = read.providers.map((metadata) => ({ metadata, invoke }));
    const found = route({ capability: read.capability, providers, tenantPolicy: read.tenantPolicy });
    return JSON.stringify(found.kind === 'err' ? found.error : wire(found.value)).length;
  },
  fresh(catalog, request) {
    const defined = defineCapability(request.capability);
    if (defined.kind === 'err') throw new Error(JSON.stringify(defined.error));
    return tasks.route(catalog, { ...request, capability: defined.value });
  },
  register(catalog, request) {
    const registered = catalog.register('acme', { metadata: request.newcomer, invoke });
    if (registered.kind === 'err') throw new Error(JSON.stringify(registered.error));
    return tasks.route({ providers: catalog.registry.list('acme') }, request);
  },
};

// Their answers, in the form in which they are compared.
const canonical = (value) => (Array.isArray(value) ? value.join(',') : String(value));
function digest(rejecting) {
  const hash = createHash('sha256');
  for (const { id, reason } of rejecting) {
    const details = Object.keys(reason)
      .filter((key) => key !== 'code' && key !== 'message')
      .sort()
      .map((key) => `${key}=${canonical(reason[key])}`);
    hash.update(`${[id, reason.code, ...details].join('\t')}\n`);
  }
  return hash.digest('hex');
}
function answerOf(task, catalog, request) {
  if (task === 'line') {
    request = JSON.parse(request.line);
    catalog = { providers: request.providers.map((metadata) => ({ metadata, invoke })) };
  }
  if (task === 'register') catalog = { providers: [...catalog.providers, { metadata: request.newcomer, invoke }] };
  const found = route(inputOf(catalog, request));
  if (found.kind === 'err') {
    return found.error.reasons.map((reason) => [
      reason.requirement,
      reason.satisfyingProviders.length,
      createHash('sha256').update(reason.satisfyingProviders.join('\n')).digest('hex'),
      reason.rejectingProviders.length,
      digest(reason.rejectingProviders),
    ]);
  }
  const { pick, alternates, fallback } = wire(found.value);
  const ranked = alternates.map(({ provider, model }) => `${provider}\t${model}`).join('\n');
  return [pick.provider, pick.model, alternates.length, createHash('sha256').update(ranked).digest('hex'), fallback];
}

const commands = {
  catalog({ name, file }) {
    const { registry, register } = createProviderRegistry();
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (!line) continue;
      const registered = register('acme', { metadata: JSON.parse(line), invoke });
      if (registered.kind === 'err') throw new Error(JSON.stringify(registered.error));
    }
    const providers = registry.list('acme');
    catalogs.set(name, { registry, register, providers });
    return providers.length;
  },
  forget({ name }) {
    return catalogs.delete(name);
  },
  requests({ name, requests }) {
    requestSets.set(name, requests);
    return requests.length;
  },
  answer({ task, catalog, requests, number }) {
    return answerOf(task, catalogs.get(catalog), requestSets.get(requests)[number]);
  },
  time({ task, catalog, requests, first, count, again }) {
    const work = tasks[task];
    const subject = catalogs.get(catalog);
    const all = requestSets.get(requests);
    const start = process.hrtime.bigint();
    for (let at = 0; at < count; at += 1) sink += work(subject, all[(again ? first : first + at) % all.length]);
    return Number(process.hrtime.bigint() - start) / 1e9;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  try {
    console.log(JSON.stringify({ ok: commands[command.do](command) }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error?.stack ?? error) }));
  }
}
if (sink === -1) console.log(sink); // what was computed is read
