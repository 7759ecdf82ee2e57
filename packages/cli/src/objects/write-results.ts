// Flags of writing commands (dry run, validation, field manager), and printing of their results.

import type { ServedResource } from '@cluster-apiserver/client/discovery.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { type FlagSpec, type FlagTable, UsageError } from '../command-line/flags.js'
import type { Io } from '../command-line/io.js'
import { outputOf, type PrintFlagValues, printFlags } from '../output/print-flags.js'
import { printerFor } from '../output/printer.js'
import { fullNameOf } from './named-object.js'

export const writeFlags = {
  ...printFlags,
  'dry-run': { kind: 'text', bare: 'unchanged', initial: 'none', help: 'none, client (sends nothing) or server (stores nothing)' },
  'field-manager': { kind: 'text', initial: 'clusterctl', help: 'field manager of the written fields' },
} as const satisfies FlagTable

export const validationFlag = {
  kind: 'text',
  bare: 'true',
  initial: 'true',
  help: 'unknown fields: true or strict (error), warn, false or ignore',
} as const satisfies FlagSpec

/** Flags of commands with an editor. */
export const editFlags = {
  'windows-line-endings': { kind: 'switch', help: 'use CRLF in the editor' },
} as const satisfies FlagTable

export function parseValidation(text: string | undefined): 'Strict' | 'Warn' | 'Ignore' {
  if (text === undefined || text === 'true' || text === 'strict') return 'Strict'
  if (text === 'warn') return 'Warn'
  if (text === 'false' || text === 'ignore') return 'Ignore'
  throw new UsageError(`invalid --validate option "${text}"; must be one of: strict (or true), warn, ignore (or false)`)
}

export type DryRun = 'none' | 'client' | 'server'

export function parseDryRun(text: string | undefined): DryRun {
  if (text === undefined || text === 'none' || text === 'false') return 'none'
  if (text === 'client' || text === 'unchanged' || text === 'true') return 'client'
  if (text === 'server') return 'server'
  throw new UsageError(`invalid dry-run value "${text}": must be "none", "server" or "client"`)
}

export interface WriteFlagValues {
  readonly 'dry-run'?: string | undefined
  readonly 'field-manager'?: string | undefined
}

interface WriteOptions {
  readonly dryRun: boolean
  readonly fieldManager: string
}

/** Runs `write`, with dryRun for --dry-run=server. Returns `draft` for --dry-run=client. */
export async function writeUnlessDryRun<T>(flags: WriteFlagValues, draft: T, write: (options: WriteOptions) => Promise<T>): Promise<T> {
  const dryRun = parseDryRun(flags['dry-run'])
  if (dryRun === 'client') return draft
  return write({ dryRun: dryRun === 'server', fieldManager: flags['field-manager'] ?? '' })
}

export interface Result {
  readonly resource: ServedResource
  readonly name: string
  /** Printed after the name, such as `created`. */
  readonly operation: string
  readonly object: DynamicObject
}

export interface ResultFlags extends PrintFlagValues {
  readonly 'dry-run'?: string | undefined
}

export function printResults(results: readonly Result[], flags: ResultFlags, io: Io): void {
  if (results.length === 0) return
  const dryRun = parseDryRun(flags['dry-run'])
  const note = dryRun === 'none' ? '' : dryRun === 'server' ? ' (server dry run)' : ' (dry run)'
  if (outputOf(flags) === '') {
    for (const { resource, name, operation } of results) io.out(`${io.style.cyan(fullNameOf(resource, name))} ${operation}${note}\n`)
    return
  }
  const names = new Map(results.map(({ resource, name, object }) => [object as object, fullNameOf(resource, name)]))
  const printer = printerFor({ flags, nameOf: (object) => names.get(object) ?? '' })
  io.data(
    printer.print(
      results.map(({ object }) => object),
      results.length > 1,
    ),
  )
}
