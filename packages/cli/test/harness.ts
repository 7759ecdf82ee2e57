// Test harness: a server, and functions that run clusterctl against it.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import type { RunningServer } from 'cluster-apiserver'
import { connect, type TypedClient } from 'cluster-apiserver/client'
import { type Output, runToEnd } from '../../../test/clients/obtain.js'
import { type Embedded, startEmbedded, tokenOf } from '../../../test/kit/embedded.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { newFolder } from '../../../test/kit/server-process.js'
import { ClusterctlProcesses } from './clusterctl-processes.js'
import { type CommandOutput, runInProcess } from './run-in-process.js'

interface Harness {
  readonly server: RunningServer & { readonly client: TypedClient; readonly token: string }
  readonly folder: string
  /** Runs a command in a pooled process. */
  run(args: readonly string[], stdin?: string, environment?: Readonly<Record<string, string>>): Promise<Output>
  /** Runs a command in a new process of bin/clusterctl. */
  runBinary(args: readonly string[], stdin?: string): Promise<Output>
  /** Runs a command in the process of the test, with the environment and signals of that process; cheapest. */
  runHere(args: readonly string[], stdin?: string): Promise<CommandOutput>
  /** Runs a command, asserts exit code 0 and returns stdout. */
  ok(...args: readonly string[]): Promise<string>
}

/** Starts a server before the tests of a file. The returned function may be called in tests only. */
export function useServer(): () => Harness {
  let current: Harness
  let embedded: Embedded
  let client: TypedClient
  const commands = new ClusterctlProcesses()
  before(async () => {
    embedded = await startEmbedded('memory')
    const { clientConfiguration } = embedded.server
    client = connect({ text: clientConfiguration })
    const server = { ...embedded.server, client, token: tokenOf(embedded.server) }
    const folder = newFolder()
    const config = join(folder, 'config')
    writeFileSync(config, clientConfiguration)
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: config }
    const run: Harness['run'] = (args, stdin = '', environment = {}) =>
      commands.run({ args, stdin, environment: { ...env, ...environment } })
    const runBinary: Harness['runBinary'] = (args, stdin = '') =>
      runToEnd(join(repoRoot, 'bin', 'clusterctl'), args, { env, stdin, timeoutMs: 60_000 })
    const ok: Harness['ok'] = async (...args) => {
      const { code, stdout, stderr } = await run(args)
      if (code !== 0) throw new Error(`clusterctl ${args.join(' ')} ended with ${code}: ${stderr}`)
      return stdout
    }
    const runHere: Harness['runHere'] = (args, stdin) => runInProcess([...args, '--kubeconfig', config], stdin)
    current = { server, folder, run, runBinary, runHere, ok }
  })
  after(async () => {
    client.close()
    await embedded.close()
  })
  return () => current
}
