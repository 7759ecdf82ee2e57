// The whole body of a request, up to a limit: what is longer is refused without being kept.

import { badRequest, requestEntityTooLarge } from '../api/api-error.js'
import { isHeavy, TooHeavyError } from '../base/weight.js'
import { GatheredParts } from '../net/gathered-parts.js'
import { socketUnder } from '../net/http2-sessions.js'
import { ReadPauses } from '../net/read-pauses.js'
import type { Exchange } from './exchange.js'

export const maxBodyBytes = 3 * 1024 * 1024

export function readBody(exchange: Exchange): Promise<Buffer> {
  const { request } = exchange
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > maxBodyBytes) return Promise.reject(tooLarge(exchange))
  return new Promise((resolve, reject) => {
    const chunks = new GatheredParts()
    let size = 0
    let isRefused = false
    const keep = (chunk: Buffer): void => {
      try {
        exchange.holdBody(chunk.length)
        chunks.add(chunk)
      } catch (thrown) {
        isRefused = true
        chunks.clear()
        hangUp(exchange)
        reject(thrown)
      }
    }
    let pauses: ReadPauses | undefined
    request.on('data', (chunk: Buffer) => {
      if (size > 0) {
        pauses ??= new ReadPauses(socketUnder(request))
        pauses.count(chunk.length)
      }
      size += chunk.length
      if (size > maxBodyBytes) reject(tooLarge(exchange))
      else if (!isRefused) keep(chunk)
    })
    request.on('end', () => {
      const body = chunks.whole()
      exchange.body = body
      if (exchange.offload !== undefined && isHeavy(body)) reject(new TooHeavyError())
      else resolve(body)
    })
    request.on('error', () => reject(badRequest('the body of the request could not be read to its end')))
    request.on('aborted', () => reject(badRequest('the client went away before the body of the request had ended')))
  })
}

/** The rest of the body is let go with the connection, so that the client is heard before it has sent everything. */
function hangUp(exchange: Exchange): void {
  if ('shouldKeepAlive' in exchange.response) exchange.response.shouldKeepAlive = false
  exchange.request.resume()
}

function tooLarge(exchange: Exchange) {
  hangUp(exchange)
  return requestEntityTooLarge(`limit is ${maxBodyBytes}`)
}
