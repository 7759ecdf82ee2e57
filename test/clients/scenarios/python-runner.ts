// Debian's Python client as a player: a process that takes steps line by line.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { repoRoot } from '../../kit/paths.js'
import type { Performed, Player, Step } from './play.js'

/** To import the client takes a second: one process is there for all files of client configuration. */
export class PythonProcess {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  #stderr = ''

  constructor(interpreter: string) {
    const script = join(repoRoot, 'test', 'clients', 'python', 'player.py')
    this.#child = spawn(interpreter, ['-B', script], { stdio: ['pipe', 'pipe', 'pipe'] })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    const { stdout } = this.#child
    if (stdout === null) throw new Error('there is nothing to read from')
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  }

  async perform(asked: { readonly configuration: string; readonly step: Step; readonly namespace: string }): Promise<Performed> {
    this.#child.stdin?.write(`${JSON.stringify(asked)}\n`)
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error(`the player ended: ${this.#stderr}`)
    return JSON.parse(value) as Performed
  }

  close(): void {
    this.#child.kill('SIGKILL')
  }
}

export class PythonPlayer implements Player {
  readonly name = 'python3-kubernetes'
  readonly #process: PythonProcess
  readonly #configuration: string

  constructor(process: PythonProcess, configuration: string) {
    this.#process = process
    this.#configuration = configuration
  }

  perform(step: Step, namespace: string): Promise<Performed> {
    return this.#process.perform({ configuration: this.#configuration, step, namespace })
  }

  async close(): Promise<void> {
    this.#process.close()
  }
}
