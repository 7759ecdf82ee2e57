// Runs kubectl, or a command with its syntax, for tests: command lines in, output out.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import type { JsonObject } from '../kit/network/json-object.js'
import { type Output, runToEnd } from './obtain.js'

const timeoutMs = 90_000

interface KubectlAccess {
  readonly command: string
  readonly clientConfiguration: string
  /** Cache folder; one per server, because kubectl caches discovery by host and port. */
  readonly home: string
  /** Minor version of the client: 20 for v1.20. */
  readonly minor: number
  readonly namespace?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Runs the command inside this process, in place of a child process. */
  readonly perform?: (args: readonly string[], stdin: string, environment: NodeJS.ProcessEnv) => Promise<Output>
}

/** `line` is split at spaces; arguments with spaces go in `rest`. */
export class Kubectl {
  readonly access: KubectlAccess
  private readonly env: NodeJS.ProcessEnv

  constructor(access: KubectlAccess) {
    this.access = access
    const { home: HOME, clientConfiguration: KUBECONFIG } = access
    // Garbage collection would take a third of this short run.
    this.env = { PATH: process.env['PATH'], GOGC: 'off', HOME, KUBECONFIG, ...access.environment }
  }

  within(namespace: string): Kubectl {
    return new Kubectl({ ...this.access, namespace })
  }

  /** With more environment variables. */
  with(environment: Readonly<Record<string, string>>): Kubectl {
    return new Kubectl({ ...this.access, environment: { ...this.access.environment, ...environment } })
  }

  run(line: string, rest: readonly string[] = [], stdin?: string): Promise<Output> {
    const { command, perform } = this.access
    if (perform !== undefined) return perform(this.argumentsOf(line, rest), stdin ?? '', this.env)
    return runToEnd(command, this.argumentsOf(line, rest), { env: this.env, timeoutMs, ...(stdin === undefined ? {} : { stdin }) })
  }

  /** Returns stdout; fails unless the exit code is 0. */
  async ok(line: string, ...rest: readonly string[]): Promise<string> {
    return succeeded(line, await this.run(line, rest))
  }

  /** Like `ok`, with objects on stdin: add `-f -` to the line. */
  async send(line: string, ...objects: readonly unknown[]): Promise<string> {
    return succeeded(line, await this.run(line, [], manifest(objects)))
  }

  async json(line: string, ...rest: readonly string[]): Promise<JsonObject> {
    return JSON.parse(await this.ok(`${line} -o json`, ...rest)) as JsonObject
  }

  /** Returns stderr; fails if the exit code is 0. `objects` as for `send`. */
  async fails(line: string, errorPattern: RegExp, ...objects: readonly unknown[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(line, [], objects.length === 0 ? undefined : manifest(objects))
    assert.notEqual(code, 0, `kubectl ${line} should have failed, but printed:\n${stdout}`)
    assert.match(stderr, errorPattern, `kubectl ${line}`)
    return stderr
  }

  /** For commands that run until they are closed. */
  follow(line: string, ...rest: readonly string[]): RunningCommand {
    return new RunningCommand(
      spawn(this.access.command, this.argumentsOf(line, rest), { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] }),
    )
  }

  private argumentsOf(line: string, rest: readonly string[]): readonly string[] {
    const { namespace } = this.access
    return [...(namespace === undefined ? [] : [`--namespace=${namespace}`]), ...line.split(' '), ...rest]
  }
}

class RunningCommand {
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

/** Strings such as YAML are sent unchanged; objects as a stream of JSON, which kubectl detects by its first character. */
export const manifest = (objects: readonly unknown[]): string =>
  objects.map((object) => (typeof object === 'string' ? object : JSON.stringify(object))).join('\n')

function succeeded(line: string, { code, stdout, stderr }: Output): string {
  assert.equal(code, 0, `kubectl ${line}\n${stderr}${stdout}`)
  return stdout
}
