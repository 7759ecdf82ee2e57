// Creates the authenticators and authorizers, in order, and the issuer of service account tokens.

import { setTimeout } from 'node:timers/promises'
import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { abacAuthorizer } from '../auth/abac/abac-authorizer.js'
import { AuthenticationCounters, type Authenticator } from '../auth/authenticate.js'
import { type Authorizer, allowMasters, alwaysAllow, alwaysDeny } from '../auth/authorize.js'
import { clientCertificates } from '../auth/client-certificates.js'
import { requestHeaders } from '../auth/front-proxy-request-headers.js'
import { nodeAuthorizer } from '../auth/node/node-authorizer.js'
import { NodePods } from '../auth/node/node-pods.js'
import { distributedClaims } from '../auth/oidc/oidc-distributed-claims.js'
import { OidcProvider } from '../auth/oidc/oidc-provider.js'
import { oidcTokens } from '../auth/oidc/oidc-tokens.js'
import { rbacAuthorizer } from '../auth/rbac/rbac-authorizer.js'
import type { RbacIndex } from '../auth/rbac/rbac-index.js'
import { serviceAccountTokens } from '../auth/service-account/bound-service-account-tokens.js'
import type { TokenObjects } from '../auth/service-account/legacy-service-account-tokens.js'
import { TokenIssuer } from '../auth/service-account/service-account-token-issuer.js'
import { bearerTokens, type TokenAuthenticator, TokenDigests } from '../auth/tokens/bearer-tokens.js'
import { bootstrapTokens } from '../auth/tokens/bootstrap-tokens.js'
import { StaticTokens } from '../auth/tokens/static-tokens.js'
import { webSocketTokens } from '../auth/tokens/websocket-tokens.js'
import { webhookTokens } from '../auth/webhooks/token-review-webhook.js'
import { webhookAuthorizer } from '../auth/webhooks/webhook-authorizer.js'
import { nodeRules } from '../controllers/bootstrap/rbac-defaults.js'
import { getDocument } from '../net/outbound/http-client.js'
import type { Dial } from '../net/outbound/http-connect-tunnel.js'
import { type EndpointResponse, type EndpointSettings, JsonEndpoint } from '../net/outbound/json-endpoint.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { AuthorizationMode, OidcSettings, Settings } from '../options/settings.js'
import type { AdminCredential } from './admin-kubeconfig.js'
import type { ClientTrust } from './certificates/client-ca.js'
import type { TokenKeys } from './certificates/service-account-keys.js'
import type { Outbound } from './outbound.js'
import type { StartContext } from './start-context.js'

interface AuthenticationParts {
  readonly tokenKeys: TokenKeys
  readonly store: ObjectStore
  readonly catalogs: CatalogSource
  readonly credential: AdminCredential
  readonly trust: ClientTrust
  readonly outbound: Outbound
}

interface CreatedAuthenticators {
  readonly authenticators: readonly Authenticator[]
  readonly issuer: TokenIssuer
  readonly counters: AuthenticationCounters
  readonly staticTokens: StaticTokens
}

export function createAuthenticators(
  { settings, logger, cleanup, time, testkit }: StartContext,
  { tokenKeys: { signingKey, keys }, store, catalogs, credential, trust, outbound }: AuthenticationParts,
): CreatedAuthenticators {
  const clock = time.system
  const { identity, authentication, tokens } = settings
  const { serviceAccounts } = authentication
  const issuers = serviceAccounts.issuers.length > 0 ? serviceAccounts.issuers : [`https://${identity.self}.default.svc.cluster.local`]
  const audiences = authentication.audiences.length > 0 ? authentication.audiences : issuers
  const objects = tokenObjects(store, catalogs)
  const digests = new TokenDigests()
  const counters = new AuthenticationCounters()
  const staticTokens = new StaticTokens(new Map([...tokens, [credential.token, credential.user]]), { digests, audiences })
  const tokenAuthenticator = bearerTokens({
    digests,
    audiences,
    clock,
    counter: counters.tokens,
    authenticators: [
      staticTokens.authenticate,
      serviceAccountTokens({
        identity,
        issuers,
        keys,
        audiences,
        lookup: serviceAccounts.lookup,
        objects,
        counters: counters.accounts,
      }),
      ...(authentication.bootstrapTokens ? [bootstrapTokens({ identity, objects, audiences })] : []),
      ...(authentication.oidc === undefined
        ? []
        : [createOidc(authentication.oidc, audiences, { clock, logger, dial: outbound.controlPlane })]),
      ...(authentication.tokenWebhook === undefined
        ? []
        : [
            webhookTokens({
              identity,
              audiences,
              ...authentication.tokenWebhook,
              ...openWebhook('token', authentication.tokenWebhook.connection, { cleanup, outbound }),
            }),
          ]),
      ...(testkit === undefined ? [] : [testkit.webhooks.slots.tokenAuthenticator({ identity, audiences })]),
    ],
  })
  return {
    counters,
    staticTokens,
    authenticators: [
      ...requestHeaderAuthenticators(settings, trust, clock),
      clientCertificates(trust.clients, { clock, remaining: counters.certificates }),
      tokenAuthenticator,
      webSocketTokens(identity, tokenAuthenticator),
    ],
    issuer: new TokenIssuer({
      identity,
      issuers,
      signingKey,
      keys,
      audiences,
      maxSeconds: Math.floor(serviceAccounts.maxTokenMs / 1000),
      shouldExtendExpiration: serviceAccounts.extendTokens,
    }),
  }
}

const requestHeaderAuthenticators = (
  { authentication: { requestHeader } }: Settings,
  { proxies }: ClientTrust,
  clock: Clock,
): readonly Authenticator[] =>
  requestHeader === undefined || proxies === undefined ? [] : [requestHeaders(proxies, { clock, ...requestHeader })]

/** As in kube-apiserver. */
const webhookTimeoutMs = 30_000

function openWebhook(
  name: 'token' | 'authorization',
  connection: EndpointSettings,
  { cleanup, outbound }: Pick<StartContext, 'cleanup'> & Pick<AuthenticationParts, 'outbound'>,
) {
  const endpoint = new JsonEndpoint(
    { ...connection, counter: outbound.webhooks, dial: outbound.controlPlane },
    { timeoutMs: webhookTimeoutMs },
  )
  cleanup.add(() => endpoint.close())
  const sleep = (ms: number) => setTimeout(ms, undefined, { ref: false })
  const post = async (document: unknown): Promise<EndpointResponse> => {
    outbound.refuse?.(name, connection.url)
    return endpoint.post(document)
  }
  return { post, sleep }
}

/** The objects that service account tokens are bound to; cached, because every request with such a token reads them. */
function tokenObjects(store: ObjectStore, catalogs: CatalogSource): TokenObjects {
  return {
    find: (name, namespace, object) => {
      const resource = catalogs.current.find('', 'v1', name)
      return resource && store.readCached({ resource, namespace, name: object })
    },
    decode: (name, stored) => {
      const resource = catalogs.current.find('', 'v1', name)
      if (resource === undefined) throw new Error(`${name} are not served`)
      return stored.decode(resource)
    },
  }
}

/** Parsing a larger document would block the event loop for too long. */
const oidcLimits = { timeoutMs: 5000, maxBytes: 64 << 10 }

interface OidcParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly dial: Dial | undefined
}

function createOidc(settings: OidcSettings, audiences: readonly string[], { clock, logger, dial }: OidcParts): TokenAuthenticator {
  const { ca, signingAlgorithms } = settings
  const get = async (url: string, headers: { readonly [name: string]: string } = {}): Promise<string> => {
    const { status, body } = await getDocument({ url, headers, ca, dial, ...oidcLimits })
    if (status < 200 || status > 299) throw new Error(`GET ${url} returned status ${status}`)
    return body.toString('utf8')
  }
  const providerOf = (issuer: string): OidcProvider => new OidcProvider({ issuer, get, algorithms: signingAlgorithms, clock, logger })
  const expand = distributedClaims({
    rules: settings,
    clock,
    get: (url, accessToken) => get(url, accessToken === '' ? {} : { authorization: `Bearer ${accessToken}` }),
    providerOf,
  })
  return oidcTokens({ rules: settings, provider: providerOf(settings.issuer), expand, audiences })
}

interface AuthorizationParts {
  readonly rbac: RbacIndex
  readonly store: ObjectStore
  readonly catalogs: CatalogSource
  readonly outbound: Outbound
}

export function createAuthorizers({ settings, cleanup, time, testkit }: StartContext, parts: AuthorizationParts): readonly Authorizer[] {
  const { identity, gates, authorizationModes, authorization } = settings
  const { rbac, store, catalogs, outbound } = parts
  const byMode: { readonly [Mode in AuthorizationMode]: () => readonly Authorizer[] } = {
    AlwaysAllow: () => [alwaysAllow],
    AlwaysDeny: () => [alwaysDeny],
    ABAC: () => [abacAuthorizer(authorization.policies)],
    Webhook: () =>
      authorization.webhook === undefined
        ? []
        : [
            webhookAuthorizer({
              identity,
              clock: time.steady,
              ...authorization.webhook,
              ...openWebhook('authorization', authorization.webhook.connection, { cleanup, outbound }),
            }),
          ],
    RBAC: () => [rbacAuthorizer(rbac, identity)],
    Node: () => [nodeAuthorizer({ identity, pods: new NodePods(store, catalogs.current), rules: nodeRules(identity, gates) })],
  }
  return [
    allowMasters,
    ...(testkit === undefined ? [] : [testkit.webhooks.slots.authorizer(identity)]),
    ...authorizationModes.flatMap((mode) => byMode[mode]()),
  ]
}
