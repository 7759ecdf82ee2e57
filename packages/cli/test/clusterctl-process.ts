// Child process that runs commands of the clusterctl bundle one after the other, each with its own environment.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { repoRoot } from '../../../test/kit/paths.js'
import type { main } from '../src/main.js'
import type { Job } from './clusterctl-processes.js'
import { runInProcess } from './run-in-process.js'

const { load } = createRequire(import.meta.url)(join(repoRoot, 'bin', 'load.js')) as {
  load(name: string): { readonly main: typeof main }
}
const command = load('clusterctl')

process.on('message', async ({ args, stdin, environment }: Job) => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  process.send?.(await runInProcess(args, stdin, undefined, command.main))
})
process.on('disconnect', () => process.exit())
