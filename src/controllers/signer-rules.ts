// The signers that a server may be: what each wants of a request, and what its certificates are for.

import type { Identity } from '../api/identity.js'
import type { CertificateRequest } from '../resources/certificates/signed-data.js'

export interface SignerRule {
  readonly use: 'client' | 'server'
  /** Why it does not sign that; undefined: it does. */
  problemOf(request: CertificateRequest, usages: readonly string[]): string | undefined
}

const nodesGroup = 'system:nodes'
const nodePrefix = 'system:node:'
/** What looks like something else in a log is no name. */
const unprintable = /\p{Cc}/u

export function signerRules(identity: Identity): ReadonlyMap<string, SignerRule> {
  return new Map<string, SignerRule>([
    [
      identity.label(identity.prefixed('apiserver-client')),
      { use: 'client', problemOf: (request, usages) => usageProblem('client auth', usages) ?? nameProblem(request) },
    ],
    [
      identity.label(identity.prefixed('apiserver-client-kubelet')),
      {
        use: 'client',
        problemOf: (request, usages) => {
          const problem = usageProblem('client auth', usages) ?? nodeProblem(request)
          if (problem !== undefined) return problem
          return request.hosts.length > 0 || request.hasOtherNames ? 'subjectAltNames are not allowed' : undefined
        },
      },
    ],
    [
      identity.label('kubelet-serving'),
      {
        use: 'server',
        problemOf: (request, usages) => {
          const problem = usageProblem('server auth', usages) ?? nodeProblem(request)
          if (problem !== undefined) return problem
          if (request.hasOtherNames) return 'only DNS names and IP addresses are allowed as subjectAltNames'
          return request.hosts.length === 0 ? 'DNS or IP subjectAltName is required' : undefined
        },
      },
    ],
  ])
}

/** The one that the signer is for, and signing and enciphering of keys beside it. */
function usageProblem(needed: string, usages: readonly string[]): string | undefined {
  const allowed = ['digital signature', 'key encipherment', needed]
  if (usages.includes(needed) && usages.every((usage) => allowed.includes(usage))) return undefined
  return `usages must include ${JSON.stringify(needed)}, and may include "digital signature" and "key encipherment"`
}

const nameProblem = ({ commonName, organizations }: CertificateRequest): string | undefined =>
  commonName === '' || [commonName, ...organizations].some((name) => unprintable.test(name))
    ? 'the subject needs a common name, of characters that can be printed'
    : undefined

function nodeProblem(request: CertificateRequest): string | undefined {
  const { commonName, organizations } = request
  if (organizations.length !== 1 || organizations[0] !== nodesGroup) return `subject organization is not ${nodesGroup}`
  return commonName.startsWith(nodePrefix) ? nameProblem(request) : `subject common name does not begin with ${nodePrefix}`
}
