// Responses to HTTP/1.1 requests that the parser of Node.js rejects. Node.js sends 400 also for methods that it does not know.

import { METHODS, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Response to a method that Node.js does not know; default: 405 without a body. */
export interface UnknownMethodResponse {
  readonly contentType: string
  readonly body: string
}

interface ParseError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

/** Status lines that Node.js sends without a listener. */
const statusLines: { readonly [code: string]: string } = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Listener of 'clientError': sends a response unless another one has begun, and closes the connection. */
export function respondToParseError(
  error: ParseError,
  socket: Socket,
  {
    openResponse,
    unknownMethod,
  }: { readonly openResponse: ServerResponse | undefined; readonly unknownMethod: UnknownMethodResponse | undefined },
): void {
  // The parser rejects each further packet, too.
  if (socket.writableEnded) return
  const isUnknown = hasUnknownMethod(error)
  // Responses have the order of requests: the connection of an earlier request cannot be used for this one.
  const canRespond = openResponse === undefined || (!isUnknown && openResponse.socket !== null && !openResponse.headersSent)
  if (!socket.writable || !canRespond) {
    socket.destroy()
    return
  }
  if (isUnknown) refuseMethod(socket, unknownMethod)
  else {
    socket.write(`HTTP/1.1 ${statusLines[error.code ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`)
    socket.destroySoon()
  }
}

export function refuseMethod(socket: Socket, { contentType, body }: UnknownMethodResponse = { contentType: 'text/plain', body: '' }): void {
  const length = `Content-Length: ${Buffer.byteLength(body)}`
  const headers = [`Content-Type: ${contentType}`, 'Cache-Control: no-cache, private', length, 'Connection: close']
  socket.write(`HTTP/1.1 405 Method Not Allowed\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}

const maxRequestLineBytes = 1024
const requestLinePattern = /^([\w!#$%&'*+.^`|~-]{1,64}) [^ \r\n]+ HTTP\/1\.[01]\r?\n/
/** Methods of other protocols are known to the parser, and fail at the protocol version. */
const methodErrors: ReadonlySet<string> = new Set(['HPE_INVALID_METHOD', 'HPE_INVALID_CONSTANT'])

function hasUnknownMethod({ code = '', rawPacket, bytesParsed = 0 }: ParseError): boolean {
  if (!methodErrors.has(code) || rawPacket === undefined) return false
  const start = bytesParsed === 0 ? 0 : rawPacket.lastIndexOf('\n', bytesParsed - 1) + 1
  const [, method] = requestLinePattern.exec(rawPacket.toString('latin1', start, start + maxRequestLineBytes)) ?? []
  return method !== undefined && !METHODS.includes(method)
}
