// The flags of authentication as settings, each method checked for what it cannot do without.

import { resolve } from 'node:path'
import type { EndpointSettings } from '../../net/json-endpoint.js'
import { readConnection } from '../connection-file.js'
import type { ReadText } from './file-texts.js'
import { flagError } from './flag.js'
import type { FlagName, FlagValues } from './flag-table.js'
import type { SettingsInput } from './read-settings.js'
import type { AuthenticationSettings, OidcSettings, RequestHeaderSettings, ServiceAccountSettings } from './settings.js'

export function readAuthentication(input: SettingsInput): AuthenticationSettings {
  const { values, files } = input
  return {
    clientCa: contentOf(files, values['client-ca-file']),
    clientCaFile: values['client-ca-file'] && resolve(values['client-ca-file']),
    bootstrapTokens: values['enable-bootstrap-token-auth'],
    audiences: values['api-audiences'],
    serviceAccounts: readServiceAccounts(input),
    oidc: readOidc(input),
    tokenWebhook: readTokenWebhook(input),
    requestHeader: readRequestHeader(input),
  }
}

const contentOf = (files: ReadonlyMap<string, string>, path: string | undefined): string | undefined =>
  path === undefined ? undefined : files.get(path)

function readServiceAccounts({ values, files }: SettingsInput): ServiceAccountSettings {
  for (const issuer of values['service-account-issuer']) {
    // An issuer may be any word; one with a colon is taken for an address, and must be one.
    if (issuer.includes(':') && !URL.canParse(issuer)) throw flagError('service-account-issuer', `${JSON.stringify(issuer)} is not a URL`)
  }
  const maxTokenMs = values['service-account-max-token-expiration']
  if (maxTokenMs !== 0 && (maxTokenMs < leastMaxTokenMs || maxTokenMs > mostMaxTokenMs))
    throw flagError('service-account-max-token-expiration', 'must be between 1 hour and 2^32 seconds')
  const jwksUri = values['service-account-jwks-uri']
  if (jwksUri !== undefined) requireHttps('service-account-jwks-uri', jwksUri)
  return {
    issuers: values['service-account-issuer'],
    signingKey: contentOf(files, values['service-account-signing-key-file']),
    keys: values['service-account-key-file'].map((path) => files.get(path) ?? ''),
    lookup: values['service-account-lookup'],
    maxTokenMs,
    extendTokens: values['service-account-extend-token-expiration'],
    jwksUri,
  }
}

/** As in the reference: programs renew their tokens in time only where these are not too short. */
const leastMaxTokenMs = 3_600_000
const mostMaxTokenMs = 2 ** 32 * 1000

function requireHttps(flag: FlagName, url: string): void {
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw flagError(flag, `${JSON.stringify(url)} is not a URL that begins with https://`)
}

function readOidc({ values, files, given }: SettingsInput): OidcSettings | undefined {
  const issuer = values['oidc-issuer-url']
  const clientId = values['oidc-client-id']
  if (issuer === undefined || clientId === undefined) {
    const first = [...given].find((flag) => flag.startsWith('oidc-'))
    if (first === undefined) return undefined
    throw flagError(first, `needs ${issuer === undefined ? '--oidc-issuer-url' : '--oidc-client-id'}, too`)
  }
  requireHttps('oidc-issuer-url', issuer)
  return {
    issuer,
    clientId,
    ca: contentOf(files, values['oidc-ca-file']),
    usernameClaim: values['oidc-username-claim'],
    usernamePrefix: usernamePrefix(values, issuer),
    groupsClaim: values['oidc-groups-claim'],
    groupsPrefix: values['oidc-groups-prefix'] ?? '',
    requiredClaims: Object.fromEntries(values['oidc-required-claim'].map(readClaim)),
    signingAlgorithms: values['oidc-signing-algs'],
  }
}

/** Names from an issuer are told apart from others by its URL, but for mail addresses, which are unique already. */
function usernamePrefix(values: FlagValues, issuer: string): string {
  const prefix = values['oidc-username-prefix']
  if (prefix === '-') return ''
  if (prefix !== undefined && prefix !== '') return prefix
  return values['oidc-username-claim'] === 'email' ? '' : `${issuer}#`
}

function readClaim(text: string): readonly [claim: string, value: string] {
  const at = text.indexOf('=')
  if (at < 1) throw flagError('oidc-required-claim', `${JSON.stringify(text)} is not written claim=value`)
  return [text.slice(0, at), text.slice(at + 1)]
}

function readTokenWebhook({ values, files, readText }: SettingsInput): AuthenticationSettings['tokenWebhook'] {
  const configFile = values['authentication-token-webhook-config-file']
  if (configFile === undefined) return undefined
  const ttlMs = values['authentication-token-webhook-cache-ttl']
  return {
    configFile,
    connection: connectionIn(configFile, files.get(configFile) ?? '', readText),
    version: values['authentication-token-webhook-version'],
    acceptedTtlMs: ttlMs,
    refusedTtlMs: ttlMs,
  }
}

function connectionIn(path: string, text: string, readText: ReadText): EndpointSettings {
  try {
    return readConnection(path, text, readText)
  } catch (error) {
    throw flagError('authentication-token-webhook-config-file', `${path}: ${(error as Error).message}`)
  }
}

function readRequestHeader({ values, files }: SettingsInput): RequestHeaderSettings | undefined {
  const caFile = values['requestheader-client-ca-file']
  const ca = contentOf(files, caFile)
  if (caFile === undefined || ca === undefined) return undefined
  if (values['requestheader-username-headers'].length === 0) {
    throw flagError('requestheader-client-ca-file', 'needs --requestheader-username-headers, too')
  }
  return {
    ca,
    caFile: resolve(caFile),
    allowedNames: values['requestheader-allowed-names'],
    usernameHeaders: values['requestheader-username-headers'],
    groupHeaders: values['requestheader-group-headers'],
    extraHeaderPrefixes: values['requestheader-extra-headers-prefix'],
  }
}
