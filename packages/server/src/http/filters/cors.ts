// The CORS filter (--cors-allowed-origins). Loaded only if enabled, because it needs re2js.

import { RE2JS } from 're2js'
import type { Filter } from '../pipeline/filter.js'

/** Longer origins are ignored; browsers send shorter ones. */
const maxOriginCharacters = 4096

const corsHeaders: readonly (readonly [name: string, value: string])[] = [
  ['Access-Control-Allow-Methods', 'POST, GET, OPTIONS, PUT, DELETE, PATCH'],
  [
    'Access-Control-Allow-Headers',
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  ],
  ['Access-Control-Expose-Headers', 'Date'],
  ['Access-Control-Allow-Credentials', 'true'],
]

/** Throws for an invalid pattern. RE2 matches in linear time. */
export function cors(patterns: readonly string[]): Filter {
  const allowed = patterns.map((pattern) => RE2JS.compile(pattern))
  return async (exchange) => {
    const origin = exchange.header('origin')
    if (origin === '' || origin.length > maxOriginCharacters || !allowed.some((pattern) => pattern.matcher(origin).find())) return false
    const { response } = exchange
    response.setHeader('Access-Control-Allow-Origin', origin)
    for (const [name, value] of corsHeaders) response.setHeader(name, value)
    if (exchange.info.method !== 'OPTIONS') return false
    response.writeHead(204)
    response.end()
    return true
  }
}
