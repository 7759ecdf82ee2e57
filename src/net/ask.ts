// One question to somebody else's server and the whole of its answer, within a time and a size: what all of this server's own requests share.
// Redirects are not followed: they are answers like others.

import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'

export interface AskOptions {
  readonly body?: Buffer | string
  /** Of everything, from the look-up of the name to the last byte. */
  readonly timeoutMs: number
  /** What is told of a time that is over, where it began before this question. */
  readonly allowedMs?: number
  /** Of the answer. 0: only its head is waited for. */
  readonly mostBytes: number
  /** Of an answer that is longer the beginning counts; left out: it is an error. */
  readonly cutsLonger?: boolean
  /** What answers of several questions may take together. */
  readonly room?: AnswerRoom | undefined
  readonly signal?: AbortSignal | undefined
  /** The same, cheaper: tells why nobody waits any more, and gives what forgets the listener. */
  readonly onAbort?: ((listener: (reason: unknown) => void) => () => void) | undefined
  /** A kept connection turned out to be closed before anything came back. */
  readonly onStale?: () => void
}

/** Room for answers that are being read. */
export interface AnswerRoom {
  /** False where there is none. */
  take(bytes: number): boolean
  give(bytes: number): void
}

export interface WholeAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Nobody answered in time. */
export class AnswerTimeoutError extends Error {
  override readonly name = 'AnswerTimeoutError'
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
  }
}

/** `sent`: a request that nothing was written to. Rejects with what went wrong, or with the reason of the signal. */
export function ask(sent: ClientRequest, options: AskOptions): Promise<WholeAnswer> {
  const { body, timeoutMs, allowedMs = timeoutMs, room, signal, onAbort, onStale } = options
  return new Promise((resolve, reject) => {
    let taken = 0
    let hasAnswer = false
    const leave = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      forget?.()
      room?.give(taken)
      taken = 0
    }
    const fail = (why: unknown): void => {
      leave()
      reject(why)
      sent.destroy()
    }
    const abort = (): void => fail(signal?.reason)
    const forget = onAbort?.(fail)
    const timer = setTimeout(() => fail(new AnswerTimeoutError(allowedMs)), timeoutMs)
    const finish = (answer: WholeAnswer): void => {
      leave()
      resolve(answer)
    }
    const hold = (bytes: number): boolean => {
      if (room?.take(bytes) === false) return false
      taken += bytes
      return true
    }
    sent.on('response', (response) => {
      hasAnswer = true
      read(sent, response, { ...options, hold, finish, fail })
    })
    // Whatever else happens to a connection that is not needed any more concerns nobody.
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (sent.reusedSocket && !hasAnswer && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) onStale?.()
      fail(error)
    })
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
    else sent.end(body)
  })
}

interface Reading extends Pick<AskOptions, 'mostBytes' | 'cutsLonger'> {
  readonly hold: (bytes: number) => boolean
  readonly finish: (answer: WholeAnswer) => void
  readonly fail: (why: Error) => void
}

function read(sent: ClientRequest, response: IncomingMessage, { mostBytes, cutsLonger = false, hold, finish, fail }: Reading): void {
  const { statusCode: status = 0, headers } = response
  const parts: Buffer[] = []
  let bytes = 0
  const end = (): void => finish({ status, headers, body: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts) })
  const stop = (): void => {
    end()
    sent.destroy()
  }
  response.on('error', fail)
  if (mostBytes === 0) {
    stop()
    return
  }
  response.on('data', (part: Buffer) => {
    const kept = cutsLonger ? part.subarray(0, mostBytes - bytes) : part
    bytes += part.length
    if (bytes > mostBytes && !cutsLonger) {
      fail(new Error(`the answer is longer than ${mostBytes} bytes`))
      return
    }
    if (!hold(kept.length)) {
      fail(new Error('there is no room for the answer'))
      return
    }
    parts.push(kept)
    if (cutsLonger && bytes >= mostBytes) stop()
  })
  response.on('end', end)
}
