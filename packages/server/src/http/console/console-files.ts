// Serves the static files of the console under /console/, before authentication: they hold no data, and the page asks for a token.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Exchange } from '../pipeline/exchange.js'
import type { Filter, Handled } from '../pipeline/filter.js'
import { acceptsGzip, endWith, sendPlain, writeHead } from '../responses/send-response.js'

const consolePrefix = '/console/'

interface StaticFile {
  readonly contentType: string
  readonly tag: string
  readonly bytes: Buffer
  readonly gzip: Buffer | undefined
}

const contentTypes: { readonly [ending: string]: string } = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Scripts and styles come from files of this server only, requests go to this server only, and no other page can embed the console. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const securityHeaders: readonly string[] = [
  'Content-Security-Policy',
  contentSecurityPolicy,
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'DENY',
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'Cross-Origin-Opener-Policy',
  'same-origin',
]

/** Names of scripts and styles contain a hash of their content. */
const immutable = 'public, max-age=31536000, immutable'

/** Reads the files of the folder once. */
export function consoleFiles(folder: string): Filter {
  const files = readFiles(folder)
  return async (exchange) => {
    const { path, method } = exchange.info
    if (method !== 'GET' && method !== 'HEAD') return refuse(exchange, 405, 'method not allowed\n', { Allow: 'GET, HEAD' })
    if (`${path}/` === consolePrefix) return redirect(exchange)
    const name = path.slice(consolePrefix.length)
    const file = files.get(name === '' ? 'index.html' : name)
    return file === undefined ? refuse(exchange, 404, '404 page not found\n') : sendFile(exchange, file, name)
  }
}

function readFiles(folder: string): ReadonlyMap<string, StaticFile> {
  const names = readdirSync(folder)
  return new Map(
    names
      .filter((name) => !name.endsWith('.gz'))
      .map((name) => {
        const bytes = readFileSync(join(folder, name))
        const gzip = names.includes(`${name}.gz`) ? readFileSync(join(folder, `${name}.gz`)) : undefined
        const contentType = contentTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
        return [name, { contentType, bytes, gzip, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }]
      }),
  )
}

function sendFile(exchange: Exchange, { contentType, bytes, gzip, tag }: StaticFile, name: string): Handled {
  const isUnchanged = exchange.header('if-none-match') === tag
  const body = gzip !== undefined && acceptsGzip(exchange) ? gzip : bytes
  const headers = [...securityHeaders, 'Content-Type', contentType, 'ETag', tag, 'Vary', 'Accept-Encoding']
  headers.push('Cache-Control', /-[0-9A-Z]{8}\./.test(name) ? immutable : 'no-cache')
  if (body === gzip) headers.push('Content-Encoding', 'gzip')
  if (!isUnchanged) headers.push('Content-Length', String(body.length))
  writeHead(exchange, isUnchanged ? 304 : 200, headers)
  if (isUnchanged || exchange.info.method === 'HEAD') exchange.response.end()
  else endWith(exchange, body)
  return true
}

function redirect(exchange: Exchange): Handled {
  writeHead(exchange, 301, [...securityHeaders, 'Location', consolePrefix, 'Content-Length', '0'])
  exchange.response.end()
  return true
}

function refuse(exchange: Exchange, code: number, text: string, headers: { readonly [name: string]: string } = {}): Handled {
  sendPlain(exchange, code, text, { 'Content-Security-Policy': contentSecurityPolicy, ...headers })
  return true
}
