// Starts the floor server, a bare HTTPS server that moves the same bytes as the server under test; each workload sets its behaviour.

import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Response } from './connection.js'
import type { FloorBehaviour, FloorStart } from './floor-server.js'
import type { Served } from './load.js'

/** Headers that Node.js adds or that depend on the body: the floor does not copy them. */
const nodeHeaders = ['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length']

/** Headers of a response of the server under test that the floor sends as well. */
export const headersOf = ({ headers }: Pick<Response, 'headers'>): readonly string[] =>
  headers.filter(([name]) => !nodeHeaders.includes(name.toLowerCase())).flat()

/** Behaviour of a floor that adds the same metadata as the server, so that both store and send the same bytes. */
export const storeBehaviour = (sample: Response) => {
  const { metadata } = JSON.parse(sample.body.toString()) as { metadata: Record<string, unknown> }
  const { name: _, ...added } = metadata
  return { kind: 'store', status: sample.status, headers: headersOf(sample), metadata: added } as const
}

export class Floor {
  readonly served: Served
  private readonly child: ChildProcess

  private constructor(child: ChildProcess, served: Served) {
    this.child = child
    this.served = served
  }

  /** Uses the certificate of the server under test, so that TLS costs the same. */
  static async start(dataDir: string, folder: string): Promise<Floor> {
    const read = (name: string): string => readFileSync(join(dataDir, 'pki', name), 'utf8')
    const start: FloorStart = { cert: read('serving.crt'), key: read('serving.key'), storePath: join(folder, 'floor') }
    const child = fork(fileURLToPath(new URL('./floor-server.js', import.meta.url)), [JSON.stringify(start)])
    const port = await new Promise<number>((resolve, reject) => {
      child.once('message', (message) => resolve(Number(message)))
      child.once('exit', () => reject(new Error('the floor server did not start')))
    })
    return new Floor(child, { port, pid: child.pid ?? 0, ca: read('ca.crt'), token: read('admin.token').trim() })
  }

  behave(behaviour: FloorBehaviour): Promise<void> {
    return new Promise((resolve) => {
      this.child.once('message', () => resolve())
      this.child.send(behaviour)
    })
  }

  close(): void {
    this.child.disconnect()
  }
}
