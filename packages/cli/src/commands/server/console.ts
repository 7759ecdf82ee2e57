// `console`: opens the server's web console in a browser, signed in with the user's credentials.

import { spawn } from 'node:child_process'
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StatusError } from '@cluster-apiserver/client/errors.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import type { Session } from '../../command-line/session.js'
import { forward } from './proxy.js'

const codeLifetimeMs = 120_000
const maxCodeBytes = 256

export const command = defineCommand({
  usage: 'console [--port=0] [--no-browser] [flags]',
  examples: ['console', 'console --no-browser --port=8002'],
  flags: {
    port: { kind: 'number', short: 'p', initial: '0', help: 'port on 127.0.0.1; 0: any free port' },
    'no-browser': { kind: 'switch', help: 'print the address, which signs in once, instead of opening it' },
  },
  takesNoArguments: true,
  run: async ({ flags, session, io, signal }) => {
    await checkServed(session)
    const code = randomBytes(32).toString('base64url')
    const gate = new Gate(code)
    // A client that disconnects within its body ends its own request only.
    const server = createServer((request, response) => void serve(session, gate, { request, response }).catch(() => response.destroy()))
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(new CommandError(`cannot listen: ${error.message}`)))
      server.listen(flags.port ?? 0, '127.0.0.1', resolve)
    })
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    gate.host = new URL(origin).host
    const address = `${origin}/console/#code=${code}`
    const isOpened = !flags['no-browser'] && (await openBrowser(address))
    if (isOpened) io.out(`The console is open in the browser. It works until this command ends (Ctrl-C).\n`)
    else io.out(`Open this address within two minutes; it signs in once:\n  ${address}\n`)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    server.close()
    server.closeAllConnections()
    return 0
  },
})

async function checkServed(session: Session): Promise<void> {
  try {
    const response = await session.client.requester.send({ path: '/console/', accept: 'text/html' })
    response.discard()
  } catch (thrown) {
    if (!(thrown instanceof StatusError) || (thrown.code !== 404 && thrown.code !== 403)) throw thrown
    throw new CommandError('the server does not serve the console; start it with --console')
  }
}

/** Exchanges the code of the address, once, for the token that the page sends with each request. */
class Gate {
  host = ''
  private code: string | undefined
  private readonly token = randomBytes(32).toString('base64url')
  private readonly expiresMs = performance.now() + codeLifetimeMs

  constructor(code: string) {
    this.code = code
  }

  exchange(code: string): string | undefined {
    if (this.code === undefined || performance.now() > this.expiresMs || !isEqual(code, this.code)) return undefined
    this.code = undefined
    return this.token
  }

  isSignedIn({ headers }: IncomingMessage): boolean {
    return isEqual(headers.authorization ?? '', `Bearer ${this.token}`)
  }

  /** False for names that other pages let point to 127.0.0.1, and for requests of pages of other origins. */
  isOwnPage({ headers }: IncomingMessage): boolean {
    return headers.host === this.host && (headers.origin === undefined || headers.origin === `http://${this.host}`)
  }
}

const isEqual = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'))

interface Received {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

async function serve(session: Session, gate: Gate, { request, response }: Received): Promise<void> {
  const { method = '', url = '/' } = request
  const path = url.split('?')[0] as string
  if (!gate.isOwnPage(request)) refuse(response, 403, 'Forbidden')
  else if (method === 'POST' && path === '/console/exchange') {
    const token = gate.exchange(await readCode(request))
    if (token === undefined) refuse(response, 403, 'Forbidden')
    else response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-store' }).end(token)
  } else if (method === 'GET' && path === '/') response.writeHead(302, { location: '/console/' }).end()
  else if (isStaticFile(method, path) || gate.isSignedIn(request)) await forward(session, request, response, '')
  else refuse(response, 401, 'Unauthorized')
}

/** No `.` or `..`: the client would send another path, with the user's credentials. */
const isStaticFile = (method: string, path: string): boolean => method === 'GET' && /^\/console\/(?:[\w-]+(?:\.[\w-]+)*)?$/.test(path)

function refuse(response: ServerResponse, code: number, reason: string): void {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message: reason, code }
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(status))
}

/** Longer bodies end the connection. */
async function readCode(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > maxCodeBytes) return ''
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('latin1')
}

/** BROWSER names another program. False if there is none, such as over SSH. */
function openBrowser(address: string): Promise<boolean> {
  const { BROWSER: chosen } = process.env
  const [program, ...args] =
    chosen !== undefined && chosen !== ''
      ? [chosen]
      : process.platform === 'darwin'
        ? ['open']
        : process.platform === 'win32'
          ? ['rundll32', 'url.dll,FileProtocolHandler']
          : ['xdg-open']
  return new Promise((resolve) => {
    const child = spawn(program as string, [...args, address], { detached: true, stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
