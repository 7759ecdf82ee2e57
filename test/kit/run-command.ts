// Runs `cluster-apiserver` inside the test process, for command lines that end: much cheaper than a child process.

import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import type { main as Main, ServerScript } from '../../packages/server/src/commands/main.js'
import { repoRoot } from './paths.js'
import type { Finished } from './server-process.js'

const require = createRequire(import.meta.url)
const { load } = require(`${repoRoot}bin/load.js`) as { load(name: 'server'): ServerScript }
const { main } = require(`${repoRoot}dist/bundle/main.js`) as { readonly main: typeof Main }
let script: ServerScript | undefined

async function loadServer(): Promise<ServerScript> {
  script ??= load('server')
  return script
}

/** Resolves with exit code and output. A server that starts although an error was expected is stopped, with code 0. */
export async function runInProcess(argv: readonly string[]): Promise<Finished> {
  let stdout = ''
  let stderr = ''
  const signals = new EventEmitter()
  const code = await new Promise<number>((resolve, reject) => {
    const environment = {
      print: (text: string) => {
        stdout += text
      },
      printError: (text: string) => {
        stderr += text
      },
      signals: signals as never,
      exit: resolve,
    }
    main(argv, loadServer, environment).then(() => signals.emit('SIGTERM'), reject)
  })
  return { code, signal: null, stdout, stderr }
}
