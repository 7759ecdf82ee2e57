// A process that runs one command of clusterctl after another, as its bundle has them: each with an environment of its own, as if it had been
// started for it, at a tenth of the cost.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { main } from '../../src/cli/main.js'
import { repoRoot } from '../kit/paths.js'
import type { Job } from './kept-commands.js'
import { runHere } from './run-here.js'

const { loadCommand } = createRequire(import.meta.url)(join(repoRoot, 'bin', 'load-command.js')) as {
  loadCommand(name: string): { readonly exports: { readonly main: typeof main } }
}
const { exports: command } = loadCommand('clusterctl')

process.on('message', async ({ words, stdin, environment }: Job) => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  process.send?.(await runHere(words, stdin, undefined, command.main))
})
process.on('disconnect', () => process.exit())
