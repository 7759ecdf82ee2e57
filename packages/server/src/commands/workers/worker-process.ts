// One worker process as the primary sees it: its start, its stream to the store, its messages and its end.

import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { PrimaryParts, WorkerStatus } from '../../assemble/processes/process-role.js'
import type { Family } from '../../http/metrics/prometheus-exposition.js'
import { type ServedWorker, serveWorkerStorage } from '../../storage/primary/serve-worker-storage.js'
import type { ConnectionTarget, SharedPort } from './shared-port.js'
import { storageDescriptor, type ToPrimary, type ToWorker } from './worker-messages.js'

interface WorkerProcessOptions {
  readonly number: number
  /** Version of the primary. */
  readonly version: string
  readonly endpoint: AddressInfo
  readonly port: SharedPort
  readonly parts: PrimaryParts
  readonly hasRevisionFile: boolean
  readonly onReady: () => void
  /** The worker takes no further connections. */
  readonly onClosed: () => void
  readonly onFailed: (reason: string) => void
  /** The worker does not keep to the protocol, or does not read its changes. */
  readonly onBroken: (reason: string) => void
  /** Another worker's request for the metrics of all processes. */
  readonly collect: () => Promise<readonly Family[]>
  readonly statuses: () => readonly WorkerStatus[]
}

const collectTimeoutMs = 2_000

export class WorkerProcess implements ConnectionTarget {
  readonly number: number
  readonly startedMs = performance.now()
  readonly #worker: ChildProcess
  readonly #options: WorkerProcessOptions
  readonly #served: ServedWorker
  readonly #nonce = randomBytes(32).toString('base64')
  readonly #collecting = new Map<number, (families: readonly Family[] | undefined) => void>()
  #lastId = 0
  #isReady = false

  constructor(worker: ChildProcess, options: WorkerProcessOptions) {
    this.number = options.number
    this.#worker = worker
    this.#options = options
    const { storage, auditLog } = options.parts
    const stream = worker.stdio[storageDescriptor] as unknown as Duplex
    this.#served = serveWorkerStorage(stream, {
      storage,
      nonce: this.#nonce,
      appendLines: auditLog === undefined ? undefined : (lines) => auditLog.append(lines),
      onEnd: (reason) => reason !== undefined && options.onBroken(reason),
    })
    worker.on('message', (message: ToPrimary) => this.#receive(message))
    worker.on('error', () => undefined)
  }

  get pid(): number | undefined {
    return this.#worker.pid
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /** Time of the last sign of life, by `performance.now()`. */
  get lastFrameMs(): number {
    return this.#served.lastFrameMs
  }

  stop(immediately: boolean): void {
    this.#send({ type: 'stop', immediately })
  }

  kill(): void {
    this.#worker.kill('SIGKILL')
  }

  /** Call it after the process has ended. */
  close(): void {
    this.#isReady = false
    this.#served.close()
    for (const finish of this.#collecting.values()) finish(undefined)
  }

  /** Metrics of the worker; undefined if it does not respond in time. */
  families(): Promise<readonly Family[] | undefined> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      const timer = setTimeout(() => finish(undefined), collectTimeoutMs)
      const finish = (families: readonly Family[] | undefined): void => {
        clearTimeout(timer)
        this.#collecting.delete(id)
        resolve(families)
      }
      this.#collecting.set(id, finish)
      this.#send({ type: 'collect', id })
    })
  }

  #receive(message: ToPrimary): void {
    const { version, endpoint, hasRevisionFile, port, onReady, onClosed, onFailed, collect, statuses } = this.#options
    if (message.type === 'accepted' || message.type === 'refused') port.settle(message.id, message.type === 'accepted')
    else if (message.type === 'hello')
      this.#send({
        type: 'start',
        nonce: this.#nonce,
        version,
        primary: process.pid,
        hasRevisionFile,
        address: endpoint.address,
        port: endpoint.port,
      })
    else if (message.type === 'confirmed') port.reclaim(this, message.id)
    else if (message.type === 'closed') onClosed()
    else if (message.type === 'failed') onFailed(message.reason)
    else if (message.type === 'collected') this.#collecting.get(message.id)?.(message.families)
    else if (message.type === 'metrics') void collect().then((families) => this.#send({ type: 'collected', id: message.id, families }))
    else if (message.type === 'statuses') this.#send({ type: 'statuses', id: message.id, statuses: statuses() })
    else if (message.type === 'ready') {
      this.#isReady = true
      onReady()
    }
  }

  hand(id: number, socket: Socket): void {
    // If the worker ends before it responds, the connection goes to another one.
    if (this.#worker.connected)
      this.#worker.send({ type: 'connection', id } satisfies ToWorker, socket, { keepOpen: true }, () => undefined)
  }

  confirm(id: number): void {
    this.#send({ type: 'confirm', id })
  }

  #send(message: ToWorker): void {
    if (this.#worker.connected) this.#worker.send(message, () => undefined)
  }
}
