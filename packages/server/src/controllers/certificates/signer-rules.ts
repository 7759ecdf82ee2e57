// Rules of the built-in signers: which requests each accepts, and the extended key usage of its certificates.

import { isIP } from 'node:net'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { CertificateRequest } from '@cluster-apiserver/api/resources/certificates/certificate-der.js'

interface SignerRule {
  readonly use: 'client' | 'server'
  /** Returns the reason for a rejection. */
  problemOf(request: CertificateRequest, usages: readonly string[]): string | undefined
}

export const signerNames = (
  identity: Identity,
): { readonly client: string; readonly nodeClient: string; readonly nodeServing: string } => ({
  client: identity.label(identity.prefixed('apiserver-client')),
  nodeClient: identity.label(identity.prefixed('apiserver-client-kubelet')),
  nodeServing: identity.label('kubelet-serving'),
})

const nodesGroup = 'system:nodes'
const nodePrefix = 'system:node:'
/** Control characters could forge log lines. */
const unprintable = /\p{Cc}/u

export function signerRules(identity: Identity): ReadonlyMap<string, SignerRule> {
  const { client, nodeClient, nodeServing } = signerNames(identity)
  return new Map<string, SignerRule>([
    [client, { use: 'client', problemOf: (request, usages) => clientUsageProblem(usages) ?? nameProblem(request) }],
    [
      nodeClient,
      {
        use: 'client',
        problemOf: (request, usages) =>
          organizationProblem(request) ??
          clientHostProblem(request) ??
          otherNameProblem(request) ??
          nodeNameProblem(request) ??
          nodeUsageProblem('client auth', usages),
      },
    ],
    [
      nodeServing,
      {
        use: 'server',
        problemOf: (request, usages) =>
          organizationProblem(request) ??
          (request.hosts.length === 0 ? 'DNS or IP subjectAltName is required' : undefined) ??
          otherNameProblem(request) ??
          nodeUsageProblem('server auth', usages) ??
          nodeNameProblem(request),
      },
    ],
  ])
}

function clientUsageProblem(usages: readonly string[]): string | undefined {
  const other = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage))
  if (other !== undefined) return `invalid usage for client certificate: ${other}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

/** Digital signature and the purpose are required. Key encipherment is optional, because only RSA keys have it. */
function nodeUsageProblem(purpose: 'client auth' | 'server auth', usages: readonly string[]): string | undefined {
  const needed = ['digital signature', purpose]
  const allowed = [...needed, 'key encipherment']
  if (needed.every((usage) => usages.includes(usage)) && usages.every((usage) => allowed.includes(usage))) return undefined
  return `usages did not match [${allowed.sort(compareText).join(' ')}]`
}

function clientHostProblem({ hosts }: CertificateRequest): string | undefined {
  if (hosts.some((host) => isIP(host) === 0)) return 'DNS subjectAltNames are not allowed'
  return hosts.length > 0 ? 'IP subjectAltNames are not allowed' : undefined
}

function otherNameProblem({ emails, uris }: CertificateRequest): string | undefined {
  if (emails.length > 0) return 'email subjectAltNames are not allowed'
  return uris.length > 0 ? 'URI subjectAltNames are not allowed' : undefined
}

const nameProblem = ({ commonName, organizations }: CertificateRequest): string | undefined =>
  commonName === '' || [commonName, ...organizations].some((name) => unprintable.test(name))
    ? 'the subject needs a common name, of characters that can be printed'
    : undefined

const organizationProblem = ({ organizations }: CertificateRequest): string | undefined =>
  organizations.length === 1 && organizations[0] === nodesGroup ? undefined : `subject organization is not ${nodesGroup}`

const nodeNameProblem = (request: CertificateRequest): string | undefined =>
  request.commonName.startsWith(nodePrefix) ? nameProblem(request) : `subject common name does not begin with ${nodePrefix}`
