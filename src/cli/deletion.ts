// How objects are deleted: what becomes of what they own, how long they have to end, and whether that is waited for.

import { own } from '../base/own.js'
import { durationMs, type FlagTable, UsageError } from './flags.js'

const policies = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const

export const deletionFlags = {
  cascade: {
    kind: 'text',
    bare: 'background',
    initial: 'background',
    help: 'what becomes of what they own: background, foreground (goes first) or orphan (stays)',
  },
  timeout: { kind: 'text', initial: '0', help: 'how long to wait until they are gone; 0: as long as it takes' },
  'grace-period': { kind: 'number', initial: '-1', help: 'seconds that they have to end; -1: as they say themselves' },
  force: { kind: 'switch', help: 'with a grace period of 0: at once, whoever still works on them' },
} as const satisfies FlagTable

export interface DeletionFlags {
  readonly cascade: string | undefined
  readonly timeout: string | undefined
  readonly 'grace-period': number | undefined
  readonly force: boolean
  readonly now?: boolean
}

export interface Deletion {
  /** For the server. */
  readonly options: { readonly propagationPolicy: 'Background' | 'Foreground' | 'Orphan'; readonly gracePeriodSeconds?: number }
  /** When to stop waiting, from now on; undefined: never. */
  readonly deadline: number | undefined
}

export function deletionOf(flags: DeletionFlags): Deletion {
  const { cascade = '' } = flags
  const word = cascade === 'true' ? 'background' : cascade === 'false' ? 'orphan' : cascade
  const propagationPolicy = own<'Background' | 'Foreground' | 'Orphan'>(policies, word)
  if (propagationPolicy === undefined)
    throw new UsageError(`invalid cascade value (${cascade}). Must be "background", "foreground", or "orphan"`)
  const grace = graceOf(flags)
  const timeoutMs = durationMs('timeout', flags.timeout ?? '0')
  return {
    options: { propagationPolicy, ...(grace >= 0 ? { gracePeriodSeconds: grace } : {}) },
    deadline: timeoutMs > 0 ? Date.now() + timeoutMs : undefined,
  }
}

/** In seconds; less than 0: as the objects say. At once is only what is forced. */
function graceOf({ now = false, force, 'grace-period': given = -1 }: DeletionFlags): number {
  if (now && given !== -1) throw new UsageError('--now and --grace-period cannot be specified together')
  if (force && given > 0) throw new UsageError('--force and --grace-period greater than 0 cannot be specified together')
  if (now) return 1
  if (force) return 0
  return given === 0 ? 1 : given
}

/** Of the object that is going, or of the one that a Status tells of. */
export function uidOf(answer: object): string {
  const { metadata, details } = answer as { readonly metadata?: { readonly uid?: string }; readonly details?: { readonly uid?: string } }
  return metadata?.uid ?? details?.uid ?? ''
}
