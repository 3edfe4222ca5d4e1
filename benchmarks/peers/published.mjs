// The published package, asked by benchmarks/peers/published.py: one JSON command a line on stdin, one answer a line.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { clock, serve } from './served.mjs';

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
  tenant(catalog, request, number, all) {
    return tasks.route({ providers: tenantOf(catalog, number) }, shifted(catalog, number, all));
  },
  register(catalog, request) {
    const registered = catalog.register('acme', { metadata: request.newcomer, invoke });
    if (registered.kind === 'err') throw new Error(JSON.stringify(registered.error));
    return tasks.route({ providers: catalog.registry.list('acme') }, request);
  },
};

// Tenants are asked in turn, and each asks for another request when its turn comes again.
const tenantOf = (catalog, number) => catalog.registry.list(`tenant-${number % catalog.tenants}`);
const shifted = (catalog, number, all) => all[(number + Math.floor(number / catalog.tenants)) % all.length];

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
function answerOf(task, catalog, number, all) {
  let request = all[number % all.length];
  if (task === 'tenant') {
    request = shifted(catalog, number, all);
    catalog = { providers: tenantOf(catalog, number) };
  }
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
  // Each line of the file: a tenant and a provider's metadata.
  catalog({ name, file }) {
    const { registry, register } = createProviderRegistry();
    const tenants = new Set();
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (!line) continue;
      const [tenant, metadata] = JSON.parse(line);
      tenants.add(tenant);
      const registered = register(tenant, { metadata, invoke });
      if (registered.kind === 'err') throw new Error(JSON.stringify(registered.error));
    }
    catalogs.set(name, { registry, register, providers: registry.list('acme'), tenants: tenants.size });
    return tenants.size;
  },
  forget({ name }) {
    return catalogs.delete(name);
  },
  requests({ name, requests }) {
    requestSets.set(name, requests);
    return requests.length;
  },
  answer({ task, catalog, requests, number }) {
    return answerOf(task, catalogs.get(catalog), number, requestSets.get(requests));
  },
  time({ task, catalog, requests, first, count, again }) {
    const work = tasks[task];
    const subject = catalogs.get(catalog);
    const all = requestSets.get(requests);
    const taken = clock();
    for (let at = 0; at < count; at += 1) {
      const number = again ? first : first + at;
      sink += work(subject, all[number % all.length], number, all);
    }
    return taken();
  },
};

await serve(commands);
if (sink === -1) console.log(sink); // what was computed is read
