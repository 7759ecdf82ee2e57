// Who is believed: the authenticators in the order in which they are asked, and who issues tokens.

import { setTimeout } from 'node:timers/promises'
import type { CatalogSource } from '../api/catalog-source.js'
import type { TokenObjects } from '../auth/account-tokens.js'
import type { Authenticator } from '../auth/authenticate.js'
import { bearerTokens, type TokenAuthenticator, TokenDigests } from '../auth/bearer-tokens.js'
import { bootstrapTokens } from '../auth/bootstrap-tokens.js'
import { clientCertificates } from '../auth/client-certificates.js'
import { requestHeaders } from '../auth/request-headers.js'
import { serviceAccountTokens } from '../auth/service-account-tokens.js'
import { AuthenticationTallies } from '../auth/tallies.js'
import { TokenIssuer } from '../auth/token-issuer.js'
import { TokenList } from '../auth/token-list.js'
import { webhookTokens } from '../auth/webhook-tokens.js'
import { webSocketTokens } from '../auth/websocket-tokens.js'
import { systemClock } from '../base/clock.js'
import type { Closing } from '../base/closing.js'
import type { Logger } from '../base/logger.js'
import { JsonEndpoint } from '../net/json-endpoint.js'
import { leanObject } from '../objects/lean-object.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { AdminCredential } from './client-configuration.js'
import type { ClientTrust } from './client-trust.js'
import { makeOidc } from './make-oidc.js'
import type { AuthenticationSettings, Settings } from './options/settings.js'
import type { Outbound } from './outbound.js'
import type { WriteFile } from './private-files.js'
import { tokenKeys } from './service-account-keys.js'

export interface AuthenticationParts {
  readonly store: ObjectStore
  readonly catalogs: CatalogSource
  readonly credential: AdminCredential
  readonly trust: ClientTrust
  readonly logger: Logger
  readonly closing: Closing
  /** How files are written that a start makes; left out: they are durable at once. */
  readonly writeFile?: WriteFile
  readonly outbound: Outbound
}

export interface Identification {
  readonly authenticators: readonly Authenticator[]
  readonly issuer: TokenIssuer
  readonly tallies: AuthenticationTallies
  /** The tokens of the file and of the administrator. */
  readonly list: TokenList
}

export function makeAuthenticators(
  settings: Settings,
  { store, catalogs, credential, trust, logger, closing, writeFile, outbound }: AuthenticationParts,
): Identification {
  const { identity, authentication, dataDir, tokens, tls } = settings
  const { serviceAccounts } = authentication
  const issuers = serviceAccounts.issuers.length > 0 ? serviceAccounts.issuers : [`https://${identity.self}.default.svc.cluster.local`]
  const audiences = authentication.audiences.length > 0 ? authentication.audiences : issuers
  const { signingKey, keys } = tokenKeys(serviceAccounts, { dataDir, tlsKey: tls.key, write: writeFile })
  const objects = tokenObjects(store, catalogs)
  const digests = new TokenDigests()
  const tallies = new AuthenticationTallies()
  const list = new TokenList(new Map([...tokens, [credential.token, credential.user]]), { digests, audiences })
  const tokensFound = bearerTokens({
    digests,
    audiences,
    clock: systemClock,
    tally: tallies.tokens,
    authenticators: [
      list.authenticate,
      serviceAccountTokens({
        identity,
        issuers,
        keys,
        audiences,
        lookup: serviceAccounts.lookup,
        objects,
        counters: tallies.accounts,
      }),
      ...(authentication.bootstrapTokens ? [bootstrapTokens({ identity, objects, audiences })] : []),
      ...(authentication.oidc === undefined ? [] : [makeOidc(authentication.oidc, audiences, { logger, dial: outbound.controlPlane })]),
      ...(authentication.tokenWebhook === undefined
        ? []
        : [askedOver(settings, authentication.tokenWebhook, audiences, { closing, outbound })]),
    ],
  })
  return {
    tallies,
    list,
    authenticators: [
      ...proxied(settings, trust),
      clientCertificates(trust.clients, { clock: systemClock, remaining: tallies.certificates }),
      tokensFound,
      webSocketTokens(identity, tokensFound),
    ],
    issuer: new TokenIssuer({
      identity,
      issuers,
      signingKey,
      keys,
      audiences,
      maxSeconds: Math.floor(serviceAccounts.maxTokenMs / 1000),
      extends: serviceAccounts.extendTokens,
    }),
  }
}

const proxied = ({ authentication: { requestHeader } }: Settings, { proxies }: ClientTrust): readonly Authenticator[] =>
  requestHeader === undefined || proxies === undefined ? [] : [requestHeaders(proxies, { clock: systemClock, ...requestHeader })]

/** How long an answer may take. */
const webhookMs = 30_000

function askedOver(
  { identity }: Settings,
  { connection, ...rest }: NonNullable<AuthenticationSettings['tokenWebhook']>,
  audiences: readonly string[],
  { closing, outbound }: Pick<AuthenticationParts, 'closing' | 'outbound'>,
): TokenAuthenticator {
  const endpoint = new JsonEndpoint({ ...connection, tally: outbound.webhooks, dial: outbound.controlPlane }, { timeoutMs: webhookMs })
  closing.add(() => endpoint.close())
  const sleep = (ms: number) => setTimeout(ms, undefined, { ref: false })
  return webhookTokens({ identity, audiences, ...rest, post: (document) => endpoint.post(document), sleep })
}

/** They are asked for with every request of their token, and so stay in the cache of objects; their labels are nobody's business. */
export function tokenObjects(store: ObjectStore, catalogs: CatalogSource): TokenObjects {
  return {
    find: (name, namespace, object) => {
      const resource = catalogs.current.find('', 'v1', name)
      return resource && store.readOften({ resource, namespace, name: object })
    },
    decode: (name, stored) => {
      const resource = catalogs.current.find('', 'v1', name)
      if (resource === undefined) throw new Error(`${name} are not served`)
      return leanObject(stored, resource)
    },
  }
}
