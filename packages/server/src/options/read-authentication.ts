// Settings of authentication, authorization and certificate signing.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { type Policy, parsePolicies } from '../auth/abac/abac-authorizer.js'
import type { EndpointSettings } from '../net/outbound/json-endpoint.js'
import { isVersion1 } from '../net/tls/certificate-flaws.js'
import type { KeyPair } from '../net/tls/issue-certificate.js'
import { readPair } from './files/flag-files.js'
import { readConnection } from './files/webhook-kubeconfig.js'
import { flagError } from './flags/flag.js'
import type { FlagName, FlagValues } from './flags/flag-table.js'
import { prefixErrors, type SettingsInput } from './settings-input.js'

export function readAuthentication(input: SettingsInput) {
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

function readServiceAccounts({ values, files }: SettingsInput) {
  for (const issuer of values['service-account-issuer']) {
    // As in kube-apiserver, an issuer with a colon must be a URL.
    if (issuer.includes(':') && !URL.canParse(issuer)) throw flagError('service-account-issuer', `${JSON.stringify(issuer)} is not a URL`)
  }
  const maxTokenMs = values['service-account-max-token-expiration']
  if (maxTokenMs !== 0 && (maxTokenMs < minTokenLimitMs || maxTokenMs > maxTokenLimitMs))
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

/** As in kube-apiserver: clients could not renew tokens with a shorter lifetime in time. */
const minTokenLimitMs = 3_600_000
const maxTokenLimitMs = 2 ** 32 * 1000

function requireHttps(flag: FlagName, url: string): void {
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') throw flagError(flag, `${JSON.stringify(url)} is not an https:// URL`)
}

function readOidc({ values, files, given }: SettingsInput) {
  const issuer = values['oidc-issuer-url']
  const clientId = values['oidc-client-id']
  if (issuer === undefined || clientId === undefined) {
    const first = [...given].find((flag) => flag.startsWith('oidc-'))
    if (first === undefined) return undefined
    throw flagError(first, `needs ${issuer === undefined ? '--oidc-issuer-url' : '--oidc-client-id'}`)
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
    requiredClaims: Object.fromEntries<string>(values['oidc-required-claim'].map(readClaim)),
    signingAlgorithms: values['oidc-signing-algs'],
  }
}

/** Default prefix: the issuer's URL and `#`; none if the user name is an email address, which is unique already. */
function usernamePrefix(values: FlagValues, issuer: string): string {
  const prefix = values['oidc-username-prefix']
  if (prefix === '-') return ''
  if (prefix !== undefined && prefix !== '') return prefix
  return values['oidc-username-claim'] === 'email' ? '' : `${issuer}#`
}

function readClaim(text: string): readonly [claim: string, value: string] {
  const equals = text.indexOf('=')
  if (equals < 1) throw flagError('oidc-required-claim', `${JSON.stringify(text)} must have the format claim=value`)
  return [text.slice(0, equals), text.slice(equals + 1)]
}

function readTokenWebhook(input: SettingsInput) {
  const { values } = input
  const connection = readEndpoint(input, 'authentication-token-webhook-config-file')
  if (connection === undefined) return undefined
  const ttlMs = values['authentication-token-webhook-cache-ttl']
  return {
    connection,
    version: values['authentication-token-webhook-version'],
    acceptedTtlMs: ttlMs,
    refusedTtlMs: ttlMs,
  }
}

export function readEndpoint(
  { values, files, readText }: SettingsInput,
  flag: 'audit-webhook-config-file' | 'authentication-token-webhook-config-file' | 'authorization-webhook-config-file',
): EndpointSettings | undefined {
  const path = values[flag]
  return path === undefined ? undefined : prefixErrors(flag, () => readConnection(path, files.get(path) ?? '', readText), path)
}

function readRequestHeader({ values, files }: SettingsInput) {
  const caFile = values['requestheader-client-ca-file']
  const ca = contentOf(files, caFile)
  if (caFile === undefined || ca === undefined) return undefined
  if (values['requestheader-username-headers'].length === 0) {
    throw flagError('requestheader-client-ca-file', 'needs --requestheader-username-headers')
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

const requiredFiles = [
  { mode: 'ABAC', flag: 'authorization-policy-file' },
  { mode: 'Webhook', flag: 'authorization-webhook-config-file' },
] as const

export function readAuthorization(input: SettingsInput, identity: Identity) {
  const { values, files } = input
  const modes = values['authorization-mode']
  if (modes.length === 0) throw flagError('authorization-mode', 'at least one mode is required')
  const duplicate = modes.find((mode, index) => modes.indexOf(mode) !== index)
  if (duplicate !== undefined) throw flagError('authorization-mode', `${duplicate} is given twice`)
  for (const { mode, flag } of requiredFiles) {
    if (modes.includes(mode) && values[flag] === undefined) throw flagError('authorization-mode', `${mode} needs --${flag}`)
    if (!modes.includes(mode) && values[flag] !== undefined) throw flagError(flag, `needs ${mode} in --authorization-mode`)
  }
  const policyFile = values['authorization-policy-file']
  const parse = (path: string): readonly Policy[] =>
    prefixErrors('authorization-policy-file', () => parsePolicies(files.get(path) ?? '', identity), path)
  const policies = policyFile === undefined ? [] : parse(policyFile)
  return { authorizationModes: modes, authorization: { policies, webhook: readAuthorizationWebhook(input) } }
}

function readAuthorizationWebhook(input: SettingsInput) {
  const { values } = input
  const connection = readEndpoint(input, 'authorization-webhook-config-file')
  return (
    connection && {
      connection,
      version: values['authorization-webhook-version'],
      acceptedTtlMs: values['authorization-webhook-cache-authorized-ttl'],
      refusedTtlMs: values['authorization-webhook-cache-unauthorized-ttl'],
    }
  )
}

const signingKeyTypes: readonly (string | undefined)[] = ['ec', 'rsa', 'ed25519']

type FlagStem =
  | 'cluster-signing'
  | 'cluster-signing-cluster-apiserver-client'
  | 'cluster-signing-kubelet-client'
  | 'cluster-signing-kubelet-serving'

export function readSigning(input: SettingsInput) {
  const seconds = Math.floor(input.values['cluster-signing-duration'] / 1000)
  if (seconds <= 0) throw flagError('cluster-signing-duration', 'must be at least 1s')
  const sharedPair = readAuthorityPair(input, 'cluster-signing')
  const pairs = {
    client: readAuthorityPair(input, 'cluster-signing-cluster-apiserver-client'),
    nodeClient: readAuthorityPair(input, 'cluster-signing-kubelet-client'),
    nodeServing: readAuthorityPair(input, 'cluster-signing-kubelet-serving'),
  }
  if (Object.values(pairs).every((pair) => pair === undefined)) {
    return {
      pairs: sharedPair === undefined ? undefined : { client: sharedPair, nodeClient: sharedPair, nodeServing: sharedPair },
      seconds,
    }
  }
  if (sharedPair !== undefined) throw flagError('cluster-signing-cert-file', 'cannot be combined with the CA of one signer')
  return { pairs, seconds }
}

function readAuthorityPair(input: SettingsInput, stem: FlagStem): KeyPair | undefined {
  const [certFlag, keyFlag] = [`${stem}-cert-file`, `${stem}-key-file`] as const
  const filePair = readPair(input, certFlag, keyFlag)
  if (filePair === undefined) return undefined
  const { pair, files } = filePair
  const type = createPrivateKey(pair.key).asymmetricKeyType
  if (!signingKeyTypes.includes(type)) throw flagError(keyFlag, `certificates cannot be signed with a key of type ${type}`)
  if (!isAuthority(new X509Certificate(pair.cert)))
    throw flagError(certFlag, `the certificate in ${files.certFile} is not a CA certificate`)
  return pair
}

/** A certificate of version 1 has no extensions, so it cannot say whether it is a CA. */
const isAuthority = (certificate: X509Certificate): boolean => certificate.ca || isVersion1(certificate)
