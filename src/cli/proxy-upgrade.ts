// Requests through the proxy that change the protocol (WebSocket, SPDY): commands, ports and watches in programs of this machine. Once the
// server has changed it, bytes are passed on as they are.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream'
import type { Session } from './session.js'

export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly near: Duplex
  /** What the program has sent after its request. */
  readonly head: Buffer
}

/** What the protocol is about; who the program is stays with the proxy. */
const isPassedOn = (name: string): boolean =>
  name === 'upgrade' || name === 'connection' || name === 'x-stream-protocol-version' || name.startsWith('sec-websocket-')

/**
 * Whether the server may change the protocol. Programs also ask for HTTP/2 in this way (Java's own client does), which it does not speak
 * here, and no protocol is changed by a request with a body.
 */
export function isForPassing({ headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return !hasBody && /^(?:websocket|spdy\/.*)$/i.test(headers.upgrade ?? '')
}

/** The same request without the wish, to be read once more as one like others. */
export function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage, head: Buffer): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head])
}

/** Of an answer that is no change of protocol. */
const longestAnswer = 1024 * 1024

export async function passUpgrade(session: Session, { request, near, head }: UpgradeRequest, path: string): Promise<void> {
  const leaving = new AbortController()
  const leave = (): void => leaving.abort()
  near.once('close', leave)
  try {
    const { headers, credential } = await session.client.requester.identify(leaving.signal)
    const far = await session.transport.upgrade({
      method: request.method ?? 'GET',
      path,
      headers: { ...protocolHeaders(request), ...headers },
      credential,
      signal: leaving.signal,
    })
    if (far.socket === undefined) return refuse(near, far.message.statusCode ?? 502, await textOf(far.message), contentTypeOf(far.message))
    near.off('close', leave)
    near.write(`HTTP/1.1 101 Switching Protocols\r\n${headText(far.message)}\r\n`)
    if (far.head !== undefined && far.head.length > 0) near.write(far.head)
    if (head.length > 0) far.socket.write(head)
    // What breaks on one side ends the other.
    pipeline(near, far.socket, near, () => {
      near.destroy()
      far.socket?.destroy()
    })
  } catch (thrown) {
    if (!leaving.signal.aborted) refuse(near, 502, `${thrown instanceof Error ? thrown.message : String(thrown)}\n`)
  }
}

export function refuse(near: Duplex, status: number, text: string, contentType = 'text/plain'): void {
  const body = Buffer.from(text)
  near.end(
    Buffer.concat([
      Buffer.from(`HTTP/1.1 ${status} \r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`),
      body,
    ]),
  )
}

function protocolHeaders({ rawHeaders }: IncomingMessage): Record<string, string[]> {
  const kept: Record<string, string[]> = {}
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    if (isPassedOn(name)) kept[name] = [...(kept[name] ?? []), rawHeaders[i + 1] as string]
  }
  return kept
}

function headText({ rawHeaders }: IncomingMessage): string {
  let text = ''
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) text += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
  return text
}

const contentTypeOf = ({ headers }: IncomingMessage): string => headers['content-type'] ?? 'text/plain'

async function textOf(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of message.setEncoding('utf8')) {
    text += part
    if (text.length > longestAnswer) break
  }
  return text
}
