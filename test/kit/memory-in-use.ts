// How much memory a server uses when all garbage is collected: in its heap, and of buffers.

import { sleep } from './fixtures.js'
import { repoRoot } from './paths.js'
import type { ServerProcess } from './server-process.js'

/** To be started with. */
export const memoryWatchFlags: readonly string[] = ['--expose-gc', '--import', `${repoRoot}.build/test/kit/memory-watch.js`]

/**
 * An environment in which memory that is free is the system's again. The allocator of the C library keeps what lies between two pieces that are
 * in use, and after hundreds of thousands of requests of all sizes that is more than what is used. Here large pieces are mapped one by one, and
 * threads share what they have.
 */
export const frugalAllocator: Readonly<Record<string, string>> = { MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_ARENA_MAX: '1' }

export async function memoryInUse(server: Pick<ServerProcess, 'signal' | 'stderr'>): Promise<number> {
  const said = (): readonly string[] => server.stderr.match(/memory in use \d+ bytes/g) ?? []
  const before = said().length
  server.signal('SIGWINCH')
  while (said().length === before) await sleep(5)
  return Number(said().at(-1)?.split(' ')[3])
}
