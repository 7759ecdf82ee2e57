// Requests of scripts in browsers, from origins that the operator allows. In a file of its own, because the library of linear regular
// expressions is loaded with it.

import { RE2JS } from 're2js'
import type { Filter } from './pipeline.js'

/** Longer than any origin that a browser sends. */
const longestOrigin = 4096

const corsHeaders: readonly (readonly [name: string, value: string])[] = [
  ['Access-Control-Allow-Methods', 'POST, GET, OPTIONS, PUT, DELETE, PATCH'],
  [
    'Access-Control-Allow-Headers',
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  ],
  ['Access-Control-Expose-Headers', 'Date'],
  ['Access-Control-Allow-Credentials', 'true'],
]

/** Throws one sentence for a pattern that is none. Matching takes time in proportion to the origin, whatever the pattern. */
export function crossOrigin(patterns: readonly string[]): Filter {
  const allowed = patterns.map((pattern) => RE2JS.compile(pattern))
  return (exchange) => {
    const origin = exchange.header('origin')
    if (origin === '' || origin.length > longestOrigin || !allowed.some((pattern) => pattern.matcher(origin).find())) return false
    const { response } = exchange
    response.setHeader('Access-Control-Allow-Origin', origin)
    for (const [name, value] of corsHeaders) response.setHeader(name, value)
    if (exchange.info.method !== 'OPTIONS') return false
    response.writeHead(204)
    response.end()
    return true
  }
}
