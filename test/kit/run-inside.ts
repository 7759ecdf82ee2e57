// The command inside of this process, for runs that come to an end: a process for each would cost many times what they do.

import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import type { main as Main } from '../../src/server/main.js'
import { repoRoot } from './paths.js'
import type { Finished } from './server-process.js'

const { loadCommand } = createRequire(import.meta.url)(`${repoRoot}bin/load-command.js`) as {
  loadCommand(): { readonly exports: { readonly main: typeof Main } }
}
let loaded: ReturnType<typeof loadCommand> | undefined

/** As {@link runCommand} gives it; a server that starts all the same is ended, and shows as code 0. */
export async function runInside(argv: readonly string[]): Promise<Finished> {
  loaded ??= loadCommand()
  const { main } = loaded.exports
  let stdout = ''
  let stderr = ''
  const signals = new EventEmitter()
  const code = await new Promise<number>((resolve, reject) => {
    const surroundings = {
      print: (text: string) => {
        stdout += text
      },
      complain: (text: string) => {
        stderr += text
      },
      signals: signals as never,
      exit: resolve,
    }
    main(argv, surroundings).then(() => signals.emit('SIGTERM'), reject)
  })
  return { code, signal: null, stdout, stderr }
}
