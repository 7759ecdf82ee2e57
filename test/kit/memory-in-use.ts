// Memory of a server after garbage collection: heap and buffers.

import { sleep } from './fixtures.js'
import { repoRoot } from './paths.js'
import type { ServerProcess } from './server-process.js'

/** Node.js flags of the server. */
export const memoryProbeFlags: readonly string[] = ['--expose-gc', '--import', `${repoRoot}.build/test/kit/memory-probe.js`]

/**
 * Makes malloc return free memory to the system: large blocks are mapped separately, and threads share one arena.
 * Otherwise fragmentation exceeds the memory in use after many requests.
 */
export const frugalAllocator: Readonly<Record<string, string>> = { MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_ARENA_MAX: '1' }

export async function memoryInUse(server: Pick<ServerProcess, 'signal' | 'stderr'>): Promise<number> {
  const printed = (): readonly string[] => server.stderr.match(/memory in use \d+ bytes/g) ?? []
  const before = printed().length
  server.signal('SIGWINCH')
  while (printed().length === before) await sleep(5)
  return Number(printed().at(-1)?.split(' ')[3])
}
