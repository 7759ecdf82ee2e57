// Reads the JSON body of a control request, up to a size limit.

import type { HttpRequest } from '../../../net/listen/http-messages.js'
import { BodyChunkCounter } from '../../../net/listen/request-body-limits.js'
import { ControlError } from './control-error.js'

const maxBodyBytes = 1 << 20

/** Undefined for an empty body. */
export async function readJson(request: HttpRequest): Promise<unknown> {
  const text = decode(await readBytes(request))
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch (thrown) {
    throw new ControlError(400, `the body is not JSON: ${(thrown as Error).message}`)
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ControlError(400, 'the body is not UTF-8')
  }
}

function readBytes(request: HttpRequest): Promise<Buffer> {
  const tooLarge = new ControlError(413, `the body must have at most ${maxBodyBytes} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return Promise.reject(tooLarge)
  return new Promise((resolve, reject) => {
    const counter = new BodyChunkCounter(request)
    let chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      counter.count(chunk.length)
      bytes += chunk.length
      if (bytes <= maxBodyBytes) {
        chunks.push(chunk)
        return
      }
      chunks = []
      reject(tooLarge)
    })
    const disconnected = (): void => reject(new ControlError(400, 'the client disconnected before the end of the body'))
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', disconnected)
    request.on('aborted', disconnected)
  })
}
