// Lets programs of this machine talk to the server in our name, over plain HTTP on a local port.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { StatusError } from '../../client/errors.js'
import { defineCommand } from '../command.js'
import { Failure } from '../failure.js'
import type { Session } from '../session.js'
import { writeOn } from '../write-on.js'

/** What a browser may be made to send here by a page of somebody else is not passed on. */
const ownHosts = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/
/** Connections into containers. */
const refusedPaths = /^\/api\/.*\/pods\/[^/]+\/(?:exec|attach)$/
const largestBody = 16 << 20

export const command = defineCommand({
  usage: 'proxy [--port=8001] [--address=127.0.0.1] [--api-prefix=/]',
  about: 'let programs of this machine talk to the server in our name',
  examples: ['proxy --port=0'],
  flags: {
    port: { kind: 'number', short: 'p', initial: '8001', help: 'where to listen; 0: any free one' },
    address: { kind: 'text', initial: '127.0.0.1', help: 'and on which address' },
    'api-prefix': { kind: 'text', initial: '/', help: 'below which path the API is' },
    'accept-hosts': { kind: 'text', help: 'a pattern of further hosts that requests may be for' },
  },
  takesNoWords: true,
  run: async ({ flags, session, io, signal }) => {
    const prefix = `/${(flags['api-prefix'] ?? '/').replaceAll(/^\/+|\/+$/g, '')}`.replace(/\/$/, '')
    const further = flags['accept-hosts'] === undefined ? undefined : new RegExp(flags['accept-hosts'])
    const server = createServer((request, response) => {
      const { host = '' } = request.headers
      const path = (request.url ?? '/').split('?')[0] as string
      if (
        !(ownHosts.test(host) || further?.test(host.replace(/:\d+$/, '')) === true) ||
        refusedPaths.test(path) ||
        !path.startsWith(`${prefix}/`)
      ) {
        response.writeHead(403, { 'content-type': 'text/plain' }).end('Forbidden\n')
        return
      }
      void pass(session, request, response, prefix)
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(new Failure(`cannot listen: ${error.message}`)))
      server.listen(flags.port ?? 8001, flags.address ?? '127.0.0.1', resolve)
    })
    const { port, address } = server.address() as { readonly port: number; readonly address: string }
    io.out(`Starting to serve on ${address}:${port}\n`)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    server.close()
    server.closeAllConnections()
    return 0
  },
})

async function pass(session: Session, request: IncomingMessage, response: ServerResponse, prefix: string): Promise<void> {
  const leaving = new AbortController()
  response.on('close', () => leaving.abort())
  try {
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of request) {
      length += (chunk as Buffer).length
      if (length > largestBody) throw new StatusError({ code: 413, reason: 'RequestEntityTooLarge', message: 'the body is too large' })
      chunks.push(chunk as Buffer)
    }
    const answer = await session.client.requester.send(
      {
        method: request.method ?? 'GET',
        path: (request.url ?? '/').slice(prefix.length),
        // For programs that read text; what a browser shows is JSON.
        accept: textOnly(request.headers.accept ?? 'application/json'),
        ...(length === 0 ? {} : { body: Buffer.concat(chunks), contentType: request.headers['content-type'] ?? 'application/json' }),
      },
      leaving.signal,
    )
    response.writeHead(answer.status, { 'content-type': answer.header('content-type') || 'application/json' })
    // A watch may say nothing for long, and whoever began it waits for its head.
    response.flushHeaders()
    for await (const chunk of answer.chunks()) if (!(await writeOn(response, chunk))) break
    response.end()
  } catch (thrown) {
    if (response.headersSent || leaving.signal.aborted) {
      response.destroy()
      return
    }
    const status =
      thrown instanceof StatusError
        ? thrown.status
        : { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: String(thrown), code: 502 }
    response
      .writeHead(thrown instanceof StatusError ? thrown.code : 502, { 'content-type': 'application/json' })
      .end(JSON.stringify(status))
  }
}

function textOnly(accept: string): string {
  const kept = accept.split(',').filter((one) => !one.includes('protobuf'))
  return kept.length === 0 ? 'application/json' : kept.join(',')
}
