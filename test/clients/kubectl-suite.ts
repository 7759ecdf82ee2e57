// Suite of kubectl tests, on a server with --identity=kubernetes (groups of k8s.io); skipped with a reason if kubectl is not available.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { ServerProcess } from '../kit/server-process.js'
import { Kubectl } from './kubectl.js'
import { newNamespace } from './namespaces.js'
import { runToEnd } from './obtain.js'
import { obtainKubectl } from './obtain-kubectl.js'

const obtained = await obtainKubectl()
const minor = obtained.skip === false ? await clientMinor(obtained.path) : 0

/** Test options that skip the test with older clients. */
export const skipBefore = (minMinor: number): { readonly skip: string | false } => ({
  skip: minor < minMinor ? `kubectl is v1.${minor}; the test needs v1.${minMinor}` : false,
})

export interface KubectlFixture {
  readonly server: ServerProcess
  /** Without a namespace. */
  readonly kubectl: Kubectl
  /** In a new namespace. */
  inNewNamespace(): Promise<Kubectl>
}

interface SuiteOptions {
  readonly title: string
  /** Flags of the server. */
  readonly flags?: readonly string[]
}

/** `fixture()` can only be called inside of tests. */
export function kubectlSuite({ title, flags = [] }: SuiteOptions, suite: (fixture: () => KubectlFixture) => void): void {
  describe(title, { skip: obtained.skip, concurrency: 4 }, () => {
    let fixture: KubectlFixture
    let home: string
    before(async () => {
      home = mkdtempSync(join(tmpdir(), 'kubectl-home-'))
      const server = await ServerProcess.start({ flags: ['--identity=kubernetes', ...flags] })
      const kubectl = new Kubectl({ command: obtained.path, clientConfiguration: join(server.dataDir, 'admin.conf'), home, minor })
      fixture = { server, kubectl, inNewNamespace: async () => kubectl.within(await newNamespace(server.client)) }
    })
    after(async () => {
      await fixture.server.stop()
      rmSync(home, { recursive: true, force: true })
    })
    suite(() => fixture)
  })
}

async function clientMinor(command: string): Promise<number> {
  const { stdout } = await runToEnd(command, ['version', '--client', '-o', 'json'])
  return Number(/"minor":\s*"(\d+)/.exec(stdout)?.[1] ?? 0)
}
