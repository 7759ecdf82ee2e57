// Calls to an etcd of several members: one connection at a time, to whichever member can be used, and another one as soon as it cannot.

import type { Logger } from '../../base/logger.js'
import type { Dial } from '../../net/tunnel.js'
import { type StorageSize, StorageUnavailableError } from '../storage.js'
import { connectSocket, type Endpoint, type EtcdCredentials, type EtcdTls } from './endpoint.js'
import { GrpcChannel, type GrpcStream, type StreamListener } from './grpc-channel.js'
import { GrpcError, grpcCodes, isPassing, isTooLarge, wantsAnotherMember } from './grpc-error.js'
import { decodeAuthenticate, decodeStatus, encodeAuthenticate, type MemberStatus, methods } from './messages.js'

export interface EtcdClientOptions {
  /** At least one. */
  readonly endpoints: readonly Endpoint[]
  readonly tls: EtcdTls
  readonly dial?: Dial | undefined
  readonly credentials?: EtcdCredentials | undefined
  readonly logger: Logger
}

interface Connection {
  readonly endpoint: Endpoint
  readonly channel: GrpcChannel
  readonly status: MemberStatus
}

const connectTimeoutMs = 2000
/** What is lost on its way, such as to a leader that died, is sent again after this time, and then after twice that, and so on. */
const firstPatienceMs = 1000
const firstPauseMs = 30
const longestPauseMs = 1000
const repeatWarningMs = 5000
/** A member that has lost its leader says so at once instead of letting calls wait. */
const wantsLeader = { name: 'hasleader', value: 'true' }

export class EtcdClient {
  readonly #options: EtcdClientOptions
  #next: number
  #connecting: Promise<Connection> | undefined
  #current: Connection | undefined
  readonly #channels = new Set<GrpcChannel>()
  #warnedMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(options: EtcdClientOptions) {
    this.#options = options
    // Replicas that are started alike shall not all use the same member.
    this.#next = Math.floor(Math.random() * options.endpoints.length)
  }

  /** One attempt; what it rejects with is a GrpcError. */
  async call(method: string, message: Buffer, timeoutMs: number): Promise<Buffer> {
    const connection = this.#current ?? (await within(timeoutMs, this.#connection()))
    try {
      return await connection.channel.call(method, message, timeoutMs)
    } catch (error) {
      if (wantsAnotherMember(error)) this.#discard(connection, error)
      throw error
    }
  }

  async open(method: string, listener: StreamListener): Promise<GrpcStream> {
    const connection = await this.#connection()
    return connection.channel.open(method, {
      message: (bytes) => listener.message(bytes),
      end: (error) => {
        if (wantsAnotherMember(error)) this.#discard(connection, error)
        listener.end(error)
      },
    })
  }

  /**
   * Tries again and again while that makes sense and the time is not up; then rejects with StorageUnavailableError. An attempt whose answer does not
   * come may still be carried out, so attempts must be such that it does no harm.
   */
  async persist<T>(deadlineMs: number, attempt: (timeoutMs: number) => Promise<T>): Promise<T> {
    let pauseMs = firstPauseMs
    for (let patienceMs = firstPatienceMs; ; patienceMs *= 2) {
      try {
        return await attempt(Math.max(1, Math.min(patienceMs, deadlineMs - performance.now())))
      } catch (error) {
        if (this.#isClosed) throw unavailable(error)
        if (!isPassing(error)) throw refusalOf(error)
        const waitMs = pauseMs * (0.5 + Math.random() / 2)
        if (performance.now() + waitMs >= deadlineMs) throw unavailable(error)
        await new Promise((resolve) => setTimeout(resolve, waitMs))
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
    }
  }

  /** What the member in use says of itself. */
  async status(): Promise<MemberStatus> {
    return (await this.#connection()).status
  }

  /** How large the database of the member in use is. */
  async measure(timeoutMs: number): Promise<readonly StorageSize[]> {
    const { endpoint, channel } = await within(timeoutMs, this.#connection())
    const { dbBytes } = decodeStatus(await channel.call(methods.status, Buffer.alloc(0), timeoutMs))
    return [{ endpoint: endpoint.url, bytes: dbBytes }]
  }

  /** Gives up the connection although nothing says that it is broken, because it does not deliver. */
  changeMember(reason: string): void {
    const connection = this.#current
    if (connection) this.#discard(connection, new GrpcError(grpcCodes.unavailable, reason))
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#connecting?.catch(() => undefined)
    for (const channel of this.#channels) channel.close('the storage is closed')
  }

  #connection(): Promise<Connection> {
    if (this.#isClosed) return Promise.reject(new GrpcError(grpcCodes.failedPrecondition, 'the storage is closed'))
    this.#connecting ??= this.#connect().catch((error: unknown) => {
      this.#connecting = undefined
      throw error
    })
    return this.#connecting
  }

  #discard(connection: Connection, error: unknown): void {
    // One that is ending is forgotten already, and lets end what was begun.
    if (this.#current !== connection) return
    const { channel, endpoint } = connection
    // Its `onEnding` forgets the connection.
    const reason = error instanceof Error ? error.message : String(error)
    channel.close(reason)
    if (!this.#isClosed) this.#options.logger.info({ endpoint: endpoint.url, reason }, 'closing connection to etcd')
  }

  /** Tries every member once. */
  async #connect(): Promise<Connection> {
    const { endpoints, logger } = this.#options
    const problems: string[] = []
    for (let tried = 0; tried < endpoints.length; tried += 1) {
      const endpoint = endpoints[this.#next % endpoints.length] as Endpoint
      this.#next += 1
      try {
        const connection = await this.#connectTo(endpoint)
        logger.info({ endpoint: endpoint.url, version: connection.status.version }, 'connected to etcd')
        this.#warnedMs = Number.NEGATIVE_INFINITY
        return connection
      } catch (error) {
        problems.push(`${endpoint.url}: ${error instanceof Error ? error.message : error}`)
      }
    }
    const summary = problems.join('; ')
    this.#warn(summary)
    throw new GrpcError(grpcCodes.unavailable, summary)
  }

  async #connectTo(endpoint: Endpoint): Promise<Connection> {
    const { tls, credentials, dial } = this.#options
    const socket = await connectSocket(endpoint, { tls, timeoutMs: connectTimeoutMs, dial })
    const channel = new GrpcChannel({ socket, url: endpoint.url })
    this.#channels.add(channel)
    channel.onClosed(() => this.#channels.delete(channel))
    try {
      if (credentials) {
        const login = encodeAuthenticate(credentials.username, credentials.password)
        const token = decodeAuthenticate(await channel.call(methods.authenticate, login, connectTimeoutMs))
        channel.setMetadata([wantsLeader, { name: 'token', value: token }])
      } else channel.setMetadata([wantsLeader])
      const status = decodeStatus(await channel.call(methods.status, Buffer.alloc(0), connectTimeoutMs))
      if (!status.hasLeader) throw new Error('it has no leader: too few members of etcd can talk to one another')
      const connection = { endpoint, channel, status }
      this.#current = connection
      channel.onEnding(() => {
        if (this.#current !== connection) return
        this.#connecting = undefined
        this.#current = undefined
      })
      return connection
    } catch (error) {
      channel.close('it cannot be used')
      throw error
    }
  }

  #warn(problems: string): void {
    if (this.#isClosed || performance.now() - this.#warnedMs < repeatWarningMs) return
    this.#warnedMs = performance.now()
    this.#options.logger.warn({ problems }, `etcd is unavailable, retrying: ${problems}`)
  }
}

/** A connection that takes longer is still made, for the next one who asks. */
function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = new GrpcError(grpcCodes.deadlineExceeded, `no connection within ${Math.round(timeoutMs)} ms`)
    const timer = setTimeout(() => reject(late), timeoutMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Where trying again is useless. That one write is too large says nothing of the others. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof GrpcError) || isTooLarge(error)) return error
  return error.code === grpcCodes.permissionDenied || error.code === grpcCodes.resourceExhausted ? unavailable(error) : error
}

function unavailable(error: unknown): StorageUnavailableError {
  return new StorageUnavailableError(`etcd is unavailable: ${error instanceof Error ? error.message : error}`)
}
