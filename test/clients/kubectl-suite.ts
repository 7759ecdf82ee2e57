// A suite of tests of the command line client, with a server that speaks its vocabulary, or skipped with the reason.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { ServerProcess } from '../kit/server-process.js'
import { Kubectl } from './kubectl.js'
import { newNamespace } from './namespaces.js'
import { obtainKubectl } from './obtain-kubectl.js'
import { runToEnd } from './obtaining.js'

const client = await obtainKubectl()
const minor = client.skip === false ? await clientMinor(client.path) : 0

/** For the options of a test that needs what younger clients can do. */
export const skipBefore = (needed: number): { readonly skip: string | false } => ({
  skip: minor < needed ? `this client is v1.${minor}, and learnt it with v1.${needed}` : false,
})

export interface Bench {
  readonly server: ServerProcess
  /** Bound to no namespace. */
  readonly kubectl: Kubectl
  /** Bound to a namespace of its own. */
  inNewNamespace(): Promise<Kubectl>
}

export interface SuiteOptions {
  readonly title: string
  /** Of the server. */
  readonly flags?: readonly string[]
}

/** `bench()` is for use inside of tests only. */
export function kubectlSuite({ title, flags = [] }: SuiteOptions, suite: (bench: () => Bench) => void): void {
  describe(title, { skip: client.skip, concurrency: 4 }, () => {
    let bench: Bench
    let home: string
    before(async () => {
      home = mkdtempSync(join(tmpdir(), 'kubectl-home-'))
      const server = await ServerProcess.start({ flags: ['--identity=kubernetes', ...flags] })
      const kubectl = new Kubectl({ command: client.path, clientConfiguration: join(server.dataDir, 'admin.conf'), home, minor })
      bench = { server, kubectl, inNewNamespace: async () => kubectl.within(await newNamespace(server.client)) }
    })
    after(async () => {
      await bench.server.stop()
      rmSync(home, { recursive: true, force: true })
    })
    suite(() => bench)
  })
}

async function clientMinor(command: string): Promise<number> {
  const { stdout } = await runToEnd(command, ['version', '--client', '-o', 'json'])
  return Number(/"minor":\s*"(\d+)/.exec(stdout)?.[1] ?? 0)
}
