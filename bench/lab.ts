// What workloads work with: servers started from the command, the floor, and how long to measure.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ServerProcess } from '../test/kit/server-process.js'
import { Connection, type RequestParts, type Response, requestBytes } from './connection.js'
import { Floor } from './floor.js'
import { LoadGenerator, type Served } from './load.js'
import type { Rounds } from './measure.js'
import { say } from './report.js'

export interface Tested {
  readonly process: ServerProcess
  readonly served: Served
}

export class Lab {
  readonly isQuick: boolean
  /** How many objects a large store has, where that was said. */
  readonly count: number | undefined
  readonly rounds: Rounds
  readonly folder = mkdtempSync(join(tmpdir(), 'bench-'))
  private readonly servers: ServerProcess[] = []
  private readonly generators: LoadGenerator[] = []
  private shared: Promise<Tested> | undefined
  private theFloor: Promise<Floor> | undefined
  private readonly lastSteps: (() => Promise<void>)[] = []
  private folders = 0

  constructor({ isQuick, count }: { readonly isQuick: boolean; readonly count?: number | undefined }) {
    this.isQuick = isQuick
    this.count = count
    this.rounds = isQuick ? { count: 8, durationMs: 250 } : { count: 28, durationMs: 375 }
  }

  /** A server with the usual flags that workloads share; each keeps to its own namespace. */
  usual(): Promise<Tested> {
    this.shared ??= this.start()
    return this.shared
  }

  start(flags: readonly string[] = []): Promise<Tested> {
    this.folders += 1
    return this.startIn(join(this.folder, `data-${this.folders}`), flags)
  }

  /** In a folder that another one may have used before. */
  async startIn(dataDir: string, flags: readonly string[] = [], nodeFlags: readonly string[] = []): Promise<Tested> {
    const server = await ServerProcess.start({ dataDir, flags, nodeFlags })
    this.servers.push(server)
    const { ca, token = '' } = server.access
    return { process: server, served: { pid: server.pid, port: server.port, ca, token } }
  }

  async floor(): Promise<Floor> {
    this.theFloor ??= this.usual().then(({ process: server }) => Floor.start(server.dataDir, this.folder))
    return this.theFloor
  }

  async generator(served: Served, connections: number): Promise<LoadGenerator> {
    const generator = await LoadGenerator.open(served, connections)
    this.generators.push(generator)
    return generator
  }

  /** What workloads bring along ends after the servers. */
  closeLater(step: () => Promise<void>): void {
    this.lastSteps.push(step)
  }

  /** What the servers said, for when something went wrong. */
  get complaints(): string {
    return this.servers.map(({ pid, stdout, stderr }) => `server ${pid}:\n${stdout.slice(-1000)}${stderr.slice(-2000)}`).join('\n')
  }

  async close(): Promise<void> {
    for (const generator of this.generators) generator.close()
    ;(await this.theFloor)?.close()
    for (const server of this.servers) await server.stop()
    for (const step of this.lastSteps) await step()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** One request on a connection of its own. */
export async function fetchOnce(served: Served, parts: RequestParts): Promise<Response> {
  const connection = await Connection.open(served)
  try {
    return await connection.fetch(requestBytes(served, parts))
  } finally {
    connection.close()
  }
}

export async function makeNamespace(served: Served, name: string): Promise<string> {
  await fetchOnce(served, { method: 'POST', path: '/api/v1/namespaces', body: JSON.stringify({ metadata: { name } }) })
  return `/api/v1/namespaces/${name}/configmaps`
}

export interface Filling {
  readonly path: string
  readonly count: number
  readonly body: (index: number) => string
}

const fillingConnections = 64

/** Creates many objects, telling how it goes when that takes long. */
export async function fill(served: Served, { path, count, body }: Filling): Promise<void> {
  let next = 0
  let told = performance.now()
  const work = async (): Promise<void> => {
    const connection = await Connection.open(served)
    for (let i = next++; i < count; i = next++) {
      const status = await connection.exchange(requestBytes(served, { method: 'POST', path, body: body(i) }))
      if (status !== 201) throw new Error(`filling: the answer was ${status}`)
      if (performance.now() - told < 3000) continue
      told = performance.now()
      say(`  ${i} of ${count} objects`)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: Math.min(fillingConnections, count) }, work))
}
