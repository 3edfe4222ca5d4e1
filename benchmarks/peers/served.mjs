// What the peers in Node share: JSON commands, one a line on stdin, one answer a line; and what work takes.
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

// Starts a clock; what it returns tells the seconds since, by the clock and of all threads of this process.
export function clock() {
  const before = process.cpuUsage();
  const start = process.hrtime.bigint();
  return () => {
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    const used = process.cpuUsage(before);
    return { seconds, processor: (used.user + used.system) / 1e6 };
  };
}
