// Creates a single object that a command has made up from its flags.

import type { DynamicObject } from '../client/objects.js'
import { type FlagTable, UsageError } from './flags.js'
import type { Io } from './io.js'
import {
  type Result,
  type ResultFlags,
  tellResults,
  validationFlag,
  validationOf,
  type WriteFlagValues,
  writeFlags,
  writeUnlessDry,
} from './results.js'
import { saveConfigFlag, withSavedConfig } from './saved-config.js'
import type { Session } from './session.js'

export const createFlags = {
  ...writeFlags,
  'save-config': saveConfigFlag,
  validate: validationFlag,
} as const satisfies FlagTable

export interface Creation {
  readonly session: Session
  readonly flags: WriteFlagValues & ResultFlags & { readonly validate?: string | undefined; readonly 'save-config': boolean }
  readonly io: Io
}

/** The one word that names what is made. */
export function nameIn(args: readonly string[]): string {
  const [name, ...more] = args
  if (name === undefined || more.length > 0) throw new UsageError(`exactly one NAME is required, got ${args.length}`)
  return name
}

/** `a=b` of a flag, for each. */
export function pairsIn(flag: string, texts: readonly string[]): { readonly [name: string]: string } {
  return Object.fromEntries(
    texts.map((text) => {
      const equals = text.indexOf('=')
      if (equals <= 0) throw new UsageError(`--${flag} takes NAME=VALUE, not "${text}"`)
      return [text.slice(0, equals), text.slice(equals + 1)]
    }),
  )
}

/** A flag without which nothing can be made. */
export function needed<T>(flag: string, value: T | undefined): T {
  if (value === undefined) throw new UsageError(`required flag(s) "${flag}" not set`)
  return value
}

/** A number where it is one, or a text: of ports, and of shares. */
export const numberOrText = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text)

export async function createOne(object: DynamicObject, work: Creation): Promise<number> {
  tellResults([await makeOne(object, work)], work.flags, work.io)
  return 0
}

/** The same for who tells of it himself. */
export async function makeOne(object: DynamicObject, { session, flags }: Creation): Promise<Result> {
  const fieldValidation = validationOf(flags.validate)
  const resource = await session.resources.ofKind(object.apiVersion ?? '', object.kind ?? '')
  const namespace = resource.namespaced ? session.namespace : undefined
  const placed: DynamicObject = namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } }
  const collection = session.client.collection(resource, namespace)
  // What is only shown is for any namespace, unless one was named.
  const shown = session.flags.namespace === undefined ? object : placed
  const saved = (one: DynamicObject): Promise<DynamicObject> => withSavedConfig(one, flags['save-config'], session)
  const made = await writeUnlessDry(flags, await saved(shown), async (terms) =>
    collection.create(await saved(placed), { ...terms, fieldValidation }),
  )
  return { resource, name: made.metadata?.name ?? '', what: 'created', object: made }
}
