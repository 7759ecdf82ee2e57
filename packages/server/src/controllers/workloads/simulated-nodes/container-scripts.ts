// Scripts of simulated containers: responses to commands (`exec`) and to connections (`ports`), as rules say.

import { durationIn, integerIn, refuseUnknownMembers, textIn, type Unknowns } from './read-members.js'

export interface CommandScript {
  /** Words of the command; a last word `*` stands for any further words. */
  readonly command: readonly string[]
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  /** Time from start to exit. */
  readonly exitAfterMs: number
  /** Copies stdin to stdout, and exits when stdin ends. */
  readonly echoesStdin: boolean
}

interface HttpScript {
  /** May end in `*`. */
  readonly path: string
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export interface PortScript {
  readonly port: number
  /** Undefined: the port speaks plain TCP. */
  readonly http: readonly HttpScript[] | undefined
  /** Sent to each new TCP connection. */
  readonly send: string
  /** Sends received bytes back; otherwise the connection is closed after `send`. */
  readonly echoes: boolean
}

/** `web-*` stands for all texts with this prefix. */
export const isLike = (pattern: string, text: string): boolean =>
  pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern

/** The first script that matches decides. */
export const findCommand = (scripts: readonly CommandScript[], words: readonly string[]): CommandScript | undefined =>
  scripts.find(({ command }) => {
    const isPrefix = command.at(-1) === '*'
    const fixed = isPrefix ? command.slice(0, -1) : command
    return (isPrefix ? words.length >= fixed.length : words.length === fixed.length) && fixed.every((word, i) => word === words[i])
  })

export const commandScriptsIn = (rule: Unknowns): readonly CommandScript[] | undefined =>
  listIn(rule, 'exec', (item) => {
    refuseUnknownMembers(item, ['command', 'stdout', 'stderr', 'exitCode', 'exitAfter', 'echo'])
    const exitCode = integerIn(item, 'exitCode') ?? 0
    if (exitCode > 255) throw new Error('exitCode: must be at most 255')
    return {
      command: commandIn(item),
      stdout: textIn(item, 'stdout') ?? '',
      stderr: textIn(item, 'stderr') ?? '',
      exitCode,
      exitAfterMs: durationIn(item, 'exitAfter') ?? 0,
      echoesStdin: flagIn(item, 'echo'),
    }
  })

export const portScriptsIn = (rule: Unknowns): readonly PortScript[] | undefined =>
  listIn(rule, 'ports', (item) => {
    refuseUnknownMembers(item, ['port', 'http', 'send', 'echo'])
    const port = integerIn(item, 'port') ?? 0
    if (port < 1 || port > 65_535) throw new Error('port: must be between 1 and 65535')
    const http = listIn(item, 'http', httpScript)
    if (http !== undefined && (item['send'] !== undefined || item['echo'] !== undefined))
      throw new Error('http: send and echo are for ports without http')
    return { port, http, send: textIn(item, 'send') ?? '', echoes: flagIn(item, 'echo') }
  })

function httpScript(item: Unknowns): HttpScript {
  refuseUnknownMembers(item, ['path', 'status', 'contentType', 'body'])
  const status = integerIn(item, 'status') ?? 200
  if (status < 200 || status > 599) throw new Error('status: must be between 200 and 599')
  const contentType = textIn(item, 'contentType') ?? 'text/plain; charset=utf-8'
  if (!/^[\x20-\x7e]+$/.test(contentType)) throw new Error('contentType: must be printable ASCII')
  return { path: textIn(item, 'path') ?? '*', status, contentType, body: textIn(item, 'body') ?? '' }
}

/** A list of words, or a text whose words have spaces between them. */
function commandIn(item: Unknowns): readonly string[] {
  const { command } = item
  const words = typeof command === 'string' ? command.split(' ').filter((word) => word !== '') : command
  if (!Array.isArray(words) || words.length === 0 || !words.every((word): word is string => typeof word === 'string'))
    throw new Error('command: must be a text or a list of texts')
  return words
}

function flagIn(item: Unknowns, name: string): boolean {
  const found = item[name]
  if (found !== undefined && typeof found !== 'boolean') throw new Error(`${name}: must be true or false`)
  return found === true
}

function listIn<T>(rule: Unknowns, name: string, read: (item: Unknowns) => T): readonly T[] | undefined {
  const found = rule[name]
  if (found === undefined) return undefined
  if (!Array.isArray(found)) throw new Error(`${name}: must be a list`)
  return found.map((item: unknown, i) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw new Error(`${name}[${i}]: must be a mapping`)
    try {
      return read(item as Unknowns)
    } catch (thrown) {
      throw new Error(`${name}[${i}].${(thrown as Error).message}`)
    }
  })
}
