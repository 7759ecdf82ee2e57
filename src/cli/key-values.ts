// Keys and values from the command line and from files, for config maps and secrets.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Failure } from './failure.js'
import { type FlagTable, UsageError } from './flags.js'

export const keyValueFlags = {
  'from-literal': { kind: 'texts', help: 'a key and its value: apple=3' },
  'from-file': { kind: 'list', help: 'a file, as KEY=PATH or under its own name, or a folder of files' },
  'from-env-file': { kind: 'list', help: 'a file with a line KEY=VALUE for each' },
} as const satisfies FlagTable

export interface KeyValueFlags {
  readonly 'from-literal': readonly string[]
  readonly 'from-file': readonly string[]
  readonly 'from-env-file': readonly string[]
}

export function readKeyValues(flags: KeyValueFlags): ReadonlyMap<string, Buffer> {
  const values = new Map<string, Buffer>()
  const add = (key: string, value: Buffer): void => {
    if (values.has(key)) throw new Failure(`cannot add key "${key}", another key by that name already exists`)
    values.set(key, value)
  }
  for (const text of flags['from-literal']) {
    const equals = text.indexOf('=')
    if (equals <= 0) throw new UsageError(`invalid literal source ${text}, expected key=value`)
    add(text.slice(0, equals), Buffer.from(text.slice(equals + 1)))
  }
  for (const text of flags['from-file']) {
    const equals = text.indexOf('=')
    if (equals !== text.lastIndexOf('=')) throw new UsageError("key names or file paths cannot contain '='")
    const path = equals < 0 ? text : text.slice(equals + 1)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) throw new Failure(`error reading ${path}: no such file or directory`)
    if (!stat.isDirectory()) add(equals < 0 ? basename(path) : text.slice(0, equals), readFileSync(path))
    else if (equals >= 0) throw new Failure('cannot give a key name for a directory path')
    else
      for (const entry of readdirSync(path, { withFileTypes: true }))
        if (entry.isFile()) add(entry.name, readFileSync(join(path, entry.name)))
  }
  if (flags['from-env-file'].length > 0 && flags['from-literal'].length + flags['from-file'].length > 0)
    throw new UsageError('from-env-file cannot be combined with from-file or from-literal')
  for (const path of flags['from-env-file']) {
    // Files of other systems begin with a mark, and end lines in two letters.
    for (const text of readFileSync(path, 'utf8')
      .replace(/^\uFEFF/, '')
      .split(/\r?\n/)) {
      const line = text.trimStart()
      const equals = line.indexOf('=')
      if (line === '' || line.startsWith('#')) continue
      add(
        equals < 0 ? line.trim() : line.slice(0, equals).trim(),
        Buffer.from(equals < 0 ? (process.env[line.trim()] ?? '') : line.slice(equals + 1)),
      )
    }
  }
  return values
}

/** As secrets have them. */
export const base64Values = (values: ReadonlyMap<string, Buffer>): { readonly [key: string]: string } =>
  Object.fromEntries([...values].map(([key, bytes]) => [key, bytes.toString('base64')]))

export const isText = (bytes: Buffer): boolean => Buffer.from(bytes.toString('utf8')).equals(bytes)
