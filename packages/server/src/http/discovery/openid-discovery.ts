// By which keys the tokens of this server are known, for whoever wants to check one without asking: the documents of OpenID discovery.

import type { TokenIssuer } from '../auth/token-issuer.js'
import { checkProduced } from '../codec/negotiation.js'
import type { Exchange } from './exchange.js'
import type { Answered } from './pipeline.js'
import { writeHead } from './respond.js'
import { couldNotFind } from './target.js'

export const openIdPaths = ['/.well-known/openid-configuration', '/openid/v1/jwks'] as const

export interface OpenIdSite {
  readonly issuer: TokenIssuer
  /** Where the keys are published; undefined: here. */
  readonly keysAddress: string | undefined
  /** Host and port under which clients reach the server. */
  readonly address: () => string
}

/** An issuer that is no address is looked up by nobody. */
export const hasOpenId = (issuer: string): boolean => URL.canParse(issuer) && new URL(issuer).protocol === 'https:'

const keysType = 'application/jwk-set+json'
const contentTypes: { readonly [path: string]: string } = { [openIdPaths[0]]: 'application/json', [openIdPaths[1]]: keysType }

/** `path`: without a slash at its end. False where it is another one. */
export async function serveOpenId(site: OpenIdSite, exchange: Exchange, path: string): Promise<Answered> {
  const contentType = contentTypes[path]
  if (contentType === undefined) {
    if (openIdPaths.some((known) => path.startsWith(`${known}/`))) throw couldNotFind()
    return false
  }
  checkProduced(exchange.request.headers.accept || '*/*', [contentType])
  return answer(exchange, contentType, contentType === keysType ? await site.issuer.keys() : configurationOf(site))
}

const configurationOf = ({ issuer, keysAddress, address }: OpenIdSite): string =>
  JSON.stringify({
    issuer: issuer.issuer,
    jwks_uri: keysAddress ?? `https://${address()}${openIdPaths[1]}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: issuer.algorithms,
  })

function answer(exchange: Exchange, contentType: string, text: string): Answered {
  const { auditId, response, info } = exchange
  if (response.headersSent || exchange.isGone) return true
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
