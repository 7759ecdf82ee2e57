// The stand-in for etcd in KUBEBUILDER_ASSETS: it answers health checks and stores nothing. Its kube-apiserver keeps the objects in memory.

import type { AddressInfo } from 'node:net'
import { type CommandProcess, exitCodes } from '../command-process.js'

const usage = `usage: etcd [--flag=value]…

The etcd of a KUBEBUILDER_ASSETS folder of cluster-apiserver. It answers /health, /livez, /readyz and /version and stores nothing.

  --listen-client-urls    comma-separated http:// URLs (default http://localhost:2379)

All other flags of etcd are accepted and have no effect, such as:
  --advertise-client-urls
  --data-dir
  --listen-peer-urls
  --unsafe-no-fsync
`

/** Response to GET /version. A real etcd has no field `standIn`. */
const version = { etcdserver: '3.5.0', etcdcluster: '3.5.0', standIn: 'cluster-apiserver' }

const responses: { readonly [path: string]: string } = {
  '/health': '{"health":"true","reason":""}',
  '/livez': 'ok',
  '/readyz': 'ok',
  '/version': JSON.stringify(version),
}

/** Serves until SIGTERM or SIGINT. */
export async function runEtcd(args: readonly string[], { print, printError, signals, exit }: CommandProcess): Promise<void> {
  if (args.some((arg) => /^--?h(?:elp)?$/.test(arg))) return print(usage)
  const { createServer } = await import('node:http')
  const fail = ({ message }: Error): void => {
    printError(`etcd: ${message}\n`)
    exit(exitCodes.failure)
  }
  try {
    for (const { hostname, port } of listenUrls(args)) {
      const server = createServer(({ url = '' }, response) => {
        const body = responses[url.split('?', 1)[0] ?? '']
        response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(body)
      })
      server.on('error', fail)
      const host = hostname.replace(/^\[|\]$/g, '')
      server.listen(Number(port), host, () => print(`etcd listens on http://${hostname}:${(server.address() as AddressInfo).port}\n`))
    }
  } catch (thrown) {
    fail(thrown as Error)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) signals.on(signal, () => exit(exitCodes.success))
}

/** Go also accepts flags with one dash. */
function listenUrls(args: readonly string[]): readonly URL[] {
  const index = args.findLastIndex((arg) => /^--?listen-client-urls(?:=|$)/.test(arg))
  const flag = args[index] ?? '--listen-client-urls=http://localhost:2379'
  const text = flag.includes('=') ? flag.slice(flag.indexOf('=') + 1) : (args[index + 1] ?? '')
  return text.split(',').map((url) => {
    if (!URL.canParse(url) || new URL(url).protocol !== 'http:')
      throw new Error(`--listen-client-urls: ${JSON.stringify(url)} is not an http:// URL`)
    return new URL(url)
  })
}

const connectTimeoutMs = 20_000
const retryMs = 50

/** True if the endpoint of --etcd-servers is this stand-in. Waits for a process that does not listen yet. */
export async function isStandIn(endpoint: string): Promise<boolean> {
  if (!endpoint.startsWith('http://')) return false
  const end = Date.now() + connectTimeoutMs
  for (;;) {
    try {
      const body = await fetchText(new URL('/version', endpoint))
      return body.includes(`"standIn":"${version.standIn}"`)
    } catch (thrown) {
      const isRefused = (thrown as NodeJS.ErrnoException).code === 'ECONNREFUSED'
      // Treated as a real etcd: the storage then reports the error.
      if (!isRefused || Date.now() > end) return false
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
}

async function fetchText(url: URL): Promise<string> {
  const { get } = await import('node:http')
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, timeout: connectTimeoutMs }, (response) => {
      response.setEncoding('utf8')
      let text = ''
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(text))
      response.on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', reject)
  })
}
