// OpenID Connect as the flags say: the rules for claims, and how the issuer is reached.

import type { TokenAuthenticator } from '../auth/bearer-tokens.js'
import { oidcTokens } from '../auth/oidc.js'
import { distributedClaims } from '../auth/oidc-distributed.js'
import { OidcProvider } from '../auth/oidc-provider.js'
import { systemClock } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import { getText } from '../net/get-text.js'
import type { Dial } from '../net/tunnel.js'
import type { OidcSettings } from './options/settings.js'

/** An issuer that takes longer is down. A document of brackets alone that is longer would hold the event loop for longer than a piece of work. */
const limits = { timeoutMs: 5000, mostBytes: 64 << 10 }

export interface OidcParts {
  readonly logger: Logger
  /** The way to issuers; undefined: directly. */
  readonly dial: Dial | undefined
}

export function makeOidc(settings: OidcSettings, audiences: readonly string[], { logger, dial }: OidcParts): TokenAuthenticator {
  const { ca, signingAlgorithms } = settings
  const get = (url: string): Promise<string> => getText(url, { ca, dial, ...limits })
  const providerOf = (issuer: string): OidcProvider =>
    new OidcProvider({ issuer, get, algorithms: signingAlgorithms, clock: systemClock, logger })
  const expand = distributedClaims({
    rules: settings,
    clock: systemClock,
    get: (url, accessToken) =>
      getText(url, { ca, dial, ...limits, headers: accessToken === '' ? {} : { authorization: `Bearer ${accessToken}` } }),
    providerOf,
  })
  return oidcTokens({ rules: settings, provider: providerOf(settings.issuer), expand, audiences })
}
