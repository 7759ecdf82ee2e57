// Creation of one object from flags, for `create`, `run` and `expose`.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { CommandError } from '../command-line/errors.js'
import { type FlagTable, UsageError } from '../command-line/flags.js'
import type { Io } from '../command-line/io.js'
import type { Session } from '../command-line/session.js'
import { saveConfigFlag, withLastApplied } from './last-applied-configuration.js'
import {
  parseValidation,
  printResults,
  type Result,
  type ResultFlags,
  validationFlag,
  type WriteFlagValues,
  writeFlags,
  writeUnlessDryRun,
} from './write-results.js'

export const createFlags = {
  ...writeFlags,
  'save-config': saveConfigFlag,
  validate: validationFlag,
} as const satisfies FlagTable

interface CreateContext {
  readonly session: Session
  readonly flags: WriteFlagValues & ResultFlags & { readonly validate?: string | undefined; readonly 'save-config': boolean }
  readonly io: Io
}

export function nameArgument(args: readonly string[]): string {
  const [name, ...extraArgs] = args
  if (name === undefined || extraArgs.length > 0) throw new UsageError(`exactly one NAME is required, got ${args.length}`)
  return name
}

export function parsePairs(flag: string, texts: readonly string[]): { readonly [name: string]: string } {
  return Object.fromEntries(
    texts.map((text) => {
      const equals = text.indexOf('=')
      if (equals <= 0) throw new UsageError(`--${flag} takes NAME=VALUE, not "${text}"`)
      return [text.slice(0, equals), text.slice(equals + 1)]
    }),
  )
}

export function requireFlag<T>(flag: string, value: T | undefined): T {
  if (value === undefined) throw new UsageError(`required flag(s) "${flag}" not set`)
  return value
}

/** A value of --port. */
export function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new UsageError(`--port takes numbers, not "${text}"`)
  return Number(text)
}

export const numberOrText = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text)

export async function createAndPrint(object: DynamicObject, context: CreateContext): Promise<number> {
  printResults([await createObject(object, context)], context.flags, context.io)
  return 0
}

export async function createObject(object: DynamicObject, { session, flags }: CreateContext): Promise<Result> {
  const fieldValidation = parseValidation(flags.validate)
  const resource = await session.resources.ofKind(object.apiVersion ?? '', object.kind ?? '')
  const namespace = resource.namespaced ? session.namespace : undefined
  const located: DynamicObject = namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } }
  const collection = session.client.collection(resource, namespace)
  const printedObject = session.flags.namespace === undefined ? object : located
  const annotated = (object: DynamicObject): Promise<DynamicObject> => withLastApplied(object, flags['save-config'], session)
  const created = await writeUnlessDryRun(flags, await annotated(printedObject), async (options) =>
    collection.create(await annotated(located), { ...options, fieldValidation }),
  )
  return { resource, name: created.metadata?.name ?? '', operation: 'created', object: created }
}

export function parseLabels(text: string): { readonly [name: string]: string } {
  const pairs = text.split(',').map((pair) => {
    const [name = '', value, ...extraParts] = pair.split('=')
    if (name === '' || value === undefined || extraParts.length > 0) throw new CommandError(`unexpected label spec: ${pair}`)
    return [name, value] as const
  })
  return Object.fromEntries(pairs)
}
