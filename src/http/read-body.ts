// The whole body of a request, up to a limit: what is longer is refused without being kept.

import { badRequest, requestEntityTooLarge } from '../api/api-error.js'
import { isHeavy, TooHeavyError } from '../base/weight.js'
import type { Exchange } from './exchange.js'

export const maxBodyBytes = 3 * 1024 * 1024

export function readBody(exchange: Exchange): Promise<Buffer> {
  const { request } = exchange
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > maxBodyBytes) return Promise.reject(tooLarge(exchange))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let isRefused = false
    const keep = (chunk: Buffer): void => {
      try {
        exchange.holdBody(chunk.length)
        chunks.push(chunk)
      } catch (thrown) {
        isRefused = true
        chunks.length = 0
        hangUp(exchange)
        reject(thrown)
      }
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBodyBytes) reject(tooLarge(exchange))
      else if (!isRefused) keep(chunk)
    })
    request.on('end', () => {
      const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)
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
