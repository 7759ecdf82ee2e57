// Bootstrap tokens, with which a new node introduces itself: `abcdef.0123456789abcdef`, of which the first part names the secret that knows the rest.

import { timingSafeEqual } from 'node:crypto'
import type { Identity } from '../api/identity.js'
import type { TokenObjects } from './account-tokens.js'
import { meantHere, type TokenAuthenticator } from './bearer-tokens.js'
import { readBootstrapSecret, secretNameOf } from './bootstrap-secret.js'
import { withAuthenticated } from './token-list.js'

export interface BootstrapOptions {
  readonly identity: Identity
  readonly objects: TokenObjects
  /** By which names this server is meant. */
  readonly audiences: readonly string[]
}

const form = /^([a-z0-9]{6})\.([a-z0-9]{16})$/

/** Nobody is told why a token is no good: whether there is a secret of that name is a secret, too. */
export function bootstrapTokens({ identity, objects, audiences: own }: BootstrapOptions): TokenAuthenticator {
  const namespace = identity.prefixed('system')
  return (token) => {
    const [, id, secret] = form.exec(token.text) ?? []
    if (id === undefined || secret === undefined) return undefined
    const find = () => objects.find('secrets', namespace, secretNameOf(id))
    const stored = find()
    const kept = stored && readBootstrapSecret(identity, objects.decode('secrets', stored))
    if (stored === undefined || kept === undefined || !isSame(kept.secret, secret) || kept.id !== id) return undefined
    const { expiresMs, groups } = kept
    if (expiresMs <= token.now || !kept.authenticates || groups === undefined) return undefined
    const audiences = meantHere(own, token)
    return (
      audiences && {
        user: { name: `system:bootstrap:${id}`, uid: '', groups: withAuthenticated(groups), extra: {} },
        audiences,
        holds: (now) => expiresMs > now && find()?.revision === stored.revision,
      }
    )
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
