// Deletion of objects: flags (propagation policy, grace period, timeout), delete and wait.

import { own } from '@cluster-apiserver/api/base/own-property.js'
import { isNotFound } from '@cluster-apiserver/client/errors.js'
import type { CommandContext } from '../command-line/command.js'
import { durationMs, type FlagTable, UsageError } from '../command-line/flags.js'
import type { NamedObject } from './named-object.js'
import { isForbiddenOrUnsupported, waitUntilDeleted } from './wait-until.js'

const propagationPolicies = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const

export const deletionFlags = {
  cascade: {
    kind: 'text',
    bare: 'background',
    initial: 'background',
    help: 'deletion of dependents: background, foreground or orphan',
  },
  timeout: { kind: 'text', initial: '0', help: 'timeout until the objects are deleted; 0: none' },
  'grace-period': { kind: 'number', initial: '-1', help: 'grace period in seconds; -1: default of the object' },
  force: { kind: 'switch', help: 'delete immediately, with a grace period of 0' },
} as const satisfies FlagTable

interface DeletionFlags {
  readonly cascade: string | undefined
  readonly timeout: string | undefined
  readonly 'grace-period': number | undefined
  readonly force: boolean
  readonly now?: boolean
}

export interface Deletion {
  readonly options: { readonly propagationPolicy: 'Background' | 'Foreground' | 'Orphan'; readonly gracePeriodSeconds?: number }
  readonly deadline: number | undefined
}

export function readDeletionFlags(flags: DeletionFlags): Deletion {
  const { cascade = '' } = flags
  const cascadeName = cascade === 'true' ? 'background' : cascade === 'false' ? 'orphan' : cascade
  const propagationPolicy = own<'Background' | 'Foreground' | 'Orphan'>(propagationPolicies, cascadeName)
  if (propagationPolicy === undefined)
    throw new UsageError(`invalid cascade value (${cascade}). Must be "background", "foreground", or "orphan"`)
  const graceSeconds = graceOf(flags)
  const timeoutMs = durationMs('timeout', flags.timeout ?? '0')
  return {
    options: { propagationPolicy, ...(graceSeconds >= 0 ? { gracePeriodSeconds: graceSeconds } : {}) },
    deadline: timeoutMs > 0 ? Date.now() + timeoutMs : undefined,
  }
}

/** Grace period in seconds; negative: default of the object. Without --force, 0 becomes 1. */
function graceOf({ now = false, force, 'grace-period': seconds = -1 }: DeletionFlags): number {
  if (now && seconds !== -1) throw new UsageError('--now and --grace-period cannot be specified together')
  if (force && seconds > 0) throw new UsageError('--force and --grace-period greater than 0 cannot be specified together')
  if (now) return 1
  if (force) return 0
  return seconds === 0 ? 1 : seconds
}

export function uidOf(response: object): string {
  const { metadata, details } = response as { readonly metadata?: { readonly uid?: string }; readonly details?: { readonly uid?: string } }
  return metadata?.uid ?? details?.uid ?? ''
}

export async function deleteAndWait(
  target: NamedObject,
  { options, deadline }: Deletion,
  { signal, io }: Pick<CommandContext, 'signal' | 'io'>,
): Promise<void> {
  const { collection, name } = target
  const live = await collection.find(name)
  await collection.delete(name, options).catch((thrown: unknown) => {
    if (!isNotFound(thrown)) throw thrown
  })
  await waitUntilDeleted(target, { uid: live?.metadata?.uid ?? '', deadline, signal, io }).catch((thrown: unknown) => {
    // Without permission to read, do not wait: the caller creates the object again.
    if (!isForbiddenOrUnsupported(thrown)) throw thrown
  })
}
