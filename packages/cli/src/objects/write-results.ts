// What a command says when it has done something to an object: one line, or the object in the form that was asked for.

import type { ServedResource } from '../client/discovery.js'
import type { DynamicObject } from '../client/objects.js'
import { type FlagSpec, type FlagTable, UsageError } from './flags.js'
import type { Io } from './io.js'
import { outputOf, type PrintFlagValues, printFlags } from './output/print-flags.js'
import { printerFor } from './output/printer.js'
import { fullNameOf } from './targets.js'

export const writeFlags = {
  ...printFlags,
  'dry-run': { kind: 'text', bare: 'unchanged', initial: 'none', help: 'none, client (nothing is sent) or server (nothing is stored)' },
  'field-manager': { kind: 'text', initial: 'clusterctl', help: 'who owns the fields that are written' },
} as const satisfies FlagTable

export const validationFlag = {
  kind: 'text',
  bare: 'true',
  initial: 'true',
  help: 'true or strict: unknown fields are refused; warn; false or ignore',
} as const satisfies FlagSpec

/** Of commands with an editor; here so that those who may need none do not load it. */
export const editFlags = {
  'windows-line-endings': { kind: 'switch', help: 'lines end as on Windows in the editor' },
} as const satisfies FlagTable

export function validationOf(text: string | undefined): 'Strict' | 'Warn' | 'Ignore' {
  if (text === undefined || text === 'true' || text === 'strict') return 'Strict'
  if (text === 'warn') return 'Warn'
  if (text === 'false' || text === 'ignore') return 'Ignore'
  throw new UsageError(`invalid --validate option "${text}"; must be one of: strict (or true), warn, ignore (or false)`)
}

export type DryRun = 'none' | 'client' | 'server'

export function dryRunOf(text: string | undefined): DryRun {
  if (text === undefined || text === 'none' || text === 'false') return 'none'
  if (text === 'client' || text === 'unchanged' || text === 'true') return 'client'
  if (text === 'server') return 'server'
  throw new UsageError(`invalid dry-run value "${text}": it must be "none", "server" or "client"`)
}

export interface WriteFlagValues {
  readonly 'dry-run'?: string | undefined
  readonly 'field-manager'?: string | undefined
}

export interface WriteTerms {
  readonly dryRun: boolean
  readonly fieldManager: string
}

/** Every write of a command with `writeFlags`: in earnest, on trial on the server, or not sent at all; then the draft is what would come of it. */
export async function writeUnlessDry<T>(flags: WriteFlagValues, draft: T, write: (terms: WriteTerms) => Promise<T>): Promise<T> {
  const dryRun = dryRunOf(flags['dry-run'])
  if (dryRun === 'client') return draft
  return write({ dryRun: dryRun === 'server', fieldManager: flags['field-manager'] ?? '' })
}

export interface Result {
  readonly resource: ServedResource
  readonly name: string
  /** Such as `created`. */
  readonly what: string
  readonly object: DynamicObject
}

export interface ResultFlags extends PrintFlagValues {
  readonly 'dry-run'?: string | undefined
}

export function tellResults(results: readonly Result[], flags: ResultFlags, io: Io): void {
  if (results.length === 0) return
  const dryRun = dryRunOf(flags['dry-run'])
  const note = dryRun === 'none' ? '' : dryRun === 'server' ? ' (server dry run)' : ' (dry run)'
  if (outputOf(flags) === '') {
    for (const { resource, name, what } of results) io.out(`${io.style.cyan(fullNameOf(resource, name))} ${what}${note}\n`)
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
