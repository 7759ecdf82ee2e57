// The command line client as a test uses it: command lines in, what it printed out.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import type { Wire } from '../kit/wire.js'
import { type Output, runToEnd } from './obtaining.js'

const patienceMs = 90_000

export interface KubectlAccess {
  readonly command: string
  readonly clientConfiguration: string
  /** Its caches go there; one folder per server, because it remembers by host and port what a server can do. */
  readonly home: string
  /** Of the client: 20 for v1.20. */
  readonly minor: number
  readonly namespace?: string
  readonly environment?: Readonly<Record<string, string>>
  /** For a command of ours that need not be started for each line. */
  readonly perform?: (words: readonly string[], stdin: string, environment: NodeJS.ProcessEnv) => Promise<Output>
}

/** The words of `line` are separated by spaces; what contains spaces itself comes in `rest`. */
export class Kubectl {
  readonly access: KubectlAccess
  private readonly env: NodeJS.ProcessEnv

  constructor(access: KubectlAccess) {
    this.access = access
    const { home: HOME, clientConfiguration: KUBECONFIG } = access
    // It does not live long enough for a collector of garbage to pay, which takes a third of its time.
    this.env = { PATH: process.env['PATH'], GOGC: 'off', HOME, KUBECONFIG, ...access.environment }
  }

  within(namespace: string): Kubectl {
    return new Kubectl({ ...this.access, namespace })
  }

  /** With more in its environment. */
  with(environment: Readonly<Record<string, string>>): Kubectl {
    return new Kubectl({ ...this.access, environment: { ...this.access.environment, ...environment } })
  }

  run(line: string, rest: readonly string[] = [], stdin?: string): Promise<Output> {
    const { command, perform } = this.access
    if (perform !== undefined) return perform(this.argumentsOf(line, rest), stdin ?? '', this.env)
    return runToEnd(command, this.argumentsOf(line, rest), { env: this.env, patienceMs, ...(stdin === undefined ? {} : { stdin }) })
  }

  /** What it printed, after it succeeded. */
  async ok(line: string, ...rest: readonly string[]): Promise<string> {
    return succeeded(line, await this.run(line, rest))
  }

  /** The same, with objects on its standard input: add `-f -` to the line. */
  async send(line: string, ...objects: readonly unknown[]): Promise<string> {
    return succeeded(line, await this.run(line, [], manifest(objects)))
  }

  async json(line: string, ...rest: readonly string[]): Promise<Wire> {
    return JSON.parse(await this.ok(`${line} -o json`, ...rest)) as Wire
  }

  /** The complaint, after it failed; `objects` as for `send`. */
  async fails(line: string, complaint: RegExp, ...objects: readonly unknown[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(line, [], objects.length === 0 ? undefined : manifest(objects))
    assert.notEqual(code, 0, `kubectl ${line} should have failed, but said:\n${stdout}`)
    assert.match(stderr, complaint, `kubectl ${line}`)
    return stderr
  }

  /** For what does not end by itself. */
  follow(line: string, ...rest: readonly string[]): Following {
    return new Following(spawn(this.access.command, this.argumentsOf(line, rest), { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] }))
  }

  private argumentsOf(line: string, rest: readonly string[]): readonly string[] {
    const { namespace } = this.access
    return [...(namespace === undefined ? [] : [`--namespace=${namespace}`]), ...line.split(' '), ...rest]
  }
}

/** A client that is still printing. */
export class Following {
  stdout = ''
  stderr = ''
  readonly ended: Promise<number | null>
  private readonly child: ChildProcess
  private wake: () => void = () => undefined

  constructor(child: ChildProcess) {
    this.child = child
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
      this.wake()
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.ended = new Promise((resolve) =>
      child.once('close', (code) => {
        resolve(code)
        this.wake()
      }),
    )
  }

  async until(pattern: RegExp): Promise<string> {
    const end = Date.now() + 60_000
    while (!pattern.test(this.stdout)) {
      if (Date.now() > end || this.child.exitCode !== null) assert.match(this.stdout, pattern, `waited in vain; ${this.stderr}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 500)
        this.wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return this.stdout
  }

  close(): void {
    this.child.kill('SIGKILL')
  }
}

/** A text (such as YAML) goes as it is; objects become a stream of JSON, which the client tells by its first character. */
export const manifest = (objects: readonly unknown[]): string =>
  objects.map((object) => (typeof object === 'string' ? object : JSON.stringify(object))).join('\n')

function succeeded(line: string, { code, stdout, stderr }: Output): string {
  assert.equal(code, 0, `kubectl ${line}\n${stderr}${stdout}`)
  return stdout
}
