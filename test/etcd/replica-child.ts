// The parent's side of replica-process.ts.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { until } from '../../src/base/until.fixture.js'

export class ReplicaChild {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  #output = ''
  #taken = 0

  constructor(endpoints: readonly string[], prefix: string, quietMs: number) {
    const script = fileURLToPath(new URL('./replica-process.js', import.meta.url))
    this.#child = spawn(process.execPath, [script, endpoints.join(','), prefix, String(quietMs)], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#exited = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#output += chunk
    })
  }

  /** The next line that it says. */
  async says(): Promise<string> {
    await until(() => this.#output.indexOf('\n', this.#taken) >= 0)
    const end = this.#output.indexOf('\n', this.#taken)
    const line = this.#output.slice(this.#taken, end)
    this.#taken = end + 1
    return line
  }

  tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }

  /** What it answers. */
  ask(line: string): Promise<string> {
    this.tell(line)
    return this.says()
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#child.kill(signal)
    await this.#exited
  }
}
