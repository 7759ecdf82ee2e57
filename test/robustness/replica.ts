// One server of a run: it is killed, stopped and started again, while clients ask it for a connection each time.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ApiClient } from '../kit/api-client.js'
import { repoRoot } from '../kit/paths.js'
import { newFolder, ServerProcess } from '../kit/server-process.js'

const startPatienceMs = 60_000

export interface ReplicaOptions {
  readonly name: string
  readonly dataDir: string
  readonly flags: readonly string[]
  /** CPU to which the process is pinned. */
  readonly processor?: number | undefined
}

export class Replica {
  readonly name: string
  /** Ends that nobody asked for. */
  readonly surprises: string[] = []
  readonly failedStarts: string[] = []
  readonly #options: ReplicaOptions
  /** Not beside the data, whose disk may be full. */
  readonly #clockFolder: string
  readonly #clockFile: string
  #server: ServerProcess | undefined
  #isChanging: Promise<void> = Promise.resolve()

  constructor(options: ReplicaOptions) {
    this.name = options.name
    this.#options = options
    this.#clockFolder = newFolder()
    this.#clockFile = join(this.#clockFolder, 'shift')
  }

  /** Undefined while it is down. */
  get client(): ApiClient | undefined {
    return this.#server?.client
  }

  get server(): ServerProcess | undefined {
    return this.#server
  }

  start(): Promise<void> {
    return this.#inTurn(() => this.#start())
  }

  /** Kills it, with no chance to tidy up, and starts it again after a while. */
  crash(downMs: number): Promise<void> {
    return this.#inTurn(async () => {
      const server = this.#leave()
      await server?.kill()
      await new Promise((resolve) => setTimeout(resolve, downMs))
      await this.#start()
    })
  }

  /** Ends it in good order and starts it again. */
  restart(): Promise<void> {
    return this.#inTurn(async () => {
      const server = this.#leave()
      const exit = await server?.stop()
      if (exit !== undefined && exit.code !== 0)
        this.surprises.push(`${this.name} ended with ${exit.code ?? exit.signal} when asked to end`)
      await this.#start()
    })
  }

  /** It stands still, and then goes on as if nothing had been. */
  pause(ms: number): Promise<void> {
    return this.#inTurn(async () => {
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
    return this.#inTurn(async () => {
      await this.#leave()?.kill()
      rmSync(this.#clockFolder, { recursive: true, force: true })
    })
  }

  /** Two faults at once must not start it twice. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#isChanging.then(work)
    this.#isChanging = done.catch(() => undefined)
    return done
  }

  #leave(): ServerProcess | undefined {
    const server = this.#server
    this.#server = undefined
    return server
  }

  /** As a supervisor does: a start that fails is tried again. */
  async #start(): Promise<void> {
    const untilMs = performance.now() + startPatienceMs
    for (;;) {
      try {
        return await this.#startOnce()
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
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
      patienceMs: startPatienceMs,
      environment: { NODE_OPTIONS: `--import=${shift}`, CLOCK_SHIFT_FILE: this.#clockFile },
    })
    this.#server = server
    void server.exited.then(({ code, signal }) => {
      if (this.#server !== server) return
      this.#server = undefined
      this.surprises.push(`${this.name} ended by itself with ${code ?? signal}: ${server.stderr.slice(-2000)}`)
    })
  }
}
