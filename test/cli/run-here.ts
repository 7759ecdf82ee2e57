// Runs a command of clusterctl in this process, which costs a tenth of a process of its own.

import { plainStyle } from '../../src/cli/io.js'
import { main as ourMain } from '../../src/cli/main.js'

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export async function runHere(words: readonly string[], stdin = '', signal?: AbortSignal, main = ourMain): Promise<Said> {
  let [stdout, stderr] = ['', '']
  const tell = (text: string): void => {
    stdout += text
  }
  const io = {
    out: tell,
    data: tell,
    raw: tell,
    err: (text: string): void => {
      stderr += text
    },
    progress: () => undefined,
    readStdin: async () => stdin,
    untilRoom: async () => undefined,
    isTerminal: false,
    style: plainStyle,
  }
  const code = await main(words, { io, ...(signal === undefined ? {} : { signal }) })
  return { code, stdout, stderr }
}
