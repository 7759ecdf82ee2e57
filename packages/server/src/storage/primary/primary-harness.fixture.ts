// Starts the primary process of tests once, and opens workers' storages on its stores in this process.

import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex, Transform } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { StorageUnderTest } from '../contract/contract-harness.js'
import { type FixtureRequest, type FixtureResponse, fixtureNonce, socketPath } from './primary-process.fixture.js'
import { openWorkerStorage, type WorkerStorage } from './worker-storage.js'

export class PrimaryHarness {
  readonly #process: ChildProcess
  readonly #pending = new Map<number, (response: FixtureResponse) => void>()
  #lastId = 0

  constructor() {
    this.#process = fork(fileURLToPath(new URL('./primary-process.fixture.js', import.meta.url)), ['primary'], { execArgv: [] })
    this.#process.on('message', (response: FixtureResponse) => this.#pending.get(response.id)?.(response))
  }

  async createFolder(): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'workers-'))
    await this.request('open', folder)
    return folder
  }

  async request(action: FixtureRequest['action'], folder: string, revision?: number): Promise<number> {
    const id = ++this.#lastId
    const response = await new Promise<FixtureResponse>((resolve) => {
      this.#pending.set(id, resolve)
      this.#process.send({ id, action, folder, ...(revision === undefined ? {} : { revision }) })
    })
    this.#pending.delete(id)
    if (response.problem !== undefined) throw new Error(response.problem)
    return response.revision ?? 0
  }

  connect(folder: string): Duplex {
    return connect(socketPath(folder))
  }

  openWorker(
    folder: string,
    { nonce = fixtureNonce, stream = this.connect(folder), onLost = () => undefined, sharedRevision }: WorkerParts = {},
  ) {
    return openWorkerStorage({ path: join(folder, 'data.mdb'), stream, nonce, sharedRevision, logger: silentLogger, onLost })
  }

  async removeFolder(folder: string): Promise<void> {
    await this.request('close', folder)
    rmSync(folder, { recursive: true })
    rmSync(socketPath(folder), { force: true })
  }

  /** The contract compacts through the storage; a worker may not. */
  compacting(storage: WorkerStorage, folder: string): WorkerStorage {
    return new Proxy(storage, {
      get: (target, name) => {
        if (name === 'compact')
          return async (revision: number) => {
            await this.request('compact', folder, revision)
            await storage.readIndex()
          }
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  close(): void {
    this.#process.disconnect()
  }
}

interface WorkerParts {
  readonly nonce?: string
  readonly stream?: Duplex
  readonly sharedRevision?: () => number | undefined
  readonly onLost?: (reason: string) => void
}

/** An engine for the storage contract. `delayMs`: longest delay of each chunk. */
export async function openContract(primary: PrimaryHarness, delayMs = 0): Promise<StorageUnderTest> {
  const folder = await primary.createFolder()
  const open = async () => {
    const stream = primary.connect(folder)
    const worker = await primary.openWorker(folder, { stream: delayMs === 0 ? stream : delay(stream, delayMs) })
    return primary.compacting(worker, folder)
  }
  let storage = await open()
  return {
    storage,
    async reopen() {
      await storage.close()
      await primary.request('close', folder)
      await primary.request('open', folder)
      storage = await open()
      return storage
    },
    async close() {
      await storage.close()
      await primary.removeFolder(folder)
    },
  }
}

/** A stream that delays every chunk in both directions. */
export function delay(stream: Duplex, ms: number): Duplex {
  const late = () =>
    new Transform({
      transform: (chunk: Buffer, _encoding, done) => void setTimeout(() => done(null, chunk), Math.random() * ms),
    })
  const [reading, writing] = [late(), late()]
  stream.pipe(reading)
  writing.pipe(stream)
  // The primary resets the connection if it closes the store before it has read everything.
  stream.on('error', (error) => reading.destroy(error))
  stream.on('close', () => reading.destroy())
  return Duplex.from({ readable: reading, writable: writing })
}
