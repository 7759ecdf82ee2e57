// Shared setup of the workloads: servers, the floor, load generators, and the duration of rounds.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ServerProcess } from '../test/kit/server-process.js'
import { Connection, type RequestParts, type Response, requestBytes } from './connection.js'
import { Floor } from './floor.js'
import { LoadGenerator, type Served } from './load.js'
import type { Rounds } from './measure.js'
import { printProgress } from './report.js'

/** A started server, and its address for load generators. */
export interface Tested {
  readonly process: ServerProcess
  readonly served: Served
}

export class Lab {
  readonly isQuick: boolean
  /** Number of objects in a large store, from --count. */
  readonly count: number | undefined
  readonly rounds: Rounds
  readonly folder = mkdtempSync(join(tmpdir(), 'bench-'))
  private readonly servers: ServerProcess[] = []
  private readonly generators: LoadGenerator[] = []
  private shared: Promise<Tested> | undefined
  private sharedFloor: Promise<Floor> | undefined
  private readonly cleanups: (() => Promise<void>)[] = []
  private folderCount = 0

  constructor({ isQuick, count }: { readonly isQuick: boolean; readonly count?: number | undefined }) {
    this.isQuick = isQuick
    this.count = count
    this.rounds = isQuick ? { count: 8, durationMs: 250 } : { count: 28, durationMs: 375 }
  }

  /** The server with default flags that workloads share; each uses its own namespace. */
  sharedServer(): Promise<Tested> {
    this.shared ??= this.start()
    return this.shared
  }

  start(flags: readonly string[] = []): Promise<Tested> {
    this.folderCount += 1
    return this.startIn(join(this.folder, `data-${this.folderCount}`), flags)
  }

  /** Starts in a folder that another server may have used. */
  async startIn(dataDir: string, flags: readonly string[] = [], nodeFlags: readonly string[] = []): Promise<Tested> {
    const server = await ServerProcess.start({ dataDir, flags, nodeFlags })
    this.servers.push(server)
    const { ca, token = '' } = server.access
    return { process: server, served: { pid: server.pid, port: server.port, ca, token } }
  }

  async floor(): Promise<Floor> {
    this.sharedFloor ??= this.sharedServer().then(({ process: server }) => Floor.start(server.dataDir, this.folder))
    return this.sharedFloor
  }

  async generator(served: Served, connections: number): Promise<LoadGenerator> {
    const generator = await LoadGenerator.open(served, connections)
    this.generators.push(generator)
    return generator
  }

  /** Registers cleanup that runs after the servers have stopped. */
  closeLater(step: () => Promise<void>): void {
    this.cleanups.push(step)
  }

  /** End of the output of each server, for error reports. */
  get serverOutput(): string {
    return this.servers.map(({ pid, stdout, stderr }) => `server ${pid}:\n${stdout.slice(-1000)}${stderr.slice(-2000)}`).join('\n')
  }

  async close(): Promise<void> {
    for (const generator of this.generators) generator.close()
    ;(await this.sharedFloor)?.close()
    for (const server of this.servers) await server.stop()
    for (const step of this.cleanups) await step()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Sends one request on its own connection. */
export async function fetchOnce(served: Served, parts: RequestParts): Promise<Response> {
  const connection = await Connection.open(served)
  try {
    return await connection.fetch(requestBytes(served, parts))
  } finally {
    connection.close()
  }
}

/** Creates a namespace and returns the path of its ConfigMaps. */
export async function makeNamespace(served: Served, name: string): Promise<string> {
  await fetchOnce(served, { method: 'POST', path: '/api/v1/namespaces', body: JSON.stringify({ metadata: { name } }) })
  return `/api/v1/namespaces/${name}/configmaps`
}

interface FillOptions {
  readonly path: string
  readonly count: number
  readonly body: (index: number) => string
}

const fillConnections = 64

/** Creates many objects, with progress messages. */
export async function fill(served: Served, { path, count, body }: FillOptions): Promise<void> {
  let next = 0
  let reportedMs = performance.now()
  const work = async (): Promise<void> => {
    const connection = await Connection.open(served)
    for (let i = next++; i < count; i = next++) {
      const status = await connection.exchange(requestBytes(served, { method: 'POST', path, body: body(i) }))
      if (status !== 201) throw new Error(`creating objects failed with status ${status}`)
      if (performance.now() - reportedMs < 3000) continue
      reportedMs = performance.now()
      printProgress(`  ${i} of ${count} objects`)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: Math.min(fillConnections, count) }, work))
}
