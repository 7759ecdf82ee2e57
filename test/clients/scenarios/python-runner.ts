// Runs scenarios with Debian's Python client, in a process that reads steps line by line.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { repoRoot } from '../../kit/paths.js'
import type { ScenarioRunner, Step, StepResult } from './scenario.js'

/** One process for all kubeconfigs, because the import takes a second. */
export class PythonProcess {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  #stderr = ''

  constructor(interpreter: string) {
    const script = join(repoRoot, 'test', 'clients', 'python', 'scenario_runner.py')
    this.#child = spawn(interpreter, ['-B', script], { stdio: ['pipe', 'pipe', 'pipe'] })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    const { stdout } = this.#child
    if (stdout === null) throw new Error('stdout of the Python process is not a pipe')
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  }

  async perform(request: { readonly configuration: string; readonly step: Step; readonly namespace: string }): Promise<StepResult> {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`)
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error(`the runner ended: ${this.#stderr}`)
    return JSON.parse(value) as StepResult
  }

  close(): void {
    this.#child.kill('SIGKILL')
  }
}

export class PythonRunner implements ScenarioRunner {
  readonly name = 'python3-kubernetes'
  readonly #process: PythonProcess
  readonly #configuration: string

  constructor(process: PythonProcess, configuration: string) {
    this.#process = process
    this.#configuration = configuration
  }

  perform(step: Step, namespace: string): Promise<StepResult> {
    return this.#process.perform({ configuration: this.#configuration, step, namespace })
  }

  async close(): Promise<void> {
    this.#process.close()
  }
}
