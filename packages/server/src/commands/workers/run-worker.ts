// The main program of a worker process: a whole API server that shares the store, audit log and metrics of the primary.

import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { assemble } from '../../assemble/assemble.js'
import { plainFamilies } from '../../assemble/metrics/merge-families.js'
import { checkGeneratedFiles } from '../../assemble/processes/check-generated-files.js'
import { workerSettings } from '../../assemble/processes/divide-limits.js'
import type { ReadFamilies, WorkerRole, WorkerStatus } from '../../assemble/processes/process-role.js'
import type { RunningServer } from '../../assemble/running-server.js'
import type { LineWriter } from '../../audit/log-backend.js'
import type { ConnectionSource } from '../../net/listen/connection-source.js'
import type { Settings } from '../../options/settings.js'
import { explainStartupError, StartupError } from '../../options/startup-error.js'
import { revisionReader } from '../../storage/primary/revision-file.js'
import { openWorkerStorage, type WorkerStorage } from '../../storage/primary/worker-storage.js'
import { type CommandProcess, exitCodes } from '../command-process.js'
import { closeImmediately, logUncaughtErrors } from '../graceful-shutdown.js'
import { packageVersion } from '../version.js'
import {
  revisionDescriptor,
  type StartMessage,
  storageDescriptor,
  type ToPrimary,
  type ToWorker,
  workerVariable,
} from './worker-messages.js'

interface WorkerOptions extends Pick<CommandProcess, 'signals'> {
  readonly logger: Logger
  readonly exit: (code: number) => void
}

export async function runWorker(settings: Settings, options: WorkerOptions): Promise<void> {
  const channel = new PrimaryChannel()
  const { signals } = options
  // A terminal sends Ctrl-C to all processes; workers end only when the primary sends `stop`.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) signals.on(signal, () => undefined)
  const start = await channel.start()
  const logger = withWorker(options.logger, ownNumber())
  try {
    checkVersion(start.version)
    checkGeneratedFiles(settings)
    const server = await startServer(settings, { start, logger, channel })
    logUncaughtErrors(signals, logger, () => void closeImmediately(server).then(() => options.exit(exitCodes.failure)))
    channel.onStop((immediately) => {
      const closed = immediately ? closeImmediately(server) : server.close()
      closed.then(
        () => options.exit(exitCodes.success),
        (error: unknown) => {
          logger.error({ error }, 'the shutdown of the worker process failed')
          options.exit(exitCodes.failure)
        },
      )
    })
    channel.send({ type: 'ready' })
  } catch (error) {
    channel.send({ type: 'failed', reason: explainStartupError(error) }, () => options.exit(exitCodes.failure))
  }
}

function checkVersion(running: string): void {
  if (running !== packageVersion())
    throw new StartupError(`version ${packageVersion()} is installed, but version ${running} is running: restart the server`)
}

interface ServerParts {
  readonly start: StartMessage
  readonly logger: Logger
  readonly channel: PrimaryChannel
}

function startServer(settings: Settings, { start, logger, channel }: ServerParts): Promise<RunningServer> {
  let storage: WorkerStorage | undefined
  const role: WorkerRole = {
    kind: 'worker',
    connections: channel.connections(start),
    openStorage: async (path) => {
      const stream = new Socket({ fd: storageDescriptor, readable: true, writable: true })
      const onLost = (reason: string): void => endOrphan(reason)
      const sharedRevision = start.hasRevisionFile ? sharedRevisionOf(start) : undefined
      storage = await openWorkerStorage({ path, stream, nonce: start.nonce, sharedRevision, logger, onLost })
      return storage
    },
    auditLog: auditLogOf(() => storage),
    families: (own) => channel.families(own),
    statuses: () => channel.statuses(),
  }
  return assemble(workerSettings(settings), logger, { role })
}

/** Also ends this process if the primary is gone: a process that was stopped learns that late. */
function sharedRevisionOf({ primary }: StartMessage): () => number | undefined {
  const read = revisionReader(revisionDescriptor)
  return () => {
    const revision = read()
    // Checked after the read: while the primary lives, no other one acknowledges commits.
    if (process.ppid !== primary) endOrphan('it has ended')
    return revision
  }
}

const auditLogOf = (storage: () => WorkerStorage | undefined): LineWriter => ({
  append: async (lines) => storage()?.appendLines(lines),
  close: async () => undefined,
})

const ownNumber = (): number => Number(process.env[workerVariable])

/** Writes at once: the process ends, and with it its connections. */
function endOrphan(reason: string): never {
  try {
    writeSync(2, `cluster-apiserver: worker ${ownNumber()} ends, because the primary process is gone: ${reason}\n`)
  } catch {
    // Nobody reads the output.
  }
  process.exit(exitCodes.failure)
}

const withWorker = ({ debug, info, warn, error }: Logger, worker: number): Logger => ({
  debug: (fields, message) => debug({ worker, ...fields }, message),
  info: (fields, message) => info({ worker, ...fields }, message),
  warn: (fields, message) => warn({ worker, ...fields }, message),
  error: (fields, message) => error({ worker, ...fields }, message),
})

/** Messages from and to the primary. */
class PrimaryChannel {
  /** Requests to the primary without a reply. */
  readonly #pending = new Map<number, (reply: ToWorker) => void>()
  #start: ((message: StartMessage) => void) | undefined
  #stop: ((immediately: boolean) => void) | undefined
  /** A stop that arrived during the start. */
  #stopped: { readonly immediately: boolean } | undefined
  #readOwn: ReadFamilies = async () => []
  #accept: ((socket: Socket) => void) | undefined
  #lastId = 0

  start(): Promise<StartMessage> {
    return new Promise((resolve) => {
      this.#start = resolve
      process.on('message', (message: ToWorker, socket: unknown) => this.#receive(message, socket))
      process.once('disconnect', () => endOrphan('it closed the channel'))
      this.send({ type: 'hello' })
    })
  }

  onStop(stop: (immediately: boolean) => void): void {
    this.#stop = stop
    if (this.#stopped !== undefined) stop(this.#stopped.immediately)
  }

  families(own: ReadFamilies): ReadFamilies {
    this.#readOwn = own
    return async () => {
      const reply = await this.#request('metrics')
      return reply.type === 'collected' ? reply.families : []
    }
  }

  async statuses(): Promise<readonly WorkerStatus[]> {
    const reply = await this.#request('statuses')
    return reply.type === 'statuses' ? reply.statuses : []
  }

  #request(type: 'metrics' | 'statuses'): Promise<ToWorker> {
    return new Promise((resolve) => {
      const id = ++this.#lastId
      this.#pending.set(id, resolve)
      this.send({ type, id })
    })
  }

  send(message: ToPrimary, sent: () => void = () => undefined): void {
    process.send?.(message, undefined, {}, sent)
  }

  connections({ address, port }: StartMessage): ConnectionSource {
    return {
      address,
      port,
      begin: (accept) => {
        this.#accept = accept
      },
      end: () => {
        this.#accept = undefined
        this.send({ type: 'closed' })
      },
    }
  }

  #receive(message: ToWorker, socket: unknown): void {
    if (message.type === 'connection') this.#receiveConnection(message.id, socket)
    else if (message.type === 'confirm') this.send({ type: 'confirmed', id: message.id })
    else if (message.type === 'start') this.#start?.(message)
    else if (message.type === 'collect') void this.#sendOwn(message.id)
    else if (message.type === 'collected' || message.type === 'statuses') {
      this.#pending.get(message.id)?.(message)
      this.#pending.delete(message.id)
    } else if (message.type === 'stop') {
      this.#stopped = message
      this.#stop?.(message.immediately)
    }
  }

  /** The client may have disconnected meanwhile: then there is no socket. */
  #receiveConnection(id: number, socket: unknown): void {
    this.send({ type: this.#accept === undefined ? 'refused' : 'accepted', id })
    if (!(socket instanceof Socket)) return
    if (this.#accept === undefined) socket.destroy()
    else this.#accept(socket)
  }

  async #sendOwn(id: number): Promise<void> {
    this.send({ type: 'collected', id, families: plainFamilies(await this.#readOwn()) })
  }
}
