// One question to somebody else's server and the whole of its answer, within a time and a size: what all of this server's own requests share.
// Redirects are not followed: they are answers like others.

import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { timerMs } from '../base/clock.js'
import { GatheredParts } from './gathered-parts.js'

export interface AskOptions {
  readonly body?: Buffer | string
  /** Of everything, from the look-up of the name to the last byte. */
  readonly timeoutMs: number
  /** Of the answer. 0: only its head is waited for. */
  readonly mostBytes: number
  /** Of an answer that is longer the beginning counts; left out: it is an error. */
  readonly cutsLonger?: boolean
  readonly signal?: AbortSignal | undefined
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
  const { body, timeoutMs, signal } = options
  return new Promise((resolve, reject) => {
    let isOver = false
    const leave = (): void => {
      isOver = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const fail = (why: unknown): void => {
      if (isOver) return
      leave()
      reject(why)
      sent.destroy()
    }
    const abort = (): void => fail(signal?.reason)
    const timer = setTimeout(() => fail(new AnswerTimeoutError(timeoutMs)), timerMs(timeoutMs))
    const finish = (answer: WholeAnswer): void => {
      leave()
      resolve(answer)
    }
    sent.on('response', (response) => read(sent, response, { ...options, finish, fail }))
    // Whatever else happens to a connection that is not needed any more concerns nobody.
    sent.on('error', fail)
    // Nobody asked for another protocol; without a listener the connection would end without a word.
    sent.on('upgrade', (_response, socket) => {
      socket.destroy()
      fail(new Error('the answer changes the protocol'))
    })
    sent.on('close', () => fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })))
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
    else sent.end(body)
  })
}

interface Reading extends Pick<AskOptions, 'mostBytes' | 'cutsLonger'> {
  readonly finish: (answer: WholeAnswer) => void
  readonly fail: (why: Error) => void
}

function read(sent: ClientRequest, response: IncomingMessage, { mostBytes, cutsLonger = false, finish, fail }: Reading): void {
  const { statusCode: status = 0, headers } = response
  const parts = new GatheredParts()
  const end = (): void => finish({ status, headers, body: parts.whole() })
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
    const room = mostBytes - parts.bytes
    if (part.length > room && !cutsLonger) {
      fail(new Error(`the answer is longer than ${mostBytes} bytes`))
      return
    }
    parts.add(part.subarray(0, room))
    if (cutsLonger && part.length >= room) stop()
  })
  response.on('end', end)
}
