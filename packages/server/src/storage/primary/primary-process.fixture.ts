// A primary process for tests: opens embedded stores on request, and serves each to a worker on a Unix socket.

import { rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { type EmbeddedStorage, openLmdbStorage } from '../lmdb/lmdb-storage.js'
import { serveWorkerStorage } from './serve-worker-storage.js'

export interface FixtureRequest {
  readonly id: number
  readonly action: 'open' | 'close' | 'compact' | 'fill'
  readonly folder: string
  readonly revision?: number
}

export interface FixtureResponse {
  readonly id: number
  readonly problem?: string
  readonly revision?: number
}

interface OpenStore {
  readonly storage: EmbeddedStorage
  readonly server: Server
  readonly sockets: Set<Socket>
}

export const fixtureNonce = 'nonce of the test'
const stores = new Map<string, OpenStore>()

async function open(folder: string): Promise<void> {
  const storage = await openLmdbStorage({ folder, mark: 'test', isShared: true, clock: systemClock, logger: silentLogger })
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    serveWorkerStorage(socket, { storage, nonce: fixtureNonce, appendLines: undefined, onEnd: () => storage.releaseDeadReaders() })
  })
  const path = socketPath(folder)
  rmSync(path, { force: true })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  stores.set(folder, { storage, server, sockets })
}

export const socketPath = (folder: string): string => `${join(folder)}.socket`

/** Commits that are larger than the memtable, so that the data file is ahead of a worker that has not read them. */
async function fill(storage: EmbeddedStorage): Promise<void> {
  for (let round = 0; round < 20; round++) {
    const commits = Array.from({ length: 50 }, (_, i) =>
      storage.commit([{ key: `fill/${i}`, value: Buffer.alloc(2000, `${round}`), expect: undefined }]),
    )
    await Promise.all(commits)
  }
}

async function close(folder: string): Promise<void> {
  const store = stores.get(folder)
  stores.delete(folder)
  if (store === undefined) return
  for (const socket of store.sockets) socket.destroy()
  store.server.close()
  await store.storage.close()
}

async function run({ action, folder, revision = 0 }: FixtureRequest): Promise<number | undefined> {
  if (action === 'open') await open(folder)
  const storage = stores.get(folder)?.storage
  if (action === 'compact') await storage?.compact(revision)
  if (action === 'fill' && storage !== undefined) await fill(storage)
  if (action === 'close') await close(folder)
  return storage?.revision
}

if (process.send !== undefined && process.argv[2] === 'primary') {
  process.on('message', (request: FixtureRequest) => {
    const respond = (response: Omit<FixtureResponse, 'id'>): void => void process.send?.({ id: request.id, ...response })
    run(request).then(
      (revision) => respond(revision === undefined ? {} : { revision }),
      (error: unknown) => respond({ problem: String(error) }),
    )
  })
  process.once('disconnect', () => process.exit(0))
}
