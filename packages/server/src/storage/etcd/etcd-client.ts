// Client of an etcd cluster: one connection at a time, and another member as soon as it fails.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { Dial } from '../../net/outbound/http-connect-tunnel.js'
import { type StorageSize, StorageUnavailableError } from '../storage.js'
import { connectSocket, type Endpoint, type EtcdCredentials, type EtcdTls } from './etcd-endpoint.js'
import {
  decodeAuthenticate,
  decodeRange,
  decodeStatus,
  decodeTxn,
  encodeAuthenticate,
  encodeRange,
  encodeTxn,
  type MemberStatus,
  methods,
  type RangeRequest,
  type RangeResponse,
  type Txn,
  type TxnResponse,
} from './grpc/etcd-messages.js'
import { GrpcChannel, type GrpcStream, type StreamListener } from './grpc/grpc-channel.js'
import { GrpcError, grpcCodes, isTooLarge, isTransient, shouldChangeMember } from './grpc/grpc-error.js'

interface EtcdClientOptions {
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
/** Timeout of the first attempt of a request; each retry doubles it. */
const firstTimeoutMs = 1000
const firstPauseMs = 30
const maxPauseMs = 1000
const repeatWarningMs = 5000
/** Calls to a member without a leader fail at once instead of waiting. */
const requireLeader = { hasleader: 'true' }

export class EtcdClient {
  readonly #options: EtcdClientOptions
  #nextEndpoint: number
  #connecting: Promise<Connection> | undefined
  #current: Connection | undefined
  readonly #channels = new Set<GrpcChannel>()
  #warnedMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(options: EtcdClientOptions) {
    this.#options = options
    // A random start spreads replicas over the members.
    this.#nextEndpoint = Math.floor(Math.random() * options.endpoints.length)
  }

  async call(method: string, message: Buffer, timeoutMs: number): Promise<Buffer> {
    const connection = this.#current ?? (await withTimeout(timeoutMs, this.#connection()))
    try {
      return await connection.channel.call(method, message, timeoutMs)
    } catch (error) {
      if (shouldChangeMember(error)) this.#discard(connection, error)
      throw error
    }
  }

  async open(method: string, listener: StreamListener): Promise<GrpcStream> {
    const connection = await this.#connection()
    return connection.channel.open(method, {
      message: (bytes) => listener.message(bytes),
      end: (error) => {
        if (shouldChangeMember(error)) this.#discard(connection, error)
        listener.end(error)
      },
    })
  }

  /** Retries transient errors until the deadline, then rejects with StorageUnavailableError. Attempts must be idempotent. */
  async retryUntil<T>(deadlineMs: number, attempt: (timeoutMs: number) => Promise<T>): Promise<T> {
    let pauseMs = firstPauseMs
    for (let attemptTimeoutMs = firstTimeoutMs; ; attemptTimeoutMs *= 2) {
      try {
        return await attempt(Math.max(1, Math.min(attemptTimeoutMs, deadlineMs - performance.now())))
      } catch (error) {
        if (this.#isClosed) throw unavailable(error)
        if (!isTransient(error)) throw refusalOf(error)
        const waitMs = pauseMs * (0.5 + Math.random() / 2)
        if (performance.now() + waitMs >= deadlineMs) throw unavailable(error)
        await new Promise((resolve) => setTimeout(resolve, waitMs))
        pauseMs = Math.min(pauseMs * 2, maxPauseMs)
      }
    }
  }

  /** Retries transient errors for `retryTimeoutMs`: the call must be idempotent. */
  callWithRetry(method: string, message: Buffer, retryTimeoutMs: number): Promise<Buffer> {
    return this.retryUntil(performance.now() + retryTimeoutMs, (timeoutMs) => this.call(method, message, timeoutMs))
  }

  async range(request: RangeRequest, retryTimeoutMs: number): Promise<RangeResponse> {
    return decodeRange(await this.callWithRetry(methods.range, encodeRange(request), retryTimeoutMs))
  }

  async transact(txn: Txn, retryTimeoutMs: number): Promise<TxnResponse> {
    return decodeTxn(await this.callWithRetry(methods.txn, encodeTxn(txn, 4096), retryTimeoutMs))
  }

  async status(): Promise<MemberStatus> {
    return (await this.#connection()).status
  }

  async measure(timeoutMs: number): Promise<readonly StorageSize[]> {
    const { endpoint, channel } = await withTimeout(timeoutMs, this.#connection())
    const { dbBytes } = decodeStatus(await channel.call(methods.status, Buffer.alloc(0), timeoutMs))
    return [{ endpoint: endpoint.url, bytes: dbBytes }]
  }

  /** Drops a connection that looks alive but delivers nothing. */
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
    // An ending connection is no longer the current one.
    if (this.#current !== connection) return
    const { channel, endpoint } = connection
    const reason = errorMessage(error)
    channel.close(reason)
    if (!this.#isClosed) this.#options.logger.info({ endpoint: endpoint.url, error: reason }, 'closing connection to etcd')
  }

  async #connect(): Promise<Connection> {
    const { endpoints, logger } = this.#options
    const problems: string[] = []
    for (let attempts = 0; attempts < endpoints.length; attempts += 1) {
      const endpoint = endpoints[this.#nextEndpoint % endpoints.length] as Endpoint
      this.#nextEndpoint += 1
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
        channel.setMetadata({ ...requireLeader, token })
      } else channel.setMetadata(requireLeader)
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
    this.#options.logger.warn({ error: problems }, 'etcd is unavailable; retrying')
  }
}

/** Rejects after the timeout; the connection attempt continues for the next caller. */
function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = new GrpcError(grpcCodes.deadlineExceeded, `no connection within ${Math.round(timeoutMs)} ms`)
    const timer = setTimeout(() => reject(late), timeoutMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** The error to report if a retry is useless. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof GrpcError) || isTooLarge(error)) return error
  return error.code === grpcCodes.permissionDenied || error.code === grpcCodes.resourceExhausted ? unavailable(error) : error
}

function unavailable(error: unknown): StorageUnavailableError {
  return new StorageUnavailableError(`etcd is unavailable: ${error instanceof Error ? error.message : error}`)
}
