// OpenID Connect discovery of the service account issuer: the configuration and the public keys (JWKS), to verify tokens offline.

import { checkProduced } from '@cluster-apiserver/api/codec/content-negotiation.js'
import type { TokenIssuer } from '../../auth/service-account/service-account-token-issuer.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { Handled } from '../pipeline/filter.js'
import { writeHead } from '../responses/send-response.js'
import { couldNotFind } from '../rest/target.js'

export const openIdPaths = ['/.well-known/openid-configuration', '/openid/v1/jwks'] as const

export interface OpenIdConfig {
  readonly issuer: TokenIssuer
  /** URL of the keys (--service-account-jwks-uri); undefined: the URL of this server. */
  readonly keysAddress: string | undefined
  readonly address: () => string
}

/** Discovery needs an issuer with an https URL. */
export const hasOpenIdDiscovery = (issuer: string): boolean => URL.canParse(issuer) && new URL(issuer).protocol === 'https:'

const keysType = 'application/jwk-set+json'
const contentTypes: { readonly [path: string]: string } = { [openIdPaths[0]]: 'application/json', [openIdPaths[1]]: keysType }

export async function serveOpenId(config: OpenIdConfig, exchange: Exchange, path: string): Promise<Handled> {
  const contentType = contentTypes[path]
  if (contentType === undefined) {
    if (openIdPaths.some((known) => path.startsWith(`${known}/`))) throw couldNotFind()
    return false
  }
  checkProduced(exchange.request.headers.accept || '*/*', [contentType])
  return sendDocument(exchange, contentType, contentType === keysType ? await config.issuer.keys() : configurationOf(config))
}

const configurationOf = ({ issuer, keysAddress, address }: OpenIdConfig): string =>
  JSON.stringify({
    issuer: issuer.issuer,
    jwks_uri: keysAddress ?? `https://${address()}${openIdPaths[1]}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: issuer.algorithms,
  })

function sendDocument(exchange: Exchange, contentType: string, text: string): Handled {
  const { auditId, response, info } = exchange
  if (response.headersSent || exchange.isClosed) return true
  const body = Buffer.from(text)
  exchange.sentBytes = body.length
  writeHead(exchange, 200, [
    ...['Audit-Id', auditId, 'Cache-Control', 'public, max-age=3600'],
    ...['Content-Type', contentType, 'Content-Length', String(body.length)],
  ])
  if (info.method === 'HEAD') response.end()
  else response.end(body)
  return true
}
