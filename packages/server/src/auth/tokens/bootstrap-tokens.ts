// Bootstrap tokens: `abcdef.0123456789abcdef`, token id and secret, stored in Secret `bootstrap-token-abcdef` of the system namespace.

import { timingSafeEqual } from 'node:crypto'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { decodeText } from '@cluster-apiserver/api/resources/core/base64-text.js'
import type { TokenObjects } from '../service-account/legacy-service-account-tokens.js'
import { matchingAudiences, type TokenAuthenticator } from './bearer-tokens.js'
import { withAuthenticated } from './static-tokens.js'

interface BootstrapOptions {
  readonly identity: Identity
  readonly objects: TokenObjects
  readonly audiences: readonly string[]
}

const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/

/** Rejects without a reason, so that clients cannot find out which Secrets exist. */
export function bootstrapTokens({ identity, objects, audiences: serverAudiences }: BootstrapOptions): TokenAuthenticator {
  const namespace = identity.prefixed('system')
  return async (token) => {
    const [, id, secret] = tokenPattern.exec(token.text) ?? []
    if (id === undefined || secret === undefined) return undefined
    const find = () => objects.find('secrets', namespace, secretNameOf(id))
    const stored = find()
    const bootstrapSecret = stored && readBootstrapSecret(identity, objects.decode('secrets', stored))
    if (stored === undefined || bootstrapSecret === undefined || !isSameSecret(bootstrapSecret.secret, secret) || bootstrapSecret.id !== id)
      return undefined
    const { expiresMs, groups } = bootstrapSecret
    if (expiresMs <= token.now || !bootstrapSecret.canAuthenticate || groups === undefined) return undefined
    const audiences = matchingAudiences(serverAudiences, token)
    return (
      audiences && {
        user: { name: `system:bootstrap:${id}`, uid: '', groups: withAuthenticated(groups), extra: {} },
        audiences,
        isValid: (now) => expiresMs > now && find()?.revision === stored.revision,
      }
    )
  }
}

function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const namePrefix = 'bootstrap-token-'
const secretNameOf = (id: string): string => `${namePrefix}${id}`
export const isBootstrapSecretName = (name: string): boolean => name.startsWith(namePrefix)

export interface BootstrapSecret {
  readonly id: string
  readonly secret: string
  readonly canAuthenticate: boolean
  readonly canSign: boolean
  /** Milliseconds since 1970; Infinity without an expiration, 0 if it cannot be parsed. */
  readonly expiresMs: number
  /** Undefined if `auth-extra-groups` has an invalid group. */
  readonly groups: readonly string[] | undefined
}

interface Secret extends ApiObject {
  readonly type?: string
  readonly data?: { readonly [key: string]: string }
}

export function readBootstrapSecret(identity: Identity, object: ApiObject): BootstrapSecret | undefined {
  const { type, data, metadata } = object as Secret
  if (type !== identity.label('token', 'bootstrap') || metadata?.deletionTimestamp !== undefined) return undefined
  const readKey = (key: string): string => decodeText(data?.[key] ?? '')
  return {
    id: readKey('token-id'),
    secret: readKey('token-secret'),
    canAuthenticate: readKey('usage-bootstrap-authentication') === 'true',
    canSign: readKey('usage-bootstrap-signing') === 'true',
    expiresMs: expiryOf(readKey('expiration')),
    groups: groupsOf(readKey('auth-extra-groups')),
  }
}

const rfc3339Pattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

function expiryOf(text: string): number {
  if (text === '') return Number.POSITIVE_INFINITY
  const ms = rfc3339Pattern.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? 0 : ms
}

const defaultGroup = 'system:bootstrappers'
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

function groupsOf(extra: string): readonly string[] | undefined {
  const extraGroups = extra === '' ? [] : extra.split(',')
  return extraGroups.every((group) => groupPattern.test(group)) ? sortTexts([...new Set([defaultGroup, ...extraGroups])]) : undefined
}
