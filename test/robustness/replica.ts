// One server of a run, which is killed, stopped and restarted. Clients get the current connection from it.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { ApiClient } from '../kit/api-client.js'
import { repoRoot } from '../kit/paths.js'
import { newFolder, ServerProcess, startAndKill } from '../kit/server-process.js'

const startTimeoutMs = 60_000

interface ReplicaOptions {
  readonly name: string
  readonly dataDir: string
  readonly flags: readonly string[]
  /** CPU to which the process is pinned. */
  readonly processor?: number | undefined
}

export class Replica {
  readonly name: string
  /** Unexpected exits. */
  readonly unexpectedExits: string[] = []
  readonly failedStarts: string[] = []
  readonly #options: ReplicaOptions
  /** Not in the data folder, whose disk may be full. */
  readonly #clockFolder: string
  readonly #clockFile: string
  #server: ServerProcess | undefined
  #lastChange: Promise<void> = Promise.resolve()

  constructor(options: ReplicaOptions) {
    this.name = options.name
    this.#options = options
    this.#clockFolder = newFolder()
    this.#clockFile = join(this.#clockFolder, 'shift')
  }

  /** Undefined while the server is down. */
  get client(): ApiClient | undefined {
    return this.#server?.client
  }

  get server(): ServerProcess | undefined {
    return this.#server
  }

  start(): Promise<void> {
    return this.#serialize(() => this.#start())
  }

  /** Kills the server and restarts it after a delay; `startMs`: kills it again that long after the start. */
  crash(downMs: number, startMs?: number): Promise<void> {
    return this.#serialize(async () => {
      const server = this.#detach()
      await server?.kill()
      await new Promise((resolve) => setTimeout(resolve, downMs))
      const { dataDir, flags } = this.#options
      if (startMs !== undefined) await startAndKill({ dataDir, flags }, startMs)
      await this.#start()
    })
  }

  /** Stops the server gracefully and restarts it. */
  restart(): Promise<void> {
    return this.#serialize(async () => {
      const server = this.#detach()
      const exit = await server?.stop()
      if (exit !== undefined && exit.code !== 0)
        this.unexpectedExits.push(`${this.name} ended with ${exit.code ?? exit.signal} after SIGTERM`)
      await this.#start()
    })
  }

  /** Suspends and resumes the process. */
  pause(ms: number): Promise<void> {
    return this.#serialize(async () => {
      this.#server?.signal('SIGSTOP')
      await new Promise((resolve) => setTimeout(resolve, ms))
      this.#server?.signal('SIGCONT')
    })
  }

  shiftClock(ms: number): void {
    writeFileSync(this.#clockFile, String(ms))
    this.#server?.signal('SIGUSR2')
  }

  close(): Promise<void> {
    return this.#serialize(async () => {
      await this.#detach()?.kill()
      rmSync(this.#clockFolder, { recursive: true, force: true })
    })
  }

  /** Runs one change at a time: concurrent faults must not start the server twice. */
  #serialize(work: () => Promise<void>): Promise<void> {
    const done = this.#lastChange.then(work)
    this.#lastChange = done.catch(() => undefined)
    return done
  }

  #detach(): ServerProcess | undefined {
    const server = this.#server
    this.#server = undefined
    return server
  }

  /** Retries failed starts, as a supervisor does. */
  async #start(): Promise<void> {
    const untilMs = performance.now() + startTimeoutMs
    for (;;) {
      try {
        return await this.#startOnce()
      } catch (error) {
        const text = errorMessage(error)
        this.failedStarts.push(text)
        if (performance.now() > untilMs) throw error
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
  }

  async #startOnce(): Promise<void> {
    const shift = pathToFileURL(join(repoRoot, '.build/test/robustness/clock-shift.js')).href
    const server = await ServerProcess.start({
      dataDir: this.#options.dataDir,
      flags: this.#options.flags,
      processor: this.#options.processor,
      timeoutMs: startTimeoutMs,
      environment: { NODE_OPTIONS: `--import=${shift}`, CLOCK_SHIFT_FILE: this.#clockFile },
    })
    this.#server = server
    void server.exited.then(({ code, signal }) => {
      if (this.#server !== server) return
      this.#server = undefined
      this.unexpectedExits.push(`${this.name} exited unexpectedly with ${code ?? signal}: ${server.stderr.slice(-2000)}`)
    })
  }
}
