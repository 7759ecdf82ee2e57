// CertificateApproval, CertificateSigning and CertificateSubjectRestriction plugins: require permissions on the signer, and reject client
// certificates for the group `system:masters`.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { mastersGroup } from '@cluster-apiserver/api/api/user.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { readCertificateRequest } from '@cluster-apiserver/api/resources/certificates/certificate-der.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import type { CheckPermission } from '../lookup.js'
import { refuseRequest } from '../pod-requests.js'

interface CertificateRequest extends ApiObject {
  readonly spec?: { readonly signerName?: string; readonly request?: string }
  readonly status?: { readonly certificate?: string; readonly conditions?: readonly object[] }
}

const isUpdateOf = ({ resource, operation, subresource }: AdmissionRequest, wanted: string): boolean =>
  resource.definition.resource === 'certificatesigningrequests' && operation === 'UPDATE' && subresource === wanted

export const certificateApproval = (checkPermission: CheckPermission, collection: string): Plugin => ({
  name: 'CertificateApproval',
  collections: [collection],
  validate: async (request) => (isUpdateOf(request, 'approval') ? checkSigner(checkPermission, request, 'approve') : undefined),
})

export const certificateSigning = (checkPermission: CheckPermission, collection: string): Plugin => ({
  name: 'CertificateSigning',
  collections: [collection],
  validate: async (request) => {
    if (!isUpdateOf(request, 'status')) return undefined
    const isSame = sameValue(signedFields(request.object), signedFields(request.old))
    return isSame ? undefined : checkSigner(checkPermission, request, 'sign')
  },
})

/** An empty certificate or list of conditions equals an absent one. */
function signedFields(object: ApiObject | undefined): readonly [certificate: string, conditions: readonly object[]] {
  const { certificate = '', conditions = [] } = (object as CertificateRequest | undefined)?.status ?? {}
  return [certificate, conditions]
}

async function checkSigner(checkPermission: CheckPermission, request: AdmissionRequest, verb: string): Promise<void> {
  const signerName = (request.old as CertificateRequest | undefined)?.spec?.signerName ?? ''
  const { user } = request.call
  const { group } = request.resource.subject
  const [domain = ''] = signerName.split('/')
  for (const name of [signerName, `${domain}/*`]) {
    const { verdict } = await checkPermission(user, { verb, group, version: '*', resource: 'signers', name })
    if (verdict === 'allow') return
  }
  const why = `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`
  throw refuseRequest(request, why)
}

export const certificateSubjectRestriction = (collection: string): Plugin => ({
  name: 'CertificateSubjectRestriction',
  collections: [collection],
  validate: async (request) => {
    const { operation, subresource, object, identity } = request
    if (operation !== 'CREATE' || subresource !== '') return
    const { spec } = object as CertificateRequest
    const signer = identity.label(identity.prefixed('apiserver-client'))
    if (spec?.signerName !== signer) return
    const refuse = (why: string): Error => refuseRequest(request, why)
    let organizations: readonly string[]
    try {
      organizations = readCertificateRequest(spec.request ?? '').organizations
    } catch (thrown) {
      throw refuse(`unable to parse csr: ${(thrown as Error).message}`)
    }
    if (organizations.includes(mastersGroup)) throw refuse(`use of ${signer} signer with ${mastersGroup} group is not allowed`)
  },
})
