// Who is asked whether somebody may, in the order of `--authorization-mode`. Masters may before anybody is asked.

import { setTimeout } from 'node:timers/promises'
import type { CatalogSource } from '../api/catalog-source.js'
import { abacAuthorizer } from '../auth/abac/abac-authorizer.js'
import type { Authorizer } from '../auth/authorize.js'
import { everybody, masters, nobody } from '../auth/fixed-authorizers.js'
import { nodeAuthorizer } from '../auth/node/node-authorizer.js'
import { NodePods } from '../auth/node/node-pods.js'
import { rbacAuthorizer } from '../auth/rbac/rbac-authorizer.js'
import type { RbacIndex } from '../auth/rbac/rbac-index.js'
import { webhookAuthorizer } from '../auth/webhook-authorizer.js'
import { steadyClock } from '../base/clock.js'
import type { Closing } from '../base/closing.js'
import { nodeRules } from '../controllers/bootstrap/access.js'
import { JsonEndpoint } from '../net/json-endpoint.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { AuthorizationMode, Settings } from './options/settings.js'
import type { Outbound } from './outbound.js'

export interface AuthorizationParts {
  readonly rbac: RbacIndex
  readonly store: ObjectStore
  readonly catalogs: CatalogSource
  readonly closing: Closing
  readonly outbound: Outbound
}

export function makeAuthorizers(settings: Settings, parts: AuthorizationParts): readonly Authorizer[] {
  const { identity, gates, authorizationModes, authorization } = settings
  const { rbac, store, catalogs } = parts
  const byMode: { readonly [Mode in AuthorizationMode]: () => readonly Authorizer[] } = {
    AlwaysAllow: () => [everybody],
    AlwaysDeny: () => [nobody],
    ABAC: () => [abacAuthorizer(authorization.policies)],
    Webhook: () => (authorization.webhook === undefined ? [] : [askedOver(authorization.webhook, parts)]),
    RBAC: () => [rbacAuthorizer(rbac, identity)],
    Node: () => [nodeAuthorizer({ identity, pods: new NodePods(store, catalogs.current), rules: nodeRules(identity, gates) })],
  }
  return [masters, ...authorizationModes.flatMap((mode) => byMode[mode]())]
}

/** How long an answer may take; the reference waits as long. */
const webhookMs = 30_000

function askedOver(
  { connection, version, acceptedTtlMs, refusedTtlMs }: NonNullable<Settings['authorization']['webhook']>,
  { catalogs, closing, outbound }: AuthorizationParts,
): Authorizer {
  const endpoint = new JsonEndpoint({ ...connection, tally: outbound.webhooks, dial: outbound.controlPlane }, { timeoutMs: webhookMs })
  closing.add(() => endpoint.close())
  const { identity } = catalogs.current
  const post = (document: unknown) => endpoint.post(document)
  const sleep = (ms: number) => setTimeout(ms, undefined, { ref: false })
  return webhookAuthorizer({ identity, version, acceptedTtlMs, refusedTtlMs, clock: steadyClock, post, sleep })
}
