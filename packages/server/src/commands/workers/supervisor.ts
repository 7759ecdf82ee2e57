// Starts the worker processes, and replaces a worker that ends or does not respond.

import { type ChildProcess, fork } from 'node:child_process'
import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { mergeFamilies } from '../../assemble/metrics/merge-families.js'
import type { PrimaryParts, PrimaryRole, WorkerStatus } from '../../assemble/processes/process-role.js'
import type { Family } from '../../http/metrics/prometheus-exposition.js'
import { StartupError } from '../../options/startup-error.js'
import { RevisionFile } from '../../storage/primary/revision-file.js'
import { packageVersion } from '../version.js'
import { SharedPort } from './shared-port.js'
import { workerVariable } from './worker-messages.js'
import { WorkerProcess } from './worker-process.js'

interface SupervisorOptions {
  readonly workers: number
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly logger: Logger
}

const checkMs = 1_000
const checksBetweenReleases = 30
/** A worker that is silent for this long is replaced: it blocks its event loop, or the machine is many times overloaded. */
const maxSilentMs = 15_000
/** The same for a process that is stopped (SIGSTOP). Workers send a frame every second. */
const maxStoppedMs = 5_000
/** A worker that is silent for this long is shown as unhealthy. */
const unhealthySilentMs = 3_000
const maxStartMs = 120_000
const minRestartMs = 100
const maxRestartMs = 5_000
/** A worker that lived this long is restarted without a pause. */
const stableMs = 10_000
const forcedStopMs = 1_500

export class Supervisor implements PrimaryRole {
  readonly kind = 'primary'
  readonly #options: SupervisorOptions
  /** Read at the start: later the files of another version may be installed. */
  readonly #version = packageVersion()
  readonly #running = new Map<number, WorkerProcess>()
  readonly #restarts = new Map<number, NodeJS.Timeout>()
  readonly #failures = new Map<number, number>()
  /** Undefined without shared memory: workers then request each revision from the primary. */
  #revisions: RevisionFile | undefined
  #parts: PrimaryParts | undefined
  #port: SharedPort | undefined
  #endpoint: AddressInfo | undefined
  #timer: NodeJS.Timeout | undefined
  #checkedMs = performance.now()
  /** End of the last suspension of this process: signs of life before it are not read yet. */
  #resumedMs = 0
  #checks = 0
  #isStopping = false
  #onEmpty: (() => void) | undefined

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  async start(parts: PrimaryParts): Promise<{ readonly address: string; readonly port: number }> {
    const { workers, host, port, logger } = this.#options
    this.#parts = parts
    this.#port = new SharedPort(logger)
    this.#endpoint = await this.#port.open(host, port)
    this.#revisions = RevisionFile.create(parts.storage, (error) => this.#endAll(error))
    this.#checkedMs = performance.now()
    this.#timer = setInterval(() => this.#check(), checkMs).unref()
    try {
      await Promise.all(Array.from({ length: workers }, (_, i) => this.#startFirst(i + 1)))
      return this.#endpoint
    } catch (error) {
      this.shutDown({ immediately: true })
      await this.close()
      throw error
    }
  }

  shutDown({ immediately }: { readonly immediately: boolean }): void {
    this.#isStopping = true
    for (const timer of this.#restarts.values()) clearTimeout(timer)
    for (const worker of this.#running.values()) worker.stop(immediately)
    if (!immediately) return
    setTimeout(() => {
      for (const worker of this.#running.values()) worker.kill()
    }, forcedStopMs).unref()
  }

  async close(): Promise<void> {
    if (!this.#isStopping) this.shutDown({ immediately: false })
    if (this.#running.size > 0)
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve
      })
    clearInterval(this.#timer)
    this.#port?.close()
    this.#revisions?.close()
  }

  /** Replaces all workers before the commit is acknowledged: they would not see its revision. */
  #endAll(error: unknown): void {
    this.#revisions?.close()
    this.#revisions = undefined
    this.#options.logger.error({ error }, 'cannot write the revision for the worker processes; ending them')
    for (const worker of this.#running.values()) worker.kill()
  }

  #startFirst(number: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let wasReady = false
      const onReady = (): void => {
        wasReady = true
        resolve()
      }
      this.#fork(number, onReady, (reason) => {
        // The start of the server fails: no worker is started again.
        if (!wasReady) this.#isStopping = true
        reject(new StartupError(reason))
      })
    })
  }

  #fork(number: number, onReady: () => void, onFailed: (reason: string) => void): void {
    const { logger } = this.#options
    const port = this.#port as SharedPort
    const fail = (reason: string): void => {
      if (!this.#isStopping) logger.error({ worker: number, reason }, 'the worker process cannot start')
      onFailed(reason)
    }
    const child = startChild(number, this.#options.workers, this.#revisions?.readOnly)
    if (child === undefined) {
      // They may have the file descriptors that the next try needs.
      port.dropWaiting()
      fail(`worker process ${number} could not be started: a limit of processes, open files or memory is reached`)
      this.#restartLater(number, maxRestartMs)
      return
    }
    let hasFailed = false
    const worker = new WorkerProcess(child, {
      number,
      version: this.#version,
      endpoint: this.#endpoint as AddressInfo,
      port,
      parts: this.#parts as PrimaryParts,
      hasRevisionFile: this.#revisions !== undefined,
      onReady: () => {
        port.add(worker)
        onReady()
      },
      onClosed: () => {
        port.remove(worker, false)
        if (this.#isStopping && !port.hasTargets) port.close()
      },
      onFailed: (reason) => {
        hasFailed = true
        fail(reason)
      },
      onBroken: (reason) => {
        // A worker that stops closes its channel before it ends.
        if (this.#isStopping) return
        if (this.#running.get(number) === worker) logger.warn({ worker: number, pid: worker.pid, reason }, 'ending the worker process')
        worker.kill()
      },
      collect: () => this.#collect(),
      statuses: () => this.#statuses(),
    })
    this.#running.set(number, worker)
    child.once('exit', (code, signal) => {
      if (!hasFailed) onFailed(`worker process ${number} ended before it was ready (${signal ?? `exit code ${code}`})`)
      this.#onExit(worker, { code, signal })
    })
  }

  #onExit(worker: WorkerProcess, { code, signal }: { readonly code: number | null; readonly signal: string | null }): void {
    const { number, pid } = worker
    const { logger } = this.#options
    worker.close()
    this.#port?.remove(worker, true)
    this.#running.delete(number)
    // Otherwise the pages that it read could not be reused.
    this.#parts?.storage.releaseDeadReaders()
    if (this.#isStopping) {
      if (this.#running.size === 0) this.#onEmpty?.()
      return
    }
    const failures = performance.now() - worker.startedMs > stableMs ? 0 : (this.#failures.get(number) ?? 0) + 1
    this.#failures.set(number, failures)
    const delayMs = failures <= 1 ? 0 : Math.min(maxRestartMs, minRestartMs * 2 ** failures)
    logger.error(
      { worker: number, pid, ...(signal === null ? { code } : { signal }), delayMs },
      'a worker process has ended; starting another',
    )
    this.#restartLater(number, delayMs)
  }

  #restartLater(number: number, delayMs: number): void {
    if (this.#isStopping) return
    const restart = (): void => {
      this.#restarts.delete(number)
      const onReady = (): void =>
        this.#options.logger.info({ worker: number, pid: this.#running.get(number)?.pid }, 'the worker process serves again')
      this.#fork(number, onReady, () => undefined)
    }
    this.#restarts.set(number, setTimeout(restart, delayMs))
  }

  #check(): void {
    const nowMs = performance.now()
    if (nowMs - this.#checkedMs > 3 * checkMs) this.#resumedMs = nowMs
    this.#checkedMs = nowMs
    // A process that ended with the previous primary left its entry in the table of readers.
    if (++this.#checks % checksBetweenReleases === 0) this.#parts?.storage.releaseDeadReaders()
    this.#port?.findLost()
    for (const worker of this.#running.values()) {
      const { number, pid, isReady } = worker
      const silentMs = this.#silentMs(worker)
      if (silentMs <= maxStoppedMs || (silentMs <= (isReady ? maxSilentMs : maxStartMs) && !isStopped(pid))) continue
      this.#options.logger.error({ worker: number, pid, silentMs: Math.round(silentMs) }, 'the worker process does not respond; ending it')
      worker.kill()
    }
  }

  #silentMs({ lastFrameMs }: WorkerProcess): number {
    return performance.now() - Math.max(lastFrameMs, this.#resumedMs)
  }

  #statuses(): readonly WorkerStatus[] {
    return Array.from({ length: this.#options.workers }, (_, i) => {
      const worker = this.#running.get(i + 1)
      const problem = worker?.isReady !== true ? 'starting' : this.#silentMs(worker) > unhealthySilentMs ? 'does not respond' : undefined
      return { name: `worker-${i + 1}`, isHealthy: problem === undefined, message: problem ?? `process ${worker?.pid}` }
    })
  }

  async #collect(): Promise<readonly Family[]> {
    const parts = this.#parts
    if (parts === undefined) return []
    const workers = [...this.#running.values()].filter(({ isReady }) => isReady)
    const [own, ...ofWorkers] = await Promise.all([parts.families(), ...workers.map((worker) => worker.families())])
    return mergeFamilies([
      { process: 'primary', families: [...(own ?? []), this.#family()] },
      ...workers.flatMap(({ number }, i) => {
        const families = ofWorkers[i]
        return families === undefined ? [] : [{ process: `worker-${number}`, families }]
      }),
    ])
  }

  #family(): Family {
    const ready = [...this.#running.values()].filter(({ isReady }) => isReady).length
    const help = 'Worker processes of --workers that serve requests.'
    return { name: 'apiserver_worker_processes', type: 'gauge', help, labels: [], rows: [{ labels: [], value: ready }] }
  }
}

/** True after SIGSTOP; false where there is no /proc. */
function isStopped(pid: number | undefined): boolean {
  try {
    return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** True in a worker process of this server. */
export const isOwnWorker = (): boolean => process.send !== undefined && process.env[workerVariable] !== undefined

/** The reason why this process cannot have workers. */
export function refusalOfWorkers(): string | undefined {
  const script = process.argv[1] ?? ''
  if (cluster.isWorker) return 'this process is a worker of another program (node:cluster)'
  if (!/[/\\]cluster-apiserver$/.test(script)) return 'only the command cluster-apiserver can start worker processes'
  return undefined
}

/** The stream to the store is a socket pair, which only the two processes have. Undefined if the system has no further process. */
function startChild(number: number, workers: number, revisions: number | undefined): ChildProcess | undefined {
  let child: ChildProcess
  try {
    // The last value of a flag counts. With `auto`, the number of cores may have changed since the start.
    child = fork(process.argv[1] ?? '', [...process.argv.slice(2), `--workers=${workers}`], {
      env: { ...process.env, [workerVariable]: String(number) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe', ...(revisions === undefined ? [] : [revisions])],
    })
  } catch {
    // Not enough memory for a process: the primary goes on, and tries again.
    return undefined
  }
  child.on('error', () => undefined)
  return child.pid === undefined ? undefined : child
}
