// Runs a clusterctl command in this process, at a tenth of the cost of a new process.

import { plainStyle } from '../src/command-line/io.js'
import { main as ourMain } from '../src/main.js'

export interface CommandOutput {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export async function runInProcess(args: readonly string[], stdin = '', signal?: AbortSignal, main = ourMain): Promise<CommandOutput> {
  let [stdout, stderr] = ['', '']
  const write = (text: string): void => {
    stdout += text
  }
  const io = {
    out: write,
    data: write,
    raw: write,
    err: (text: string): void => {
      stderr += text
    },
    progress: () => undefined,
    readStdin: async () => stdin,
    untilDrained: async () => undefined,
    isTerminal: false,
    style: plainStyle,
  }
  const code = await main(args, { io, ...(signal === undefined ? {} : { signal }) })
  return { code, stdout, stderr }
}
