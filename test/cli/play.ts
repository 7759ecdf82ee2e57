// A server and the command line client for it, as tests of the client use them.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { type Output, runToEnd } from '../clients/obtaining.js'
import { repoRoot } from '../kit/paths.js'
import { newFolder } from '../kit/server-process.js'
import { KeptCommands } from './kept-commands.js'
import { runHere, type Said } from './run-here.js'

export interface Play {
  readonly server: EmbeddedServer
  readonly folder: string
  /** Words, and what it reads from standard input. */
  run(words: readonly string[], stdin?: string, environment?: Readonly<Record<string, string>>): Promise<Output>
  /** The same in a process of its own, as users run it. */
  started(words: readonly string[], stdin?: string): Promise<Output>
  /** The same in this process, which is much cheaper; standard input, environment and signals are ours. */
  here(words: readonly string[], stdin?: string): Promise<Said>
  /** What it printed, after it succeeded. */
  ok(...words: readonly string[]): Promise<string>
}

/** For use inside of tests only. */
export function play(): () => Play {
  let current: Play
  const commands = new KeptCommands()
  before(async () => {
    const server = await startServer()
    const folder = newFolder()
    const config = join(folder, 'config')
    writeFileSync(config, server.clientConfiguration)
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: config }
    const run: Play['run'] = (words, stdin = '', environment = {}) =>
      commands.run({ words, stdin, environment: { ...env, ...environment } })
    const started: Play['started'] = (words, stdin = '') =>
      runToEnd(join(repoRoot, 'bin', 'clusterctl'), words, { env, stdin, patienceMs: 60_000 })
    const ok: Play['ok'] = async (...words) => {
      const { code, stdout, stderr } = await run(words)
      if (code !== 0) throw new Error(`clusterctl ${words.join(' ')} ended with ${code}: ${stderr}`)
      return stdout
    }
    const here: Play['here'] = (words, stdin) => runHere([...words, '--kubeconfig', config], stdin)
    current = { server, folder, run, started, here, ok }
  })
  after(() => current.server.close({ immediately: true }))
  return () => current
}
