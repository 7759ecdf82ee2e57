// Which requests the proxy passes on: a page of somebody else may make a browser send some.

import { RE2JS } from 're2js'
import { type FlagTable, UsageError } from './flags.js'

export const filterFlags = {
  'accept-hosts': {
    kind: 'text',
    initial: '^localhost$,^127\\.0\\.0\\.1$,^\\[::1\\]$',
    help: 'patterns of hosts that requests may be for',
  },
  'accept-paths': { kind: 'text', initial: '^.*', help: 'patterns of paths that are passed on' },
  'reject-paths': {
    kind: 'text',
    initial: '^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach',
    help: 'patterns of paths that are not, whatever is accepted',
  },
  'reject-methods': { kind: 'text', initial: '^$', help: 'patterns of methods that are not, such as POST,PUT,PATCH' },
  'disable-filter': { kind: 'switch', help: 'pass everything on: every page in a browser of this machine may act in our name' },
} as const satisfies FlagTable

export interface FilterFlags {
  readonly 'accept-hosts': string | undefined
  readonly 'accept-paths': string | undefined
  readonly 'reject-paths': string | undefined
  readonly 'reject-methods': string | undefined
  readonly 'disable-filter': boolean
}

export interface ProxiedRequest {
  readonly method: string
  /** Without its query. */
  readonly path: string
  /** With its port, as the header has it. */
  readonly host: string
  /** Of which page it is, where that matters: a browser lets every page open a WebSocket to this machine, and read from it. */
  readonly origin?: string | undefined
}

export function makeFilter(flags: FilterFlags): (request: ProxiedRequest) => boolean {
  if (flags['disable-filter']) return () => true
  const [acceptHosts, acceptPaths, rejectPaths, rejectMethods] = (
    ['accept-hosts', 'accept-paths', 'reject-paths', 'reject-methods'] as const
  ).map((name) => readPatterns(name, flags[name] ?? '')) as [Patterns, Patterns, Patterns, Patterns]
  return ({ method, path, host, origin }) => {
    if (origin !== undefined && !(URL.canParse(origin) && fits(acceptHosts, new URL(origin).hostname))) return false
    const plain = decoded(path)
    // What cannot be read may be anything.
    if (plain === undefined) return false
    const paths = [plain, cleaned(plain)]
    if (paths.some((each) => fits(rejectPaths, each)) || fits(rejectMethods, method)) return false
    return paths.every((each) => fits(acceptPaths, each)) && fits(acceptHosts, host.replace(/:\d+$/, ''))
  }
}

/** Linear in what they are held against, and with the syntax that kubectl takes. */
type Patterns = readonly RE2JS[]

const fits = (patterns: Patterns, text: string): boolean => patterns.some((pattern) => pattern.matcher(text).find())

function readPatterns(flag: string, text: string): Patterns {
  return text
    .split(',')
    .filter((pattern) => pattern !== '')
    .map((pattern) => {
      try {
        return RE2JS.compile(pattern)
      } catch {
        throw new UsageError(`invalid argument "${text}" for "--${flag}" flag: ${pattern} is no pattern`)
      }
    })
}

/** A letter may be written as its code, and must not get by so. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** Servers take `//api` and `/x/../api` for `/api`, or may do so. */
function cleaned(path: string): string {
  const words: string[] = []
  for (const word of path.split('/')) {
    if (word === '..') words.pop()
    else if (word !== '' && word !== '.') words.push(word)
  }
  return `/${words.join('/')}${path.endsWith('/') && words.length > 0 ? '/' : ''}`
}
