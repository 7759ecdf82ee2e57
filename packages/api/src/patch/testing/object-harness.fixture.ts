// Test harness: one object, written by several field managers, one second after another.

import assert from 'node:assert/strict'
import { readValue } from '../../schema/json/read.js'
import type { StructNode } from '../../schema/node.js'
import { isEqual } from '../json-value.js'
import { isSameButForTimes, type ManagedFieldsEntry } from '../managed-fields/managed-fields-entries.js'
import type { KindVersions } from '../managed-fields/ownable-fields.js'
import { trackUpdate } from '../managed-fields/track-update.js'
import { mergePatch } from '../merge-patch.js'
import { PatchError } from '../patch-error.js'
import { type ApplyInput, type ApplyOutcome, apply, applyWithoutShortcut } from '../server-side-apply/apply.js'

type Plain = { readonly [name: string]: unknown }

interface HarnessOptions extends Partial<KindVersions> {
  readonly apiVersion?: string
  readonly clientSideApply?: ApplyInput['clientSideApply']
}

interface WriteOptions {
  readonly force?: boolean
  readonly subresource?: string
  readonly reset?: ApplyInput['reset']
  readonly apiVersion?: string
  readonly schema?: StructNode
}

export interface ObjectHarness {
  readonly apply: (manager: string, config: Plain, options?: WriteOptions) => void
  readonly preview: (manager: string, config: Plain, options?: WriteOptions) => ApplyOutcome
  readonly failure: (manager: string, config: Plain, options?: WriteOptions) => PatchError
  /** Replaces the object, but keeps its name. */
  readonly put: (manager: string, object: Plain, options?: WriteOptions) => void
  readonly merge: (manager: string, patch: Plain, options?: WriteOptions) => void
  /** Stored object without kind, apiVersion, name and managedFields. */
  readonly object: () => Plain
  readonly owners: () => readonly string[]
  readonly entries: () => readonly ManagedFieldsEntry[]
  readonly version: () => number
  readonly stored: () => Plain | undefined
}

const startMs = Date.UTC(2030, 0, 1)

export function objectHarness(schema: StructNode, options: HarnessOptions = {}): ObjectHarness {
  const storedVersion = options.apiVersion ?? 'v1'
  const kind = schema.name
  let stored: Plain | undefined
  let version = 0
  let writes = 0

  const time = (): string => new Date(startMs + writes * 1000).toISOString().replace('.000', '')
  const entriesOf = (object: Plain | undefined): readonly ManagedFieldsEntry[] =>
    ((object?.['metadata'] as Plain | undefined)?.['managedFields'] ?? []) as readonly ManagedFieldsEntry[]

  const store = (object: object, managedFields: readonly ManagedFieldsEntry[] | undefined): void => {
    const read = readValue(schema, structuredClone(object)).value as { metadata?: Plain }
    const isSame =
      stored !== undefined && isEqual(withoutEntries(read), withoutEntries(stored)) && isSameButForTimes(entriesOf(stored), managedFields)
    if (isSame) return
    const { managedFields: _, ...metadata } = (read.metadata ?? {}) as Plain
    stored = deepFreeze({ ...read, metadata: { ...metadata, ...(managedFields === undefined ? {} : { managedFields }) } })
    version++
  }

  const versions = ({ schema: other, apiVersion }: WriteOptions): KindVersions => ({
    schema: other ?? schema,
    apiVersion: apiVersion ?? storedVersion,
    schemaFor: options.schemaFor,
    convert: options.convert,
  })

  const attempt = (manager: string, config: Plain, write: WriteOptions = {}): ApplyOutcome => {
    writes++
    const apiVersion = write.apiVersion ?? storedVersion
    const metadata = { name: 'a', ...(config['metadata'] as Plain | undefined) }
    const live = stored !== undefined && apiVersion !== storedVersion ? options.convert?.(stored, apiVersion, storedVersion) : stored
    return applyWithAndWithoutShortcut({
      ...versions(write),
      kind,
      live,
      liveManagedFields: stored && (stored['metadata'] as { managedFields?: readonly ManagedFieldsEntry[] }).managedFields,
      config: { apiVersion, kind, ...config, metadata },
      manager,
      force: write.force ?? false,
      subresource: write.subresource ?? '',
      time: time(),
      reset: write.reset,
      clientSideApply: options.clientSideApply,
    })
  }

  const update = (manager: string, next: Plain, write: WriteOptions = {}): void => {
    writes++
    const sent = (next['metadata'] as { managedFields?: readonly ManagedFieldsEntry[] } | undefined)?.managedFields
    const object = readValue(schema, structuredClone(next)).value as Plain
    const managedFields = trackUpdate({
      ...versions(write),
      live: stored,
      next: object,
      liveManagedFields: stored && (stored['metadata'] as { managedFields?: readonly ManagedFieldsEntry[] }).managedFields,
      sentManagedFields: sent,
      manager,
      subresource: write.subresource ?? '',
      time: time(),
      reset: write.reset,
    })
    store(object, managedFields)
  }

  return {
    apply: (manager, config, write) => {
      const outcome = attempt(manager, config, write)
      const apiVersion = write?.apiVersion ?? storedVersion
      store(
        apiVersion === storedVersion ? outcome.object : (options.convert?.(outcome.object, storedVersion, apiVersion) ?? outcome.object),
        outcome.managedFields,
      )
    },
    preview: attempt,
    failure: (manager, config, write) => {
      try {
        attempt(manager, config, write)
      } catch (thrown) {
        if (thrown instanceof PatchError) return thrown
        throw thrown
      }
      throw new Error('the apply did not fail')
    },
    put: (manager, object, write) => {
      const metadata = { name: 'a', ...(object['metadata'] as Plain | undefined) }
      update(manager, { apiVersion: storedVersion, kind, ...object, metadata }, write)
    },
    merge: (manager, patch, write) => update(manager, mergePatch((stored ?? {}) as never, patch as never) as Plain, write),
    object: () => {
      const { apiVersion: _a, kind: _k, metadata, ...rest } = (stored ?? {}) as { [name: string]: unknown }
      const { name: _n, managedFields: _m, ...meta } = (metadata ?? {}) as { [name: string]: unknown }
      return Object.keys(meta).length === 0 ? rest : { metadata: meta, ...rest }
    },
    owners: () =>
      entriesOf(stored).map(({ manager, operation, subresource, fieldsV1 }) =>
        [manager, operation, ...(subresource === undefined ? [] : [subresource]), JSON.stringify(fieldsV1)].join(' '),
      ),
    entries: () => entriesOf(stored),
    version: () => version,
    stored: () => stored,
  }
}

/** Asserts that apply with and without the shortcut for a repeated configuration agree. */
function applyWithAndWithoutShortcut(input: ApplyInput): ApplyOutcome {
  const outcome = attemptOf(() => apply(input))
  assert.deepEqual(
    outcome,
    attemptOf(() => applyWithoutShortcut(input)),
  )
  if (outcome instanceof Error) throw outcome
  return outcome
}

function attemptOf(act: () => ApplyOutcome): ApplyOutcome | PatchError {
  try {
    return act()
  } catch (thrown) {
    if (thrown instanceof PatchError) return thrown
    throw thrown
  }
}

function withoutEntries(object: { readonly metadata?: unknown }): unknown {
  const { managedFields: _, ...metadata } = (object.metadata ?? {}) as Plain
  return { ...object, metadata }
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}
