// A bootstrap token as it is kept: a secret of the system namespace that says what the token is for, and until when.

import type { Identity } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import { sortTexts } from '../base/text-order.js'
import { decodeText } from '../resources/core/base64-text.js'

const namePrefix = 'bootstrap-token-'
export const secretNameOf = (id: string): string => `${namePrefix}${id}`
export const isBootstrapSecretName = (name: string): boolean => name.startsWith(namePrefix)

export interface BootstrapSecret {
  readonly id: string
  readonly secret: string
  /** For which of its uses it is meant. */
  readonly authenticates: boolean
  readonly signs: boolean
  /** Milliseconds since 1970; a time that cannot be read is long ago. */
  readonly expiresMs: number
  /** Undefined where one of them is none that a token may have. */
  readonly groups: readonly string[] | undefined
}

interface Secret extends ApiObject {
  readonly type?: string
  readonly data?: { readonly [key: string]: string }
}

/** Undefined for a secret that is no bootstrap token, and for one that is going. */
export function readBootstrapSecret(identity: Identity, object: ApiObject): BootstrapSecret | undefined {
  const { type, data, metadata } = object as Secret
  if (type !== identity.label('token', 'bootstrap') || metadata?.deletionTimestamp !== undefined) return undefined
  const read = (key: string): string => decodeText(data?.[key] ?? '')
  return {
    id: read('token-id'),
    secret: read('token-secret'),
    authenticates: read('usage-bootstrap-authentication') === 'true',
    signs: read('usage-bootstrap-signing') === 'true',
    expiresMs: expiryOf(read('expiration')),
    groups: groupsOf(read('auth-extra-groups')),
  }
}

const timeForm = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

function expiryOf(text: string): number {
  if (text === '') return Number.POSITIVE_INFINITY
  const ms = timeForm.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? 0 : ms
}

const defaultGroup = 'system:bootstrappers'
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

function groupsOf(extra: string): readonly string[] | undefined {
  const further = extra === '' ? [] : extra.split(',')
  return further.every((group) => groupForm.test(group)) ? sortTexts([...new Set([defaultGroup, ...further])]) : undefined
}
