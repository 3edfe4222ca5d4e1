// What the peers in Node share: JSON commands, one a line on stdin, one answer a line; and what work takes.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

export async function serve(commands) {
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    try {
      console.log(JSON.stringify({ ok: await commands[command.do](command) }));
    } catch (error) {
      console.log(JSON.stringify({ error: String(error?.stack ?? error) }));
    }
  }
}

const nobody = new Int32Array(new SharedArrayBuffer(4));

// What the processor has done for this thread, in seconds, without V8's helpers; undefined where nobody tells.
function processor() {
  if (process.threadCpuUsage) {
    const used = process.threadCpuUsage();
    return (used.user + used.system) / 1e6;
  }
  Atomics.wait(nobody, 0, 0, 0.1); // the kernel notes what a thread has had when the thread pauses
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e9;
  } catch {
    return undefined;
  }
}

// Starts a clock; what it returns tells the seconds since, by the clock and of the processor.
export function clock() {
  const before = processor();
  const start = process.hrtime.bigint();
  return () => {
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    return { seconds, processor: before === undefined ? undefined : processor() - before };
  };
}
